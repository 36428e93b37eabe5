"""Why one system is lower than another: the means of what its scores are made of, its phrases and its words."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from sightline.items import Evidence, Item, Score
from sightline.meta.comparison.board import UNNAMED
from sightline.text.meteor_words import FUNCTION_WORDS

MEANINGS = {
    "P": "phrases per word (P)",
    "T": "temporal misalignment (T)",
    "inter": "repetition between sentences",
    "intra": "repetition within sentences",
}
"""Parts whose names in the evidence are a paper's symbols."""

SHOWN = 8
"""Phrases or words of a kind that are told."""


@dataclass
class Part:
    """One number that scores are made of, over a system's items."""

    n: int = 0
    sum: float = 0.0
    squares: float = 0.0

    def add(self, value: float) -> None:
        self.n += 1
        self.sum += value
        self.squares += value * value

    @property
    def mean(self) -> float | None:
        return self.sum / self.n if self.n else None

    @property
    def spread(self) -> float:
        return float(np.sqrt(max(self.squares / self.n - (self.sum / self.n) ** 2, 0.0))) if self.n else 0.0


@dataclass
class Making:
    """What one system's scores in one metric are made of."""

    parts: dict[str, Part] = field(default_factory=lambda: defaultdict(Part))
    phrases: dict[str, Part] = field(default_factory=lambda: defaultdict(Part))
    """What each phrase brought to scores, by its text."""

    def add(self, evidence: Evidence) -> None:
        for name, value in {**evidence.parts, **_told(evidence)}.items():
            if np.isfinite(value) and name != "tanh":  # the score itself, squashed
                self.parts[MEANINGS.get(name, name)].add(float(value))
        for phrase in evidence.phrases:
            self.phrases[phrase.text].add(phrase.contribution / len(evidence.phrases))


def _told(evidence: Evidence) -> dict[str, float]:
    """Numbers that the evidence holds but does not name among its parts."""
    found: dict[str, float] = {}
    if evidence.phrases:
        phrases = evidence.phrases
        found["phrases"] = len(phrases)
        found["share of phrases not seen"] = sum(p.contribution < 0 for p in phrases) / len(phrases)
        found["similarity of a phrase"] = sum(p.similarity for p in phrases) / len(phrases)
        found["weight of a phrase"] = sum(p.weight for p in phrases) / len(phrases)
    bleu = evidence.counts.get("bleu")
    if bleu and bleu[-1]:
        found["length / nearest reference's"] = bleu[-2] / bleu[-1]
    return found


def makings(scores: Iterable[Score], shared: Mapping[str, Collection[str]]) -> dict[str, dict[str, Making]]:
    """By metric and system, over the items that all systems have; `shared` names those of each metric."""
    found: dict[str, dict[str, Making]] = defaultdict(lambda: defaultdict(Making))
    for score in scores:
        if score.id in shared.get(score.metric, ()):
            found[score.metric][UNNAMED if score.system is None else score.system].add(score.evidence)
    return found


def noted(scores: Iterable[Score], found: dict[str, dict[str, Making]]) -> Iterator[Score]:
    """The same scores; what they are made of is noted as they go by, which saves reading them again."""
    for score in scores:
        system = UNNAMED if score.system is None else score.system
        found.setdefault(score.metric, {}).setdefault(system, Making()).add(score.evidence)
        yield score


@dataclass(frozen=True)
class PartRow:
    """A part of the scores, system by system, and how far apart the two furthest are in units of an item's spread."""

    name: str
    means: list[float | None]
    apart: float


def part_rows(made: Mapping[str, Making], systems: Sequence[str]) -> list[PartRow]:
    """The parts of a metric's scores, that in which the systems differ most first."""
    names = dict.fromkeys(name for system in systems if system in made for name in made[system].parts)
    rows = []
    for name in names:
        parts = [made[system].parts[name] if system in made else Part() for system in systems]
        means = [part.mean for part in parts]
        there = [mean for mean in means if mean is not None]
        spread = max((part.spread for part in parts), default=0.0)
        apart = (max(there) - min(there)) / spread if spread > 0 and len(there) > 1 else 0.0
        rows.append(PartRow(name, means, apart))
    return sorted(rows, key=lambda row: -row.apart)


def costly(made: Making, shown: int = SHOWN) -> list[tuple[str, int, float]]:
    """The phrases that took most from a system's scores, with how often they were said and what they took in all."""
    rows = [(text, part.n, part.sum) for text, part in made.phrases.items() if part.sum < 0]
    return sorted(rows, key=lambda row: (row[2], row[0]))[:shown]


@dataclass
class Wording:
    """What a system's texts are like beside their references."""

    texts: int = 0
    words: int = 0
    different: set[str] = field(default_factory=set)
    unsupported: Counter[str] = field(default_factory=Counter)
    """Words that no reference of the item has, by how many items say them."""
    missed: Counter[str] = field(default_factory=Counter)
    """Words that most references of the item have and the text has not."""
    compared: int = 0
    """Texts that have references."""

    def add(self, item: Item) -> None:
        said = plain_words(item.whole_text)
        self.texts += 1
        self.words += len(said)
        self.different.update(said)
        references = [set(plain_words(text)) for text in item.references if text.strip()]
        if not references:
            return
        self.compared += 1
        known: set[str] = set().union(*references)
        self.unsupported.update(telling(said) - known)
        common = Counter(word for reference in references for word in reference)
        most = telling(word for word, n in common.items() if 2 * n > len(references))
        self.missed.update(most - set(said))


@lru_cache(1 << 16)  # systems share their references
def plain_words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.lower()))


_WORD = re.compile(r"\w+(?:['’-]\w+)*")


def telling(words: Iterable[str]) -> set[str]:
    """Words that say something of a picture: no "the" and no "with"."""
    return set(words) - FUNCTION_WORDS


def wordings(items: Iterable[Item]) -> dict[str, Wording]:
    """By system."""
    found: dict[str, Wording] = defaultdict(Wording)
    for item in items:
        found[UNNAMED if item.system is None else item.system].add(item)
    return found


def more_of(mine: Counter[str], others: Sequence[Counter[str]], shown: int = SHOWN) -> list[tuple[str, int]]:
    """The words a system has most ahead of the others, with how many of its items have them."""
    rows = [(word, n, n - min((other[word] for other in others), default=0)) for word, n in mine.items()]
    rows = [row for row in rows if row[2] > 0]
    return [(word, n) for word, n, _ in sorted(rows, key=lambda row: (-row[2], row[0]))[:shown]]
