"""What is learned from the scored corpus before any score: theta and idf. On few stories, what we ship stands in."""

import json
import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sightline.errors import UsageError
from sightline.features.base import Feature, Features, Fit, Statistic, Tools
from sightline.features.text import Phrases, Units
from sightline.features.vision import Alignment
from sightline.text.idf import Idf

SCALE = 2.5
"""Published GROOViST works on CLIPScore's scale: 2.5 x max(0, cosine)."""

CHOICES = ("auto", "corpus", "shipped")
"""Words for where theta and idf come from; anything else is a number or a file."""

ENOUGH = 30
"""Below so many stories a corpus statistic would be circular: it would be made of the very scores it judges."""


@dataclass(frozen=True)
class Theta(Statistic[float]):
    """The mean similarity of all phrases of all stories, each story's phrases counted once."""

    units: Units = "phrases"
    name = "theta"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Alignment(self.units),)

    def check(self, tools: Tools) -> None:
        choice = tools.option("theta") or "auto"
        if choice not in CHOICES:
            self._given(choice)

    def fit(self, corpus: Iterable[Features], tools: Tools) -> Fit[float]:
        choice = tools.option("theta") or "auto"
        if choice not in CHOICES:
            return self._given(choice)
        if choice != "shipped":
            total = count = stories = 0.0
            for got in corpus:
                if got.failure(Alignment(self.units)) is None:
                    similarity = SCALE * np.clip(got[Alignment(self.units)].cosine.max(axis=1), 0, None)
                    total, count, stories = (
                        total + float(similarity.sum()),
                        count + len(similarity),
                        stories + 1,
                    )
            if choice == "corpus" and not count:
                raise UsageError("theta cannot be the corpus mean: no story has a phrase and a picture")
            if count and (choice == "corpus" or stories >= ENOUGH):
                return Fit(total / count, "corpus")
        shipped = tools.embedder.encoder.thetas
        if self.units not in shipped:
            name = tools.embedder.signature
            raise UsageError(f"{name} ships no theta; give --theta NUMBER, or at least {ENOUGH} stories")
        return Fit(shipped[self.units], "shipped")

    def _given(self, choice: str) -> Fit[float]:
        try:
            theta = float(choice)
        except ValueError:
            theta = read_statistics(Path(choice)).get(f"theta.{self.units}", math.nan)
            if isinstance(theta, bool) or not isinstance(theta, int | float) or not math.isfinite(theta):
                raise UsageError(f"{choice}: no theta.{self.units} in it") from None
        if not math.isfinite(theta):
            raise UsageError(f"--theta {choice}: not a number to compare with")
        return Fit(float(theta), f"{theta:.6g}")


@dataclass(frozen=True)
class WordIdf(Statistic[Idf]):
    """Inverse document frequencies of the words in the stories' phrases or nouns."""

    units: Units = "phrases"
    name = "idf"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Phrases(self.units),)

    def check(self, tools: Tools) -> None:
        choice = tools.option("idf") or "auto"
        if choice not in CHOICES:
            Idf.load(Path(choice), self.units)

    def fit(self, corpus: Iterable[Features], tools: Tools) -> Fit[Idf]:
        choice = tools.option("idf") or "auto"
        if choice not in CHOICES:
            return _from_file(tools.held(Idf.load, Path(choice), self.units))
        if choice != "shipped":
            fitted = Idf.fit(self._words(got) for got in corpus if got.failure(Phrases(self.units)) is None)
            if choice == "corpus" or fitted.stories >= ENOUGH:
                return Fit(fitted, "corpus")
        return _from_file(tools.held(Idf.shipped))

    def _words(self, got: Features) -> list[str]:
        return [word.text for mention in got[Phrases(self.units)].mentions for word in mention.words]


def _from_file(idf: Idf) -> Fit[Idf]:
    """The same table has the same name, whether it is shipped or given."""
    return Fit(idf, idf.resource.digest if idf.resource else "corpus")


def read_statistics(path: Path) -> dict[str, Any]:
    """The `statistics.json` of an earlier run."""
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as fault:
        raise UsageError(f"{path}: neither a number nor a readable statistics file ({fault})") from None
    if not isinstance(found, dict):
        raise UsageError(f"{path}: not a statistics file")
    return found
