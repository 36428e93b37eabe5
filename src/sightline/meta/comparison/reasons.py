"""Why a system is worse than another, in sentences: where it loses, and in what its scores are made of."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sightline.charts import counted, number
from sightline.meta.comparison.board import Board
from sightline.meta.comparison.makings import Making, Part, Wording, more_of
from sightline.meta.comparison.verdict import Comparison, Pair
from sightline.meta.comparison.words import how, named

CAUSES = {
    "share of phrases not seen": (-1, "more of its phrases are not seen in the pictures"),
    "similarity of a phrase": (1, "its phrases are less like the pictures"),
    "weight of a phrase": (1, "its phrases weigh less"),
    "repetition between sentences": (-1, "its sentences repeat each other more"),
    "repetition within sentences": (-1, "it repeats itself more within a sentence"),
    "1-gram precision": (1, "fewer of its words are in the references"),
    "2-gram precision": (1, "fewer of its pairs of words are in the references"),
    "3-gram precision": (1, "fewer of its runs of three words are in the references"),
    "4-gram precision": (1, "fewer of its runs of four words are in the references"),
    "length / nearest reference's": (1, "it is shorter than the nearest reference"),
    "precision": (1, "less of what it says is in the references"),
    "recall": (1, "it says less of what the references say"),
    "distance": (-1, "its words are further from the references'"),
    "clipscore": (1, "it is less like the picture"),
    "best reference": (1, "it is less like the nearest reference"),
    "VG": (1, "its nouns are grounded less (VG)"),
    "C": (1, "its sentences follow each other less (C)"),
    "NR": (1, "it repeats itself more (NR)"),
    "weakest step": (1, "its weakest step from sentence to sentence is weaker"),
    "region rank similarity": (1, "it ranks the regions less as the references do"),
    "weight distribution similarity": (1, "it weighs the regions less as the references do"),
}
"""Parts of scores that point one way: 1 where more of it makes the score higher, and what less of it means."""
SHARES = frozenset(name for name in CAUSES if "share" in name or "precision" in name or "recall" in name)
LENGTH = "length / nearest reference's"
OF_REFERENCES = (
    "bleu", "rouge", "cider", "meteor", "sacrebleu", "bertscore", "spice", "scenegraph", "wmd", "refclipscore",
)  # fmt: skip
"""Metrics that hold a text against references: the words that they miss are a cause."""
SHOWING = 0.1
"""A cause lies at least so many of an item's spreads apart."""
MOST = 3
"""So many causes are told, and so many systems of a metric that lose."""
EXAMPLES = 4
LONGER = 1.2
"""Texts so many times as long as others are called longer."""


@dataclass(frozen=True)
class Reason:
    """Why one system is worse than another in a metric."""

    metric: str
    loser: str
    winner: str
    lost: int
    won: int
    tied: int
    half: int
    """In so many items, those it loses most in, lies half of all it loses."""
    noun: str
    faults: bool = False
    """Whether the metric counts faults: the loser is the higher one."""
    because: list[str] = field(default_factory=list)

    @property
    def row(self) -> dict[str, Any]:
        """As compare.json has it."""
        lower, higher = (self.winner, self.loser) if self.faults else (self.loser, self.winner)
        return {"metric": self.metric, "lower": lower, "higher": higher, "why": self.sentence}

    @property
    def stands(self) -> str:
        """How the loser is beside the winner."""
        return f"is {how(not self.faults)} than"

    @property
    def sentence(self) -> str:
        return f"{named(self.metric, self.faults)}: {self.loser} {self.stands} {self.winner}. {self.cause} {self.where}"

    @property
    def where(self) -> str:
        n = self.lost + self.won + self.tied
        half = f"; half of what it loses lies in {self.half:,} of them" if self.half < self.lost else ""
        worse, better = how(not self.faults), how(self.faults)
        counts = f"{better} in {self.won:,}, the same in {self.tied:,}"
        return f"{worse.capitalize()} in {self.lost:,} of {counted(n, self.noun)}, {counts}{half}."

    @property
    def cause(self) -> str:
        if not self.because:
            return "What the scores are made of does not tell why: read the texts side by side."
        told = "; ".join(self.because)
        return f"{told[0].upper()}{told[1:]}."


def reasons(
    found: Comparison,
    board: Board,
    made: Mapping[str, Mapping[str, Making]],
    said: Mapping[str, Wording],
) -> list[Reason]:
    """For each metric the systems that are worse beyond chance, beside the best or the one all are compared with."""
    every = []
    for metric in found.metrics:
        for pair in _told(found, metric):
            winner = str(pair.winner)
            loser = pair.b if winner == pair.a else pair.a
            gaps = _gaps(board, metric, winner, loser) * (-1 if pair.faults else 1)
            one = pair.contest
            lost, won = (one.wins, one.losses) if winner == pair.a else (one.losses, one.wins)
            because = _because(metric, made.get(metric, {}), said, winner, loser, found.noun)
            half = _half(gaps[gaps > 0])
            every.append(
                Reason(metric, loser, winner, lost, won, one.ties, half, found.noun, pair.faults, because)
            )
    return every


