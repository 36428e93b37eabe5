"""The likeliest texts by beam search, for captioners that decode by themselves; draws stand beside it.

What such a captioner says of one picture does not depend on the others of its group: each has its own beams, which are
ranked by themselves.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sightline.generate.base import Decoding
from sightline.generate.decoding import Reading
from sightline.generate.drawing import drawn

END: Final = 0
"""The piece that stands before a text and after it."""
ONCE: Final = 3
"""So many pieces in a row stand in a text once: "a cup of coffee next to a cup of coffee" says nothing more."""

Floats = NDArray[np.float32]
Next = Callable[[NDArray[np.int64], NDArray[np.int64]], Floats]
"""Log-probabilities [text, piece] of what follows, from the row that each text goes on from and its last piece.

The rows are those of the step before; at the first step there are none, and every text goes on from itself.
"""


@dataclass
class _Beams:
    """Of one picture."""

    width: int
    live: list[tuple[float, tuple[int, ...]]] = field(default_factory=lambda: [(0.0, ())])
    done: list[tuple[float, Reading]] = field(default_factory=list)
    """Texts that have ended, the best first, by their log-probability a piece."""

    def end(self, total: float, tokens: tuple[int, ...], penalty: float) -> None:
        worth = total / (len(tokens) + 1) ** penalty
        self.done.append((worth, Reading(tokens, total)))
        self.done.sort(key=lambda one: -one[0])
        del self.done[self.width :]

    def settled(self, penalty: float) -> bool:
        """Whether no text that still goes on could come before those that have ended."""
        if len(self.done) < self.width:
            return False
        best, tokens = max(self.live, default=(-np.inf, ()))
        return bool(best / (len(tokens) + 1) ** penalty <= self.done[-1][0])


def searched(
    follow: Next, pictures: int, decoding: Decoding, length: int, penalty: float
) -> list[list[Reading]]:
    """Each picture's texts, the best first. Its rows stand side by side, as many as there are beams."""
    width = decoding.beams
    beams = [_Beams(width) for _ in range(pictures)]
    rows = np.arange(pictures * width)
    pieces = np.full(len(rows), END)
    for step in range(length + 1):
        chances = follow(rows, pieces)
        rows, pieces = np.arange(len(rows)), np.full(len(rows), END)
        for number, one in enumerate(beams):
            if one.settled(penalty):
                continue
            first = number * width
            own = chances[first : first + len(one.live)].astype(np.float64)
            if step == length:
                for (total, tokens), row in zip(one.live, own, strict=True):
                    one.end(total + row[END], tokens, penalty)
                one.live = []
            else:
                went_on = _best(one, own, step, penalty)
                rows[first : first + len(went_on)] = [first + beam for beam, _ in went_on]
                pieces[first : first + len(went_on)] = [piece for _, piece in went_on]
        if step == length or all(one.settled(penalty) for one in beams):
            break
    return [[reading for _, reading in one.done] for one in beams]


def _best(one: _Beams, chances: NDArray[np.float64], step: int, penalty: float) -> list[tuple[int, int]]:
    """The likeliest ways on; a text that ends among the best leaves its place to the next."""
    if step == 0:
        chances[:, END] = -np.inf
    for row, (_, tokens) in zip(chances, one.live, strict=True):
        row[_said(tokens)] = -np.inf
    totals = chances + np.array([total for total, _ in one.live])[:, None]
    most = min(2 * one.width, totals.size)
    chosen = np.argpartition(-totals.ravel(), most - 1)[:most]
    chosen = chosen[np.lexsort((chosen, -totals.ravel()[chosen]))]
    before = one.live
    live: list[tuple[float, tuple[int, ...]]] = []
    went_on: list[tuple[int, int]] = []
    for rank, at in enumerate(chosen):
        beam, piece = divmod(int(at), totals.shape[1])
        total, tokens = float(totals[beam, piece]), before[beam][1]
        if not np.isfinite(total):
            continue
        if piece == END:
            if rank < one.width:
                one.end(total, tokens, penalty)
        elif len(live) < one.width:
            live.append((total, (*tokens, piece)))
            went_on.append((beam, piece))
    one.live = live
    return went_on


def _said(tokens: tuple[int, ...]) -> list[int]:
    """The pieces that would say again what a text has said."""
    last = tokens[1 - ONCE :]
    return [tokens[n + ONCE - 1] for n in range(len(tokens) - ONCE + 1) if tokens[n : n + ONCE - 1] == last]


def sampled(follow: Next, decoding: Decoding, length: int, rng: np.random.Generator) -> list[Reading]:
    """Texts of one picture, drawn; a row for each."""
    rows = np.arange(decoding.samples)
    pieces, totals = np.full(len(rows), END), np.zeros(len(rows))
    tokens: list[list[int]] = [[] for _ in rows]
    going = np.ones(len(rows), bool)
    for step in range(length + 1):
        chances = follow(rows, pieces)
        allowed = chances.copy()
        if step == 0:
            allowed[:, END] = -np.inf
        pieces = np.full(len(rows), END) if step == length else drawn(allowed, decoding, rng)
        totals += np.where(going, chances[rows, pieces], 0)
        going &= pieces != END
        for row in np.flatnonzero(going):
            tokens[row].append(int(pieces[row]))
        if not going.any():
            break
    return [Reading(tuple(own), float(total)) for own, total in zip(tokens, totals, strict=True)]


def joined(pieces: Sequence[str]) -> str:
    """Word pieces as a sentence: words whole, no blank before a comma, a capital and a full stop.

    >>> joined(["a", "man", "'", "s", "snow", "##board", ",", "red", "-", "white"])
    "A man's snowboard, red-white."
    """
    text = ""
    tight = True
    for piece in pieces:
        if piece.startswith("##"):
            text, tight = text + piece[2:], False
        elif not any(sign.isalnum() for sign in piece):
            opens = piece in "([#$"
            text += f" {piece}" if (opens or piece in '&"') and text else piece
            tight = opens or piece in "-/'’"
        else:
            text, tight = text + ("" if tight else " ") + piece, False
    return f"{text[:1].upper()}{text[1:]}." if text else ""
