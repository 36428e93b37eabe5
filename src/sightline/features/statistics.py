"""What is learned from the scored corpus before any score: theta and idf. On few stories, what we ship stands in."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sightline.errors import UsageError
from sightline.features.base import Feature, Features, Fit, Statistic, Tools
from sightline.features.text import Phrases, Units
from sightline.features.vision import Alignment
from sightline.text.idf import Idf

SCALE = 2.5
"""Published GROOViST works on CLIPScore's scale: 2.5 x max(0, cosine)."""

SUPPORTED = 0.8
"""Of theta, the mean similarity of phrases to their own pictures; how well that divides them stands in
docs/hallucination.md."""

CHOICES = ("auto", "corpus", "shipped")
"""Words for where theta and idf come from; anything else is a number or a file."""

ENOUGH = 30
"""Below so many stories a corpus statistic would be circular: it would be made of the very scores it judges."""


class ExactSum:
    """A sum that keeps what rounding would lose, so that its order changes nothing (Shewchuk 1997)."""

    def __init__(self) -> None:
        self.parts: list[float] = []
        """Numbers that together are the sum exactly."""

    def add(self, number: float) -> None:
        kept = []
        for part in self.parts:
            if abs(number) < abs(part):
                number, part = part, number
            high = number + part
            if low := part - (high - number):
                kept.append(low)
            number = high
        self.parts = [*kept, number]


class Similarities(NamedTuple):
    """The similarities of a part of the corpus, their sum kept exactly."""

    sums: tuple[float, ...]
    phrases: int
    stories: int


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
            self._given(choice, tools)

    def learns(self, tools: Tools) -> bool:
        return (tools.option("theta") or "auto") in ("auto", "corpus")

    def partial(self, corpus: Iterable[Features]) -> "Similarities":
        sums, count, stories = ExactSum(), 0, 0
        for got in corpus:
            if got.failure(Alignment(self.units)) is None:
                similarity = SCALE * np.clip(got[Alignment(self.units)].cosine.max(axis=1), 0, None)
                sums.add(math.fsum(similarity.tolist()))
                count += len(similarity)
                stories += 1
        return Similarities(tuple(sums.parts), count, stories)

    def merged(self, parts: Sequence["Similarities"]) -> "Similarities":
        sums = ExactSum()
        for part in parts:
            for number in part.sums:
                sums.add(number)
        return Similarities(
            tuple(sums.parts), sum(part.phrases for part in parts), sum(part.stories for part in parts)
        )

    def fitted(self, part: "Similarities | None", tools: Tools) -> Fit[float]:
        choice = tools.option("theta") or "auto"
        if choice not in CHOICES:
            return self._given(choice, tools)
        if part is not None:
            if choice == "corpus" and not part.phrases:
                raise UsageError("theta cannot be the corpus mean: no story has a phrase and a picture")
            if part.phrases and (choice == "corpus" or part.stories >= ENOUGH):
                return Fit(math.fsum(part.sums) / part.phrases, "corpus")
        known = tools.embedder.calibration
        if self.units not in known.thetas:
            raise UsageError(
                f"no theta is known for the encoder {tools.embedder.signature}, and fewer than {ENOUGH} stories "
                "cannot give one: run 'sightline calibrate --encoder E [FILE]' once, or give --theta NUMBER"
            )
        return Fit(known.thetas[self.units], known.source)

    def load(self, saved: Any) -> float:
        if isinstance(saved, bool) or not isinstance(saved, int | float) or not math.isfinite(saved):
            raise ValueError("not a number")
        return float(saved)

    def told(self, fit: Fit[float]) -> str:
        return f"{fit.value:.10g}" if fit.source == "given" else f"{fit.source}={fit.value:.10g}"

    def _given(self, choice: str, tools: Tools) -> Fit[float]:
        try:
            theta = float(choice)
        except ValueError:
            found = tools.stored(choice, self)
            if found is None:
                raise UsageError(
                    f"--theta {choice}: neither a number nor the folder of a run, nor one of {', '.join(CHOICES)}"
                ) from None
            return found
        if not math.isfinite(theta):
            raise UsageError(f"--theta {choice}: not a number to compare with")
        return Fit(theta, "given")


@dataclass(frozen=True)
class Support(Statistic[float]):
    """The similarity below which a phrase is in no picture: a share of the encoder's own theta, whatever is scored."""

    name = "support"

    def check(self, tools: Tools) -> None:
        self.fitted(None, tools)

    def learns(self, tools: Tools) -> bool:
        return False

    def fitted(self, part: None, tools: Tools) -> Fit[float]:
        choice = tools.option("support")
        if choice is None:
            known = tools.embedder.calibration
            if "phrases" not in known.thetas:
                raise UsageError(
                    f"no theta is known for the encoder {tools.embedder.signature}: run 'sightline calibrate "
                    "--encoder E [FILE]' once, or give --option support=NUMBER"
                )
            return Fit(SUPPORTED * known.thetas["phrases"], known.source)
        try:
            given = float(choice)
        except ValueError:
            given = math.nan
        if not math.isfinite(given):
            raise UsageError(f"support={choice} is no number to compare with")
        return Fit(given, "given")

    def load(self, saved: Any) -> float:
        return Theta().load(saved)

    def told(self, fit: Fit[float]) -> str:
        return Theta().told(fit)


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
            self._given(choice, tools)

    def learns(self, tools: Tools) -> bool:
        return (tools.option("idf") or "auto") in ("auto", "corpus")

    def partial(self, corpus: Iterable[Features]) -> Idf:
        return Idf.fit(self._words(got) for got in corpus if got.failure(Phrases(self.units)) is None)

    def merged(self, parts: Sequence[Idf]) -> Idf:
        return Idf.merged(parts)

    def fitted(self, part: Idf | None, tools: Tools) -> Fit[Idf]:
        choice = tools.option("idf") or "auto"
        if choice not in CHOICES:
            return self._given(choice, tools)
        if part is not None and (choice == "corpus" or part.stories >= ENOUGH):
            return Fit(part, "corpus")
        return Fit(tools.held(Idf.shipped), "shipped")

    def save(self, value: Idf) -> dict[str, Any]:
        return value.to_json()

    def load(self, saved: Any) -> Idf:
        return Idf.from_json(saved)

    def _given(self, choice: str, tools: Tools) -> Fit[Idf]:
        found = tools.stored(choice, self)
        if found is None:
            given = Idf.load(choice)  # not held: it is small, and may change on disk
            # by whatever path: what is shipped is named as shipped
            found = Fit(given, "shipped" if given == tools.held(Idf.shipped) else "file")
        return found

    def _words(self, got: Features) -> list[str]:
        return [word.text for mention in got[Phrases(self.units)].mentions for word in mention.words]
