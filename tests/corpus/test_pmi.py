"""PMI of a planted corpus, worked out by hand."""

from math import log2

import pytest

from sightline.corpus.pmi import Incidence, informative


def planted() -> tuple[Incidence, Incidence]:
    """Ten pictures: eight with both kinds of captions, one without objects, one without the axis."""
    high, objects = Incidence(), Incidence()
    for enjoy, kite in [(1, 1), (1, 1), (1, 1), (1, 0), (0, 1), (0, 0), (0, 0), (0, 0)]:
        high.add(["enjoy", "want"] if enjoy else ["want"])
        objects.add(["man", "kite"] if kite else ["man"])
    high.add(["enjoy"])
    objects.add(None)
    high.add(None)
    objects.add(["kite"])
    return high, objects


def test_by_hand() -> None:
    found = informative("rationale", *planted(), floor=1)
    assert found.images == 8
    pairs = {(pair.lemma, pair.object): pair for pair in found.pairs()}
    # enjoy in 4 of 8 pictures, kite in 4, both in 3: log2(3 * 8 / (4 * 4))
    assert pairs["enjoy", "kite"].pmi == pytest.approx(log2(1.5), abs=1e-12)
    assert (pairs["enjoy", "kite"].together, pairs["enjoy", "kite"].lemma_images) == (3, 4)
    assert pairs["enjoy", "man"].pmi == pairs["want", "man"].pmi == pairs["want", "kite"].pmi == 0
    assert set(pairs) == {(a, b) for a in ("enjoy", "want") for b in ("kite", "man")}


def test_the_floors_count_pictures() -> None:
    assert informative("a", *planted(), floor=4).objects == ["man", "kite"]
    assert informative("a", *planted(), floor=5).objects == ["man"]
    assert informative("a", *planted(), floor=9).objects == []
    assert informative("a", *planted(), floor=1, lemma_floor=5).lemmas == ["want"]


def test_the_floor_counts_mentions_where_they_are_given() -> None:
    """The kite stands in 4 of the pictures but is mentioned nine times, the man in 8 and eight times."""
    mentions = {"man": 8, "kite": 9, "stray": 100}
    assert informative("a", *planted(), floor=9, mentions=mentions).objects == ["kite"]
    assert informative("a", *planted(), floor=1, mentions={"kite": 1}).objects == ["kite"]


def test_words_that_never_meet_have_no_row() -> None:
    high, objects = Incidence(), Incidence()
    for lemma, thing in [("ski", "snow"), ("surf", "wave"), ("surf", "wave"), ("ski", "snow")]:
        high.add([lemma])
        objects.add([thing])
    found = informative("action", high, objects, floor=1)
    assert [(p.lemma, p.object, p.pmi) for p in found.pairs()] == [
        ("ski", "snow", 1.0),
        ("surf", "wave", 1.0),
    ]
    assert found.of("nothing", 3) == []
