"""Nouns against regions in RoViST-VG's space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.encoders.pieces import pieces
from sightline.encoders.vg import Grounding, Words
from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Tools
from sightline.features.text import Phrases
from sightline.features.vision import Regions, best_regions
from sightline.text.vectors import WordVectors


@dataclass(frozen=True)
class NounsValue:
    cosine: NDArray[np.float32]
    """[noun, picture]: best cosine over the picture's regions, for every mention that has a word vector."""
    box: NDArray[np.float32]
    """[noun, picture, 4]: the region that gave it."""
    mention: tuple[int, ...]
    """Which mention each row is."""
    unknown: tuple[str, ...]
    """Nouns without a word vector: they are left out."""


@dataclass(frozen=True)
class NounGrounding(Feature[NounsValue]):
    """How well each noun matches its best region in each picture, by RoViST-VG's model."""

    value = NounsValue
    reads_pictures = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Phrases("nouns"), Regions())

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[NounsValue | Unscorable]:
        model, words = _model(tools)
        return [self._ground(got, tools, model, words) for got in batch]

    def _ground(self, got: Features, tools: Tools, model: Grounding, words: Words) -> NounsValue | Unscorable:
        mentions = got[Phrases("nouns")].mentions
        if not mentions:
            return Unscorable("there is no noun in the text")
        found = [(number, words.of_text(mention.text)) for number, mention in enumerate(mentions)]
        known = [(number, vector) for number, vector in found if vector is not None]
        unknown = tuple(mentions[number].text for number, vector in found if vector is None)
        if not known:
            return Unscorable("no noun of the text has a word vector")
        boxes = got[Regions()].boxes
        for number, of_picture in enumerate(boxes, 1):
            if not of_picture:
                return Unscorable(f"picture {number} has no region")
        pictures = [tools.pictures.load(path) for path in got.item.images]
        wanted = [(picture, box) for picture, some in zip(pictures, boxes, strict=True) for box in some]
        regions = model.regions(tools.embedder.regions(wanted))
        nouns = model.words(np.stack([vector for _, vector in known]))
        best, where = best_regions(nouns @ regions.T, boxes)
        return NounsValue(best, where, tuple(number for number, _ in known), unknown)

    def signature(self, tools: Tools) -> Mapping[str, str]:
        model, _ = _model(tools)
        return {"encoder": tools.embedder.signature, "vg": model.signature, "vectors": model.vectors}


def _model(tools: Tools) -> tuple[Grounding, Words]:
    model = _open(tools.option("vg"))
    given = tools.option("vectors")
    words: Words = _read(given) if given else pieces()
    model.fits(tools.embedder.signature, f"file:{Path(given).name}" if given else "embedded")
    return model, words


@lru_cache(maxsize=4)
def _open(path: str | None) -> Grounding:
    return Grounding(Path(path) if path else None)


@lru_cache(maxsize=2)
def _read(path: str) -> WordVectors:
    return WordVectors.from_file(Path(path))
