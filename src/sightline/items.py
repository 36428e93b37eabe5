"""The words every room speaks: what is scored, and what a score is."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, get_args

Box = tuple[float, float, float, float]
"""x0, y0, x1, y1 in pixels of the upright picture."""

Key = tuple[str, str | None]
"""What tells two items apart: id and system."""

Phase = Literal["play", "tutorial", "probation", "qualification", "gold", "attention"]
"""When in a study a rating was given: in play, in training, to qualify, or on an item whose answer is known."""
PHASES: Final[tuple[Phase, ...]] = get_args(Phase)


@dataclass(frozen=True, slots=True)
class Item:
    """A text and the pictures it should be true to: a caption (one picture) or a story (several).

    Its identity is its id and its system: one file may hold many systems over the same ids.
    `sentences` are given ones; without any, a story's text is still to be split. A caption is never split.
    """

    id: str
    images: tuple[Path, ...] = ()
    text: str = ""
    sentences: tuple[str, ...] | None = None
    references: tuple[str, ...] = ()
    system: str | None = None
    ratings: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    regions: tuple[tuple[Box, ...], ...] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    """File and line this came from, for messages."""

    @property
    def key(self) -> "Key":
        return self.id, self.system

    @property
    def is_caption(self) -> bool:
        """Whether it has one picture. What a text without pictures is, its sentences say (`features.text`)."""
        return len(self.images) == 1

    @property
    def group(self) -> str:
        """What a bootstrap resamples: the item's given group, else its pictures, else its id."""
        return str(self.extra.get("group") or "\x1f".join(map(str, self.images)) or self.id)

    @property
    def whole_text(self) -> str:
        return " ".join(self.sentences) if self.sentences else self.text


@dataclass(frozen=True, slots=True)
class Rating:
    """One person's judgement of one item on one criterion."""

    item: str
    rater: str
    value: float
    criterion: str = "overall"
    system: str | None = None
    """The item's system, where it has one."""
    phase: Phase = "play"
    expert: float | None = None
    """The known answer, where the item has one."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    """File and line this came from, for messages."""

    @property
    def key(self) -> Key:
        return self.item, self.system


@dataclass(frozen=True, slots=True)
class PhraseEvidence:
    """What one phrase (or noun) of the text brought to the score."""

    text: str
    sentence: int
    start: int
    """First character within its sentence."""
    end: int
    similarity: float
    """Best match over all regions, on the metric's scale."""
    penalized: float
    weight: float
    contribution: float
    image: int | None = None
    box: Box | None = None
    by_image: tuple[float, ...] = ()
    """Best match within each picture: one row of the heat map."""
    again: tuple[tuple[int, int, int], ...] = ()
    """Sentence, start and end of its later mentions; they do not count again."""


@dataclass(frozen=True, slots=True)
class WordEvidence:
    """A word of the text, and what the score gains by it: less than nothing where it speaks against the text."""

    text: str
    sentence: int
    start: int
    """First character within its sentence."""
    end: int
    change: float
    """The score minus what it would be with the word masked out, beyond what words of true texts change."""


@dataclass(frozen=True, slots=True)
class PairEvidence:
    """A score between two things of the item: sentence and picture, or sentence and next sentence."""

    left: str
    right: str
    score: float


@dataclass(frozen=True, slots=True)
class Evidence:
    """Why a score is what it is, in a form any report can draw. A metric fills in what it has."""

    sentences: tuple[str, ...] = ()
    phrases: tuple[PhraseEvidence, ...] = ()
    threshold: float | None = None
    """The similarity below which a phrase counts against the text (GROOViST's theta)."""
    pairs: tuple[PairEvidence, ...] = ()
    parts: Mapping[str, float] = field(default_factory=dict)
    """Named numbers the score is made of, or that stand beside it."""
    notes: tuple[str, ...] = ()
    """What a reader must know: text that was cut, a language that is not English."""
    counts: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    """Sufficient statistics for a corpus-level value (n-gram matches, lengths)."""
    words: tuple[WordEvidence, ...] = ()
    """Single words, where the metric looks at what each of them brings."""


@dataclass(frozen=True, slots=True)
class Score:
    """One metric's number for one item, with its evidence and the signature that says how it was measured."""

    id: str
    metric: str
    score: float
    signature: str
    evidence: Evidence
    system: str | None = None

    @property
    def key(self) -> Key:
        return self.id, self.system


DUPLICATE = "an earlier item of the system has the same id; this one is left out"
"""The reason of a failure that is not the first item's of its id and system."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An item that a metric could not score, and the reason."""

    id: str
    metric: str
    reason: str
    source: str = ""
    system: str | None = None

    @property
    def key(self) -> Key:
        return self.id, self.system
