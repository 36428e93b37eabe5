"""Which regions a text speaks of, as TIGEr asks.

Its own model reads words in context and lets each region attend to them. An encoder that puts a whole text into one
vector has no such words: here a region meets the whole text, or, as a variant, the words encoded one by one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.encoders.base import unit
from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Tools
from sightline.features.vision import Regions
from sightline.text.ptb import tokens

SHARPNESS = 9.0
"""Lambda of SCAN's softmax from regions to words (Lee et al. 2018)."""


@dataclass(frozen=True)
class RelevanceValue:
    text: NDArray[np.float64]
    """For each region of all pictures its calibrated cosine with the text."""
    references: NDArray[np.float64]
    """[reference, region]: the same for each reference."""


@dataclass(frozen=True)
class RegionRelevance(Feature[RelevanceValue]):
    """How well the text, and each reference, matches each region of the pictures."""

    words: Literal["whole", "attended"] = "whole"
    value = RelevanceValue
    reads_pictures = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Regions(),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[RelevanceValue | Unscorable]:
        embed = tools.embedder
        texts = [[got.item.whole_text, *(r for r in got.item.references if r.strip())] for got in batch]
        words = sorted({word for own in texts for text in own for word in self._words(text)})
        vectors = dict(zip(words, embed.texts(words), strict=True)) if words else {}
        found: list[RelevanceValue | Unscorable] = []
        for got, own in zip(batch, texts, strict=True):
            boxes = got[Regions()].boxes
            pictures = [tools.pictures.load(path) for path in got.item.images]
            regions = embed.regions(
                [(picture, box) for picture, of in zip(pictures, boxes, strict=True) for box in of]
            )
            said = [[vectors[word] for word in self._words(text)] for text in own]
            if len(own) == 1:
                found.append(Unscorable("there are no references"))
            elif len(regions) < 2:
                found.append(Unscorable(f"{len(regions)} region: nothing can be ranked"))
            elif not all(said):
                empty = next(n for n, one in enumerate(said) if not one)
                found.append(
                    Unscorable(f"reference {empty} has no words" if empty else "the text has no words")
                )
            else:
                rows = [embed.calibration(attended(regions, np.array(one))) for one in said]
                found.append(RelevanceValue(np.asarray(rows[0], float), np.asarray(rows[1:], float)))
        return found

    def _words(self, text: str) -> list[str]:
        said = tokens(text)
        return said if self.words == "attended" or not said else [text]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return tools.embedder.calibrated_parts


def attended(regions: NDArray[Any], words: NDArray[Any]) -> NDArray[np.float64]:
    """Each region's cosine with the mean of the words, weighted by how much each speaks of it.

    Similarities below 0 count as 0 and are brought to length one over the regions before the softmax, as in SCAN.
    """
    similarity = np.maximum(regions @ words.T, 0).astype(float)
    similarity /= np.maximum(np.linalg.norm(similarity, axis=0), 1e-8)
    weight = np.exp(SHARPNESS * similarity)
    weight /= weight.sum(axis=1, keepdims=True)
    found: NDArray[np.float64] = np.einsum("rd,rd->r", regions, unit((weight @ words).astype(np.float32)))
    return found
