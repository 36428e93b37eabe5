"""Nouns against regions in RoViST-VG's space."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sightline.encoders.grounding import load_grounding
from sightline.encoders.pieces import pieces
from sightline.encoders.vg import Grounding, WordTable
from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Tools
from sightline.features.text import Phrases
from sightline.features.vision import Regions, best_regions
from sightline.text.vectors import WordVectors

if TYPE_CHECKING:
    from sightline.encoders.vg_vit import FineTuned


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

    def _ground(
        self, got: Features, tools: Tools, model: "Grounding | FineTuned", words: WordTable
    ) -> NounsValue | Unscorable:
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
        regions = model.grounded(wanted, tools.embedder)
        nouns = model.words(np.stack([vector for _, vector in known]))
        best, where = best_regions(nouns @ regions.T, boxes)
        return NounsValue(best, where, tuple(number for number, _ in known), unknown)

    def signature(self, tools: Tools) -> Mapping[str, str]:
        model, words = _model(tools)
        return model.parts(tools.embedder, words)


def _model(tools: Tools) -> "tuple[Grounding | FineTuned, WordTable]":
    model, words = tools.held(load_grounding, tools.option("vg")), word_vectors(tools)
    model.fits(tools.embedder.signature, words)
    return model, words


def word_vectors(tools: Tools) -> WordTable:
    """The vectors that the user gave, or the embedded table of word pieces."""
    given = tools.option("vectors")
    return tools.held(WordVectors.from_file, given) if given else tools.held(pieces)
