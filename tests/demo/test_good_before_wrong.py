"""On the embedded models, scores tell good texts from mediocre and wrong ones, for every set of pictures."""

import pytest

import sightline
from sightline import demo

GROUNDED = ["clipscore", "groovist", "groovist:weights=none", "vicr"]


@pytest.fixture(scope="module")
def result() -> sightline.Result:
    return sightline.score(demo.STORIES, GROUNDED, cache=None)


@pytest.mark.parametrize("metric", GROUNDED)
def test_good_is_above_mediocre_and_mediocre_above_wrong(result: sightline.Result, metric: str) -> None:
    assert not result.failures
    rows = demo.by_version(result.scores)
    for pictures in dict.fromkeys(name for name, _ in rows):
        good, mediocre, wrong = (rows[pictures, version][metric] for version in ("good", "mediocre", "wrong"))
        assert good > mediocre > wrong, f"{metric} of {pictures}: {good:.3f} {mediocre:.3f} {wrong:.3f}"
    means = demo.mean_by_version(result.scores)
    assert means["good"][metric] - means["mediocre"][metric] > 0.1
    assert means["mediocre"][metric] - means["wrong"][metric] > 0.1


def test_a_story_in_the_wrong_order_has_all_it_says_but_not_where_it_says_it(
    result: sightline.Result,
) -> None:
    rows = demo.by_version(result.scores)
    shuffled = [name for name, version in rows if version == "shuffled"]
    assert shuffled
    for name in shuffled:
        good, other = rows[name, "good"], rows[name, "shuffled"]
        assert other["groovist"] == pytest.approx(good["groovist"], abs=1e-6)
        assert other["clipscore"] < good["clipscore"] - 0.1


def test_what_the_captioner_says_scores_above_vague_and_wrong_texts() -> None:
    """On average, and flattered: it sees with the network that scores it."""
    items = demo.with_captions()
    told = [item for item in items if item.system == demo.CAPTIONER]
    assert {item.id.rpartition("-")[0] for item in told} == {item.id.rpartition("-")[0] for item in items}
    assert all(len(item.sentences or (item.text,)) == len(item.images) for item in told)
    means = demo.mean_by_version(sightline.score(items, ["clipscore"], cache=None).scores)
    said = means[demo.CAPTIONER]["clipscore"]
    assert said > means["mediocre"]["clipscore"] > means["wrong"]["clipscore"]
