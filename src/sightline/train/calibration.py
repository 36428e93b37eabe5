"""An encoder's calibration from stories: the curve onto CLIP's range, and GROOViST's theta by units."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sightline.encoders.calibration import REFERENCE, Calibration, fit_curve
from sightline.errors import Unscorable, UsageError
from sightline.features.base import Features, in_order
from sightline.features.statistics import ENOUGH, SCALE
from sightline.features.text import Sentences, Units
from sightline.features.vision import Alignment, sentence_pairs
from sightline.items import Item
from sightline.pipeline.settings import LocalTools

UNITS: Final[tuple[Units, ...]] = ("phrases", "nouns")

FEWEST_PAIRS = 8
"""Pairs of a sentence and its picture below which no range can be told."""

Vectors = NDArray[np.float32]


@dataclass
class Seen:
    """What the stories showed, in cosines as the encoder gives them."""

    stories: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    """Reasons why stories gave no phrase or no pair, and how often."""
    best: dict[Units, list[Vectors]] = field(default_factory=lambda: {unit: [] for unit in UNITS})
    """Of each story its phrases' best cosines."""
    images: list[Vectors] = field(default_factory=list)
    texts: list[Vectors] = field(default_factory=list)
    pictures: list[str] = field(default_factory=list)
    """Digest of each pair's picture."""

    def look(self, item: Item, tools: LocalTools) -> None:
        """Add one story."""
        got, embed = Features(item), tools.embedder
        for feature in in_order((Sentences(), *map(Alignment, UNITS))):
            reason = next((why for need in feature.needs() if (why := got.failure(need)) is not None), None)
            got.put(feature, reason or feature.compute([got], tools)[0])
        seen = False
        for unit in UNITS:
            if (why := got.failure(Alignment(unit))) is None:
                self.best[unit].append(got[Alignment(unit)].cosine.max(axis=1))
                seen = True
            elif unit == "phrases":
                self._leave(str(why))
        pairs = sentence_pairs(got, tools) if got.failure(Sentences()) is None else Unscorable("no sentences")
        if isinstance(pairs, Unscorable):
            self._leave(str(pairs))
        else:
            self.images.append(embed.regions([(picture, None) for _, picture in pairs]))
            self.texts.append(embed.texts([sentence for sentence, _ in pairs]))
            self.pictures += [picture.digest for _, picture in pairs]
            seen = True
        self.stories += seen

    def _leave(self, why: str) -> None:
        self.left_out[why] = self.left_out.get(why, 0) + 1

    def cosines(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Of each sentence with its own picture, and with every other picture."""
        images, texts = np.concatenate(self.images), np.concatenate(self.texts)
        first = {digest: number for number, digest in reversed(list(enumerate(self.pictures)))}
        digests = list(first)
        table = texts @ images[list(first.values())].T
        own = np.array([[digest == other for other in digests] for digest in self.pictures])
        return table[own], table[~own]


@dataclass(frozen=True)
class Calibrated:
    """A calibration and what it stands on."""

    encoder: str
    calibration: Calibration
    stories: int
    pairs: int
    matching: float | None
    foreign: float | None
    left_out: dict[str, int]

    @property
    def rough(self) -> bool:
        return self.stories < ENOUGH


def calibrate(
    items: Iterable[Item],
    tools: LocalTools,
    span: str = "auto",
    progress: Callable[[int], None] = lambda n: None,
) -> Calibrated:
    """Fit both on stories whose texts are true of their pictures.

    `span` is `fit` for a curve, `keep` for cosines as they are, `auto` for a curve unless they are CLIP's, which are
    the range itself. Raises UsageError where the stories hold too little, or the encoder sees nothing in them.
    """
    embed = tools.embedder
    name = embed.signature
    embed.calibration = replace(embed.encoder.calibration, curve=None)  # cosines as they are
    seen = Seen()
    for number, item in enumerate(items, 1):
        seen.look(item, tools)
        progress(number)
    why = f" (most often: {max(seen.left_out, key=seen.left_out.__getitem__)})" if seen.left_out else ""
    if not seen.best["phrases"]:
        raise UsageError(
            f"no story has both a phrase and a picture that can be read{why}: nothing to calibrate on"
        )
    matching = foreign = None
    curve = None
    kind = name.partition("@")[0]
    if span == "fit" or (span == "auto" and kind not in REFERENCE):
        if len(seen.pictures) < FEWEST_PAIRS or len(set(seen.pictures)) < 2:
            raise UsageError(
                f"{len(seen.pictures)} pairs of a sentence and its picture: at least {FEWEST_PAIRS}, of two pictures, "
                f"are needed for the range{why}; give more stories, or --range keep"
            )
        own, other = seen.cosines()
        curve = fit_curve(own, other)
        matching, foreign = float(own.mean()), float(other.mean())
    calibration = Calibration(embed.calibration.prompt, curve, {}, "calibrated")
    thetas: dict[str, float] = {unit: theta(rows, calibration) for unit, rows in seen.best.items() if rows}
    return Calibrated(
        name,
        replace(calibration, thetas=thetas),
        seen.stories,
        len(seen.pictures),
        matching,
        foreign,
        seen.left_out,
    )


def theta(best: list[Vectors], calibration: Calibration) -> float:
    """The mean similarity of all phrases of all stories, on CLIPScore's scale."""
    similarity = SCALE * np.clip(calibration(np.concatenate(best).astype(np.float64)), 0, None)
    return float(f"{similarity.mean():.6g}")
