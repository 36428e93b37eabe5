"""RoViST-C: the formula, its published corner cases, and the embedded model on text that is hard to read."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sightline
from sightline.items import Item
from sightline.metrics.rovist_c import judged, rovist_c

STORY = (
    "we drove to the beach early in the morning .",
    "when we got there the children ran straight into the water .",
    "after lunch they built a big castle .",
    "in the end we were tired and went home .",
)


def score(*stories: tuple[str, ...]) -> sightline.Result:
    items = [Item(str(number), sentences=story) for number, story in enumerate(stories)]
    return sightline.score(items, ["rovist-c"], cache=False)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_the_mean_lies_between_weakest_and_strongest(p: list[float]) -> None:
    assert min(p) - 1e-12 <= rovist_c(p) <= max(p) + 1e-12


def test_figure_5_of_the_paper() -> None:
    assert rovist_c([0.75, 0.90, 0.95, 1.0]) == pytest.approx(0.9)


@pytest.mark.parametrize("second", ["The same .", "the  SAME ."])
def test_equal_neighbours_count_zero(second: str) -> None:
    assert judged(["the same .", second, "other ."], [0.7, 0.8]) == [0.0, 0.8]


def test_evidence_has_every_step_and_the_score_is_their_mean() -> None:
    (found,) = score(STORY).scores
    assert [(pair.left, pair.right) for pair in found.evidence.pairs] == [
        ("sentence 1", "sentence 2"), ("sentence 2", "sentence 3"), ("sentence 3", "sentence 4"),
    ]  # fmt: skip
    assert found.score == pytest.approx(np.mean([pair.score for pair in found.evidence.pairs]))
    assert found.evidence.sentences == STORY
    assert "coherence:minilm-vist" in found.signature


def test_order_counts() -> None:
    forward, backward = (found.score for found in score(STORY, STORY[::-1]).scores)
    assert forward > 0.5 > backward
    assert forward + backward == pytest.approx(1, abs=1e-6)


def test_a_repeated_sentence_is_said_and_counts_zero() -> None:
    (found,) = score((STORY[0], STORY[0], STORY[1])).scores
    assert found.evidence.pairs[0].score == 0
    assert any("repeats sentence 1" in note for note in found.evidence.notes)


def test_one_sentence_is_a_failure_with_a_reason() -> None:
    result = score((STORY[0],), ("", "  "), STORY)
    assert {failure.id: failure.reason for failure in result.failures}.keys() == {"0", "1"}
    assert "one sentence" in result.failures[0].reason
    assert len(result.scores) == 1


def test_long_foreign_and_odd_text_is_scored_and_said() -> None:
    long = "we went on and on " * 60
    odd = (
        (STORY[0], long),
        ("我们去了海边。", "孩子们在水里玩。"),
        ("🎉🎉🎉", "🙂 \u200d \x00"),
        ("[SEP] [CLS]", "\u202etxet"),
    )
    result = score(*odd)
    notes = {found.id: " ".join(found.evidence.notes) for found in result.scores}
    assert len(notes) == 4
    assert "sentence 2 is longer than the coherence model reads" in notes["0"]
    assert "does not look English" in notes["1"]
    assert all(0 <= found.score <= 1 for found in result.scores)


def test_five_hundred_sentences_score_as_they_do_apart() -> None:
    story = tuple(f"{STORY[n % 4]} it was number {n} ." for n in range(500))
    (whole,) = score(story).scores
    assert len(whole.evidence.pairs) == 499
    few = list(pairwise(story))[:5]
    apart = [found.score for found in score(*few).scores]
    assert [pair.score for pair in whole.evidence.pairs[:5]] == pytest.approx(apart, abs=1e-6)
