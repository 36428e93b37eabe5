"""RoViST: the sum of its three criteria, each as the metric of its own gives it."""

from importlib.resources import files
from pathlib import Path

import pytest

import sightline
from sightline.metrics.rovist import rovist
from sightline.metrics.rovist_vg import scaled


@pytest.fixture(scope="module")
def result() -> sightline.Result:
    stories = Path(str(files("sightline.demo") / "stories.jsonl"))
    names = ["rovist", "rovist:vg=raw", "rovist:nr=published", "rovist-vg", "rovist-c", "rovist-nr"]
    return sightline.score(stories, names, cache=False)


def by_metric(result: sightline.Result, metric: str) -> dict[str, sightline.Score]:
    return {score.id: score for score in result.scores if score.metric == metric}


def test_the_paper_s_plain_sum() -> None:
    assert rovist(1.5, 0.75, 0.5) == 2.75


def test_it_is_the_sum_of_its_parts(result: sightline.Result) -> None:
    vg, c, nr = (by_metric(result, f"rovist-{name}") for name in ("vg", "c", "nr"))
    raw = by_metric(result, "rovist:vg=raw")
    found = by_metric(result, "rovist")
    assert len(found) > 5
    for story, score in found.items():
        assert score.evidence.parts == pytest.approx(
            {"VG": scaled(vg[story].score), "C": c[story].score, "NR": nr[story].score}
        )
        assert score.score == pytest.approx(sum(score.evidence.parts.values()))
        assert raw[story].score == pytest.approx(vg[story].score + c[story].score + nr[story].score)
        assert score.evidence.phrases and score.evidence.pairs


def test_signatures_name_every_part_and_tell_forms_apart(result: sightline.Result) -> None:
    signatures = {name: row["signature"] for name, row in result.summary["metrics"].items()}
    assert len(set(signatures.values())) == len(signatures)
    for part in ("coherence:", "encoder:", "idf:", "nr:paper", "form:scaled"):
        assert part in signatures["rovist"]


def test_a_story_that_lacks_a_criterion_fails_with_its_reason(result: sightline.Result) -> None:
    captions = {failure.id: failure.reason for failure in result.failures if failure.metric == "rovist"}
    assert captions and all("one sentence" in reason for reason in captions.values())
