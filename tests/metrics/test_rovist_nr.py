"""RoViST-NR by hand, by its properties, and against the published scores."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import Unscorable
from sightline.features.base import Features, Fitted
from sightline.features.text import Sentences, SentencesValue
from sightline.items import Item
from sightline.metrics.rovist_nr import RovistNR, jaccard, pieces, published_jaccard


def score(sentences, variant="paper"):
    got = Features(Item("s", text=" ".join(sentences)), {Sentences(): SentencesValue(tuple(sentences))})
    return RovistNR(variant).score(got, Fitted())


def test_by_hand() -> None:
    # between: {the, dog, ran} and {the, cat, ran} share 2 of 4; within: no sentence reaches a second piece
    value, evidence = score(["The dog ran.", "the cat ran ."])
    assert value == pytest.approx(1 - (2 / 4 + 0) / 2)
    assert evidence.parts == {"inter": pytest.approx(0.5), "intra": 0.0}
    assert [(pair.left, pair.right, pair.score) for pair in evidence.pairs] == [
        ("sentence 1", "sentence 2", 0.5)
    ]


def test_a_repeated_piece_within_a_sentence_is_shown() -> None:
    value, evidence = score(["we had a lot we had a lot of fun .", "the end ."])
    # pieces: "we had a lot" twice (1), then "we had a lot" against "of fun" (0)
    assert evidence.parts == {"inter": 0.0, "intra": pytest.approx(0.5)}
    assert value == pytest.approx(1 - 0.25)
    assert evidence.notes == ('sentence 1 says "we had a lot" and then "we had a lot"',)


def test_published_counts_pairs_and_drops_the_last_token() -> None:
    # tokens: [the dog saw the dog] and [the dog]; equal pairs 2 + 2 = 4 over a union of 3
    value, evidence = score(["the dog saw the dog .", "the dog ."], "published")
    inter = 4 / 3
    intra = 1 / 3  # "the dog saw the" against "dog"
    assert evidence.parts == {"inter": pytest.approx(inter), "intra": pytest.approx(intra)}
    assert value == pytest.approx(1 - (inter + intra) / 2)


def test_one_sentence_takes_the_part_within_it() -> None:
    value, evidence = score(["we had a lot we had a lot ."])
    assert value == pytest.approx(0.0)
    assert "inter" not in evidence.parts
    assert any("one sentence" in note for note in evidence.notes)


def test_one_sentence_cannot_be_scored_as_published() -> None:
    with pytest.raises(Unscorable, match="one sentence"):
        score(["just one ."], "published")


@pytest.mark.parametrize("sentences", [["..."], ["!", "?"], ["。", "."]])
def test_no_words_no_score(sentences) -> None:
    with pytest.raises(Unscorable, match="no words"):
        score(sentences)


words = st.lists(st.sampled_from("abcdef"), max_size=9)


@given(words, words)
def test_jaccard(left, right) -> None:
    assert 0 <= jaccard(left, right) == jaccard(right, left) <= 1
    assert jaccard(left, left) == (1 if left else 0)
    assert published_jaccard(left, right) >= jaccard(left, right) - 1e-12


@given(words)
def test_pieces_are_the_sentence(sentence) -> None:
    assert [word for piece in pieces(sentence) for word in piece] == sentence
    assert all(len(piece) == 4 for piece in pieces(sentence)[:-1])


@given(st.lists(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=9), min_size=1, max_size=4))
def test_paper_variant_stays_within_bounds(story) -> None:
    value, _ = score([" ".join(sentence) + " ." for sentence in story])
    assert 0 <= value <= 1


def test_published_scores_are_reproduced(data) -> None:
    """Every human and every LLaVA story to 1e-6; where theirs is undefined, so is ours."""
    hits: dict[str, list[bool]] = {"human": [], "llava": []}
    with gzip.open(data / "vist_published_scores.jsonl.gz", "rt") as lines:
        for row in map(json.loads, lines):
            try:
                value = score([row["text"]], "published")[0]
            except Unscorable:
                value = None
            theirs = row["rovist_nr"]
            hits[row["system"]].append(
                value is None if theirs is None else value is not None and abs(value - theirs) < 1e-6
            )
    assert {system: len(found) for system, found in hits.items()} == {"human": 3033, "llava": 3033}
    assert all(map(all, hits.values()))
