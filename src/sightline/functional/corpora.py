"""Formulas of what a corpus of captions contains, and of what people agree on."""

import math
from collections.abc import Sequence

from sightline.corpus import self_bleu as _self_bleu
from sightline.errors import UsageError
from sightline.people.consensus import Tally
from sightline.people.scales import Level, Scale


def self_bleu(captions: Sequence[str]) -> float:
    """How alike captions of one picture are in their words, 0 to 100: sacreBLEU of each against all others (HL, A.3).

    Arguments: at least two `captions`. Raises UsageError for fewer.

    >>> round(self_bleu(["a man rides a horse", "a man rides a brown horse", "someone rides a horse"]), 2)
    61.65
    """
    if isinstance(captions, str) or len(captions) < 2:
        raise UsageError("captions is a list of at least two: each is compared with the others")
    return _self_bleu.self_bleu(captions)


def diversity(captions: Sequence[str]) -> float:
    """1 - self_bleu / 100: how different captions of one picture are in their words.

    Arguments: at least two `captions`. Raises UsageError for fewer.

    >>> round(diversity(["a man rides a horse", "a man rides a brown horse", "someone rides a horse"]), 4)
    0.3835
    """
    return 1 - self_bleu(captions) / 100


def pmi(together: int, first: int, second: int, pictures: int) -> float:
    """Pointwise mutual information in bits, log2(n(h, o) N / (n(h) n(o))), counted over pictures (HL, section 4.1).

    Arguments: in how many pictures both words occur `together`, the `first` does and the `second`; all `pictures`.
    Raises UsageError where the counts contradict each other or the words never meet.

    >>> round(pmi(together=8, first=10, second=20, pictures=100), 4)
    2.0
    """
    if not 0 < together <= min(first, second) or max(first, second) > pictures:
        raise UsageError(
            f"{together} of {first} and {second} in {pictures} pictures: these counts have no PMI"
        )
    return math.log2(together * pictures / (first * second))


def consensus(ratings: Sequence[int], levels: int = 5) -> int:
    """VICR's `con` (section 3.2): the mean of the ratings so far, rounded half up.

    Arguments: whole `ratings` from 1 to `levels`. Raises UsageError where there is none, or one is off the scale.

    >>> consensus([2, 3])
    3
    """
    found = _tally(ratings, levels).consensus
    assert found is not None  # there is a rating
    return found


def confidence(ratings: Sequence[int], levels: int = 5) -> float:
    """VICR's `c` (section 3.2), from 1 (sure of the consensus) to 2: 1 + (1 + (n - 1) var / Vmax) / n.

    Arguments: whole `ratings` from 1 to `levels`. Raises UsageError where there is none, or one is off the scale.

    >>> confidence([4, 4, 4, 4])
    1.25
    """
    found = _tally(ratings, levels).confidence
    assert found is not None
    return found


def points(rating: int, ratings: Sequence[int], levels: int = 5) -> int:
    """VICR's `p` (section 3.2), what a rating earns against those before it: max(3 - floor(2 |x - con| / c), -1).

    Arguments: the new `rating`; the `ratings` before it; `levels` of the scale.
    Raises UsageError where there is none before it, or one is off the scale.

    >>> points(4, [4, 4, 4, 4]), points(3, [4, 4, 4, 4]), points(1, [4, 4, 4, 4])
    (3, 2, -1)
    """
    tally = _tally(ratings, levels)
    found = tally.points(tally.scale.check(rating))
    assert found is not None
    return found


def _tally(ratings: Sequence[int], levels: int) -> Tally:
    try:
        scale = Scale("", "", tuple(Level(value, str(value)) for value in range(1, levels + 1)))
    except ValueError as fault:
        raise UsageError(f"levels={levels}: {fault}") from None
    if not len(ratings):
        raise UsageError("there are no ratings")
    return Tally.of(scale, ratings)
