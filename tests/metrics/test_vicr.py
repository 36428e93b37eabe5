"""The metric vicr on the embedded rater: its formula, its evidence, what it says of pictures it learned from."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import sightline
from sightline import demo
from sightline.encoders import load_encoder
from sightline.encoders.rater import CaptionRater, bilinear, load_rater, network
from sightline.errors import UsageError
from sightline.io import read_items
from sightline.items import Item
from sightline.meta.protocols import make_protocol
from sightline.meta.scoring import score_items, shared_notes
from sightline.metrics.vicr import SEEN, vicr
from sightline.pipeline.settings import Settings


def test_formulas_by_hand() -> None:
    i, t = np.array([[0.6, 0.8]]), np.array([[1.0, 0.0]])
    model = {
        "beta": np.array([1.0, 2.0, 3.0, 4.0]),
        "w_i": np.array([1.0, 10.0]),
        "w_t": np.array([0.5, 7.0]),
        "W": np.array([[2.0, 0.0], [5.0, 1.0]]),
    }
    # c = .6: 1 + 1.2 + 1.08 + .864; i: .6 + 8; t: .5; iᵀWt = .6*2 + .8*5
    assert bilinear(i, t, model) == pytest.approx([4.144 + 8.6 + 0.5 + 5.2])
    layers = [
        (np.array([[1.0, -1.0], [2.0, 0.0]]), np.array([0.0, 1.0])),
        (np.array([[3.0, 1.0]]), np.array([0.5])),
    ]
    assert network(np.array([[1.0, 2.0]]), layers) == pytest.approx([3 * 0 + 3 + 0.5])
    assert vicr([2.0, 3.0]) == 2.5


def test_copies_of_a_picture_are_recognised() -> None:
    rng = np.random.default_rng(0)
    known, others = rng.integers(0, 256, (2, 50, 108), np.uint8)
    model = CaptionRater()
    model.arrays = {**model.arrays, "seen": known}
    near = np.clip(known + rng.normal(0, 4, known.shape), 0, 255).astype(np.uint8)
    assert model.seen(near).all()
    assert not model.seen(others).any()


def test_a_rater_of_an_earlier_version_is_told(tmp_path: Path) -> None:
    rater = load_rater(None)
    arrays = {**rater.arrays, "about": np.array(json.dumps(rater.about)), "knots": np.ones(8)}
    np.savez(tmp_path / "old.npz", **arrays)
    with pytest.raises(UsageError, match=r"an earlier version made it\); sightline train rater makes one"):
        CaptionRater(tmp_path / "old.npz")


def test_the_embedded_rater_says_what_it_is() -> None:
    rater = load_rater(None)
    rater.fits(load_encoder("pocket").signature)
    assert rater.scale == (1, 5)
    assert [row["name"] for row in rater.about["learned_from"]] == ["flickr8k-expert"]
    assert len(rater.arrays["seen"]) == rater.about["learned_from"][0]["pictures"]


def test_scores_carry_intervals_and_fail_with_reasons(tmp_path: Path) -> None:
    Image.new("RGB", (60, 40), "green").save(tmp_path / "a.png")
    items = [
        Item("fine", (tmp_path / "a.png",), "a green field"),
        Item("story", (tmp_path / "a.png", tmp_path / "a.png"), sentences=("A green field.", "A red car.")),
        Item("unpaired", (tmp_path / "a.png", tmp_path / "a.png"), sentences=("Only one.",)),
        Item("missing", (tmp_path / "no.png",), "nothing"),
        Item("bare", (), "no picture"),
    ]
    found = sightline.score(items, ["vicr"], cache=None)
    scores = {score.id: score for score in found.scores}
    assert set(scores) == {"fine", "story"}
    assert {failure.id for failure in found.failures} == {"unpaired", "missing", "bare"}
    for score in scores.values():
        parts = score.evidence.parts
        assert 1 <= parts["low (80 %)"] <= score.score <= parts["high (80 %)"] <= 5
        assert re.match(
            r"vicr\|encoder:pocket@[0-9a-f]{12}\|together:[0-9a-f]{12}\+pocket@[0-9a-f]{12}\|rater:[0-9a-f]{12}\|",
            score.signature,
        )
        assert SEEN not in score.evidence.notes
    first = scores["story"].evidence.pairs[0].score
    assert first == pytest.approx(scores["fine"].evidence.pairs[0].score, abs=0.5)
    assert scores["story"].score == pytest.approx(np.mean([p.score for p in scores["story"].evidence.pairs]))


def test_batches_do_not_change_scores() -> None:
    items = list(read_items(demo.STORIES))
    together = {s.id: s.score for s in sightline.score(items, ["vicr"], cache=None).scores}
    alone = {
        s.id: s.score for item in items[:4] for s in sightline.score([item], ["vicr"], cache=None).scores
    }
    for id, score in alone.items():
        assert together[id] == pytest.approx(score, abs=1e-6)


@pytest.mark.data
def test_a_study_of_pictures_it_learned_from_is_marked(data: Path) -> None:
    items = make_protocol("flickr8k-expert").items(data)[:12]
    scored = score_items(items, ["vicr"], Settings(cache=None))
    (note,) = shared_notes(scored.evidence)
    assert note == f"vicr: {SEEN} (12 of 12 items)"
    others = make_protocol("vicr").items(data)[:12]
    assert shared_notes(score_items(others, ["vicr"], Settings(cache=None)).evidence) == ()
