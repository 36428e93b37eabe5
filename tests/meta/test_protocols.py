"""The published protocols on the real data: which rows they keep, and published correlations."""

from pathlib import Path

import pytest

from sightline.functional import CocoScores, coco_scores
from sightline.items import Item
from sightline.meta.correlation import correlate
from sightline.meta.protocols import make_protocol
from sightline.meta.raters import leave_one_out
from sightline.meta.ratings import mean


def scores(items: list[Item]) -> CocoScores:
    return coco_scores([item.text for item in items], [item.references for item in items])


@pytest.mark.data
def test_expert_rows_and_published_correlations(data: Path) -> None:
    """Published tau_c (CLIPScore, Table 1): BLEU-1 32.3, BLEU-4 30.8, ROUGE-L 32.3, CIDEr 43.9."""
    items = make_protocol("flickr8k-expert").items(data, pictures=False)
    assert len(items) == 5664 and sum(len(item.ratings["match"]) for item in items) == 16992
    assert {len(item.references) for item in items} == {5}
    found = scores(items)
    observed = [value for item in items for value in item.ratings["match"]]
    for column, published in (
        (found.bleu[:, 0], 32.3), (found.bleu[:, 3], 30.8), (found.rouge_l, 32.3), (found.cider, 43.9)
    ):  # fmt: skip
        value = correlate(column.repeat(3), observed).values["kendall_c"]
        assert 100 * (value or 0) == pytest.approx(published, abs=0.1)


@pytest.mark.data
def test_experts_agree_with_each_other(data: Path) -> None:
    """Measured independently: the mean of two raters against the third gives tau_b 65.7, tau_c 55.4."""
    items = make_protocol("flickr8k-expert").items(data, pictures=False)
    found = leave_one_out([item.ratings["match"] for item in items])
    assert found is not None
    assert [round(100 * (found.values[n] or 0), 1) for n in ("kendall_b", "kendall_c")] == [65.7, 55.4]


@pytest.mark.data
def test_unanimous_rows(data: Path) -> None:
    items = make_protocol("flickr8k-expert-unanimous").items(data, pictures=False)
    assert len(items) == 3391
    assert all(item.text not in item.references or len(item.references) == 4 for item in items)


@pytest.mark.data
def test_crowdflower_rows_and_published_correlations(data: Path) -> None:
    """Published tau_b (CLIPScore, Table 1): BLEU-4 16.9, ROUGE-L 19.9, CIDEr 24.6."""
    items = make_protocol("flickr8k-cf").items(data, pictures=False)
    assert len(items) == 47830 and {len(item.references) for item in items} == {4}
    assert [item.ratings["match"] for item in items[:2]] == [(1, 1, 1), (0, 0, 0)]
    people = leave_one_out([item.ratings["match"] for item in items])
    assert people is not None and people.n > 3 * 47830 and (people.values["kendall_b"] or 0) > 0.4
    found = scores(items)
    observed = [mean(item.ratings["match"]) for item in items]
    for column, published in ((found.bleu[:, 3], 16.9), (found.rouge_l, 19.9), (found.cider, 24.6)):
        value = correlate(column, observed).values["kendall_b"]
        assert 100 * (value or 0) == pytest.approx(published, abs=0.3)


@pytest.mark.data
def test_composite_leaves_the_candidate_out_of_its_references(data: Path) -> None:
    items = make_protocol("composite").items(data, pictures=False)
    parts = [next(part for part in item.ratings if part != "correctness") for item in items]
    assert (parts.count("coco"), parts.count("flickr8k")) == COMPOSITE
    assert all(item.references and item.text not in item.references for item in items)


COMPOSITE = (5280, 2991)
"""Captions of the parts whose photos have references here."""


@pytest.mark.data
def test_vicr_rows(data: Path) -> None:
    items = make_protocol("vicr").items(data, pictures=False)
    assert len(items) == 249 and all(4 <= len(item.ratings["overall"]) <= 7 for item in items)


@pytest.mark.data
def test_pictures_are_made_ready(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path))
    for name, share in (("flickr8k-expert", 1), ("vicr", 0.5), ("composite", 0.5)):
        items = make_protocol(name).items(data)
        there = [item.images[0].is_file() for item in items]
        assert sum(there) / len(there) >= share, name
    from PIL import Image

    shown = next(item.images[0] for item in items if item.images[0].is_file())
    with Image.open(shown) as picture:
        assert picture.size[0] > 50
