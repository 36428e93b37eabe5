"""Inverse document frequency of words over stories: idf = log(N / (1 + df))."""

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import UsageError
from sightline.resources import MODELS
from sightline.text.language import Word

SHIPPED = MODELS / "idf" / "idf.json"


@dataclass(frozen=True)
class Idf:
    """How many stories there were, and in how many of them each word stood."""

    stories: int
    frequencies: Mapping[str, int]

    @classmethod
    def fit(cls, stories: Iterable[Iterable[str]]) -> "Idf":
        """Count from each story's words."""
        counts: Counter[str] = Counter()
        n = 0
        for words in stories:
            counts.update({word.lower() for word in words})
            n += 1
        return cls(n, dict(counts))

    @classmethod
    def merged(cls, parts: "Sequence[Idf]") -> "Idf":
        """Of stories that were counted in parts."""
        counts: Counter[str] = Counter()
        for part in parts:
            counts.update(part.frequencies)
        return cls(sum(part.stories for part in parts), dict(counts))

    @classmethod
    def from_json(cls, found: Any) -> "Idf":
        """What `to_json` made; raises ValueError where it is something else."""
        if not (_is(found, dict) and _is(found.get("stories"), int) and _is(found.get("frequencies"), dict)):
            raise ValueError("'stories' and 'frequencies' are missing")
        if not all(_is(n, int) and n >= 0 for n in found["frequencies"].values()):
            raise ValueError("'frequencies' must be counts of stories")
        return cls(found["stories"], found["frequencies"])

    @classmethod
    def load(cls, path: str | Path) -> "Idf":
        """From a file of `to_json`."""
        try:
            return cls.from_json(json.loads(Path(path).read_text("utf-8")))
        except (OSError, UnicodeDecodeError, ValueError) as fault:
            raise UsageError(f"{path}: not a readable idf file ({fault})") from None

    @classmethod
    def shipped(cls) -> "Idf":
        """From the VIST validation stories; for corpora too small for their own."""
        return cls.load(SHIPPED)

    def to_json(self) -> dict[str, Any]:
        return {"stories": self.stories, "frequencies": dict(sorted(self.frequencies.items()))}

    def of_word(self, word: str) -> float:
        """Negative for a word of every story, as the formula says; an unknown word stood in none."""
        return math.log(max(self.stories, 1) / (1 + self.frequencies.get(word.lower(), 0)))

    def of_phrase(self, words: Sequence[Word]) -> float:
        """The mean of its words'."""
        values = [self.of_word(word.text) for word in words]
        return sum(values) / len(values) if values else 0.0


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))
