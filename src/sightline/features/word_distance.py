"""Word vectors of the text and its references, for metrics that compare words by meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import Unscorable, extra
from sightline.features.base import Feature, Features, Tools
from sightline.features.reference import Tokens
from sightline.features.vg import word_vectors
from sightline.text.meteor_words import FUNCTION_WORDS

Floats = NDArray[np.float64]


MOST = 3000
"""Different words of a text: the distances between all of two texts are held at once."""


@dataclass(frozen=True)
class Distances:
    """To each reference."""

    distance: tuple[float, ...]


def movers_distance(
    mine: Sequence[str], theirs: Sequence[str], vectors: Mapping[str, Floats]
) -> float | None:
    """Word Mover's Distance (Kusner et al. 2015): the cheapest way from one text's words to the other's."""
    ot = extra("ot", "wmd")
    a, b = ([word for word in words if word in vectors] for words in (mine, theirs))
    if not a or not b:
        return None
    left, right = sorted(set(a)), sorted(set(b))
    weight_a = np.array([a.count(word) for word in left]) / len(a)
    weight_b = np.array([b.count(word) for word in right]) / len(b)
    x, y = np.stack([vectors[word] for word in left]), np.stack([vectors[word] for word in right])
    cost = np.sqrt(np.maximum((x**2).sum(1)[:, None] + (y**2).sum(1)[None] - 2 * x @ y.T, 0))
    return float(ot.emd2(weight_a, weight_b, cost))


@dataclass(frozen=True)
class WordMovers(Feature[Distances]):
    """How far the text's words are from each reference's, function words left out where others remain."""

    value = Distances

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens("ptb"),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[Distances | Unscorable]:
        words_of = word_vectors(tools)
        known: dict[str, Floats] = {}
        found: list[Distances | Unscorable] = []
        for got in batch:
            value = got[Tokens("ptb")]
            texts = [_content(words) for words in (value.candidate, *value.references)]
            if (most := max(len(set(words)) for words in texts)) > MOST:
                found.append(Unscorable(f"a text of {most:,} different words; at most {MOST:,} are moved"))
                continue
            for word in {word for words in texts for word in words} - known.keys():
                if (found_row := words_of.of_text(word)) is not None:
                    row = found_row.astype(np.float64)
                    known[word] = row / (float(np.linalg.norm(row)) or 1.0)
            distances = [movers_distance(texts[0], words, known) for words in texts[1:]]
            there = tuple(d for d in distances if d is not None)
            found.append(Distances(there) if there else Unscorable("no word of the text has a vector"))
        return found

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"vectors": word_vectors(tools).resource.digest}


def _content(words: Sequence[str]) -> list[str]:
    content = [word for word in words if word not in FUNCTION_WORDS]
    return content or list(words)
