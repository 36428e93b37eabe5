"""PublishedNumber numbers: every one names a real protocol and coefficient, and verdicts say what became of it."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from sightline.errors import UsageError
from sightline.items import Item
from sightline.meta.check import AREL, PublishedNumber, _verdict, arel_corpus, check, published_numbers
from sightline.meta.correlation import ACCURACY, NAMES
from sightline.meta.evaluate import evaluate
from sightline.meta.protocols import protocols
from sightline.metrics import metrics
from sightline.pipeline.settings import Settings


def test_published_numbers_are_whole() -> None:
    rows = published_numbers()
    assert len(rows) >= 200
    for row in rows:
        assert len(row.source) > 20 and (row.n is None or row.n > 0)
        if row.not_here:
            continue
        assert row.protocol in {*protocols, AREL} and row.metric.split(":")[0] in set(metrics)
        assert row.coefficient in (*NAMES, ACCURACY, "corpus")
    by_source = Counter(row.source.split(" (")[0] for row in rows)
    assert (
        by_source["HL"] == 5 * 4 + (9 + 6 + 3) * 3 and by_source["Validated Image Caption Rating"] == 8 + 12
    )
    hl = {(row.criterion, row.metric): row.value for row in rows if row.protocol == "hl-captions"}
    assert hl["scene, ClipCap", "cider"] == 145.93 and hl["narrative, BLIP (FT)", "sacrebleu"] == 11.7
    assert by_source["RoViST"] == 48 * 3 + 12 and by_source["GROOViST"] == 9 + 7 + 4
    pascal = {(row.criterion, row.metric): row.value for row in rows if row.protocol == "pascal-50s"}
    assert pascal["preference", "refclipscore"] == 83.1 and pascal["HI", "cider"] == 98.1
    for metric in {metric for criterion, metric in pascal if criterion == "HC"}:
        kinds = [pascal[kind, metric] for kind in ("HC", "HI", "HM", "MM")]
        assert sum(kinds) / 4 == pytest.approx(pascal["preference", metric], abs=0.1), metric
    both = {row.value for row in rows if (row.protocol, row.metric) == ("flickr8k-expert", "bleu-1")}
    assert both == {32.3, 36.3}  # CLIPScore's and VICR's papers differ, and both are kept


@pytest.mark.parametrize(
    ("value", "n", "verdict"),
    [
        (100.0, 3, "reproduced"),
        (98.0, None, "differs by +2.0"),
        (100.0, 9, "reproduced on 3 of 9 observations"),
    ],
)
def test_verdicts(value: float, n: int | None, verdict: str) -> None:
    items = [Item(str(k), ratings={"match": (float(k),)}) for k in range(1, 4)]
    found = evaluate(items, {"m": {item.key: int(item.id) / 10 for item in items}}, samples=0)
    row = PublishedNumber("p", "match", "m", "kendall_b", value, n, "somewhere")
    assert _verdict(row, found, None).verdict == verdict
    assert _verdict(row, None, "no jar").verdict == "not runnable here: no jar"


def test_rovist_table_1_and_2_are_kept_and_told_why_not(tmp_path: Path) -> None:
    verdicts = check(["vist-rovist", "ranking"], [], tmp_path, Settings(), lambda stage, done: None)
    found = {(v.published.criterion, v.published.metric, v.published.coefficient): v for v in verdicts}
    assert found["overall", "rovist", "spearman"].published.value == 55.4
    assert found["grounding", "tiger", "kendall_b"].published.value == 35.4
    assert found["coherence", "people", "pearson"].published.value == 69.8
    assert all(v.verdict.startswith("not runnable here: the ") and v.found is None for v in verdicts)


@pytest.mark.data
def test_published_story_scores_are_reproduced(data: Path) -> None:
    names = ["bleu-1:tokens=space", "bleu-4:tokens=space", "cider:tokens=space", "rouge-l:tokens=space"]
    verdicts = check([AREL], names, data, Settings(), lambda stage, done: None)
    told = {(v.published.metric, round(v.published.value, 3)): v.verdict for v in verdicts}
    assert told["rouge-l:tokens=space", 29.437] == "differs by +0.512"  # it counts empty tokens
    assert [told[name] for name in told if name[1] != 29.437] == ["reproduced"] * 4


def test_a_number_that_needs_an_option_says_so(tmp_path: Path) -> None:
    """Without its paraphrase table METEOR is another measurement, not a difference."""
    (found,) = check([AREL], ["meteor:tokens=space"], tmp_path, Settings(), lambda stage, done: None)
    assert found.verdict == "not runnable here: published with --option paraphrases=FILE"


@pytest.mark.parametrize(
    ("protocols_", "metrics_", "message"),
    [
        (["vicr"], [], "no published numbers for vicr"),
        (["flickr8k-expret"], [], "unknown protocol 'flickr8k-expret'; did you mean 'flickr8k-expert'?"),
        ([], ["cidr"], "unknown metric 'cidr'; did you mean 'cider'?"),
        (
            ["vist-rovist"],
            ["clipscore:prompt=none"],
            "no published numbers for clipscore:prompt=none on vist-rov",
        ),
    ],
)
def test_names_without_published_numbers_are_told(
    tmp_path: Path, protocols_: list[str], metrics_: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        check(protocols_, metrics_, tmp_path, Settings(), lambda stage, done: None)


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no folder"):
        check([], [], tmp_path / "none", Settings(), lambda stage, done: None)


@pytest.mark.parametrize(
    ("story", "message"),
    [
        ({"album_id": "1"}, "vist_arel_stories.jsonl:1: 'story' is missing"),
        ({"album_id": "2", "story": "one ."}, ":1: there are no references of album '2'"),
    ],
)
def test_broken_stories_are_told(tmp_path: Path, story: dict[str, str], message: str) -> None:
    (tmp_path / "vist_test_references.jsonl").write_text('{"album_id": "1", "references": ["a"]}\n\n')
    (tmp_path / "vist_arel_stories.jsonl").write_text(json.dumps(story))
    with pytest.raises(UsageError, match=re.escape(message)):
        arel_corpus("bleu-1", tmp_path, Settings(), lambda stage, done: None)