def _told(found: Comparison, metric: str) -> list[Pair]:
    """The pairs of a metric that a reader asks about first: those of the best, or of the one compared with."""
    pairs = [pair for pair in found.pairs if pair.metric == metric and pair.winner is not None]
    if found.against is None:
        beaten = {pair.b if pair.winner == pair.a else pair.a for pair in pairs}
        pairs = [pair for pair in pairs if pair.winner not in beaten]
    return sorted(pairs, key=lambda pair: -abs(pair.contest.difference))[:MOST]


def _gaps(board: Board, metric: str, winner: str, loser: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    a, b = board.scores(metric, winner), board.scores(metric, loser)
    return np.array([a[id] - b[id] for id in a if id in b])


def _half(gaps: np.ndarray[Any, np.dtype[np.float64]]) -> int:
    """How many of the largest make up half of all."""
    if not len(gaps):
        return 0
    largest = np.sort(gaps)[::-1]
    return int(np.searchsorted(np.cumsum(largest), largest.sum() / 2)) + 1


def _because(
    metric: str,
    made: Mapping[str, Making],
    said: Mapping[str, Wording],
    winner: str,
    loser: str,
    noun: str,
) -> list[str]:
    causes: list[tuple[float, str]] = []
    if winner in made and loser in made:
        causes += _of_parts(made[winner], made[loser])
    name = metric.partition(":")[0]
    if winner in said and loser in said and name.startswith(OF_REFERENCES):
        causes += _of_words(said[winner], said[loser], noun)
    told = [told for _, told in sorted(causes, key=lambda cause: -cause[0])]
    if winner in said and loser in said:
        told += _of_length(said[winner], said[loser], noun)
    return told[:MOST]


def _of_parts(winner: Making, loser: Making) -> list[tuple[float, str]]:
    """Parts in which the loser is lower, with how many spreads it is."""
    found = []
    for name, (sign, told) in CAUSES.items():
        mine, theirs = (made.parts.get(name, Part()) for made in (loser, winner))
        if mine.mean is None or theirs.mean is None:
            continue
        gap, spread = sign * (theirs.mean - mine.mean), max(mine.spread, theirs.spread)
        apart = gap / spread if spread > 0 else math.inf if gap > 0 else 0.0
        if apart < SHOWING or (name == LENGTH and mine.mean >= 1):
            continue
        show = _percent if name in SHARES or name == LENGTH else _decimal
        text = f"{told} ({show(mine.mean)} against {show(theirs.mean)})"
        if name == "share of phrases not seen" and (cost := _cost(winner, loser)):
            text += f", most of all {_quoted(cost)}"
        found.append((apart, text))
    return _one_of_precisions(found)


def _one_of_precisions(found: list[tuple[float, str]]) -> list[tuple[float, str]]:
    """BLEU's four precisions say one thing: the furthest apart stands for them."""
    alike = sorted((cause for cause in found if "of its words are" in cause[1] or "of its runs" in cause[1]
                    or "of its pairs" in cause[1]), key=lambda cause: -cause[0])  # fmt: skip
    return [cause for cause in found if cause not in alike[1:]]


def _cost(winner: Making, loser: Making) -> list[str]:
    """The phrases that cost the loser most beside the winner."""
    rows = [
        (part.sum - (winner.phrases[text].sum if text in winner.phrases else 0.0), text)
        for text, part in loser.phrases.items()
        if part.sum < 0
    ]
    return [text for gap, text in sorted(rows) if gap < 0][:EXAMPLES]


def _of_words(winner: Wording, loser: Wording, noun: str) -> list[tuple[float, str]]:
    """Words that no reference has, and words that most have and the loser leaves out."""
    if not (winner.compared and loser.compared):
        return []
    found = []
    for told, of in _WORDS:
        mine, theirs = (of(said).total() / said.compared for said in (loser, winner))
        words = [word for word, times in more_of(of(loser), [of(winner)], EXAMPLES) if times > 1]
        apart = (mine - theirs) / max(theirs, 0.5)
        if apart >= SHOWING:
            such = f", such as {_quoted(words)}" if words else ""
            found.append(
                (apart, f"{told} ({_decimal(mine, 2)} a {noun} against {_decimal(theirs, 2)}){such}")
            )
    return found


def _of_length(winner: Wording, loser: Wording, noun: str) -> list[str]:
    """Whether the loser's texts are much shorter or longer."""
    mine, theirs = loser.words / loser.texts, winner.words / winner.texts
    if not theirs or 1 / LONGER < mine / theirs < LONGER:
        return []
    how, texts = "shorter" if mine < theirs else "longer", counted(2, noun).removeprefix("2 ")
    return [f"its {texts} are {how} ({_decimal(mine, 1)} words against {_decimal(theirs, 1)})"]


_WORDS: Sequence[tuple[str, Callable[[Wording], Any]]] = (
    ("it says more telling words that no reference has", lambda said: said.unsupported),
    ("it leaves out more telling words that most references have", lambda said: said.missed),
)


def _quoted(texts: Sequence[str]) -> str:
    return ", ".join(f"\u201c{text}\u201d" for text in texts)


def _percent(value: float) -> str:
    return f"{100 * value:.0f}\u00a0%"


def _decimal(value: float, digits: int = 3) -> str:
    return number(value, digits)
