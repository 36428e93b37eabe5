"""Word vectors of the text and its references, for metrics that compare words by meaning."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import Unscorable, UsageError, extra
from sightline.features.base import Feature, Features, Tools
from sightline.features.reference import Tokens
from sightline.text.meteor_words import FUNCTION_WORDS

Floats = NDArray[np.float64]


@lru_cache(maxsize=2)
def load_vectors(path: str) -> dict[str, NDArray[np.float32]]:
    """Word vectors in GloVe's text form: a word and its numbers on each line."""
    found: dict[str, NDArray[np.float32]] = {}
    try:
        with Path(path).open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                word, *values = line.rstrip("\n").split(" ")
                if number == 1 and len(values) == 1:
                    continue  # word2vec's header
                found[word] = np.array(values, np.float32)
    except (OSError, UnicodeDecodeError, ValueError) as fault:
        raise UsageError(f"{path}: not a file of word vectors ({fault})") from None
    return found


def vector(word: str, given: str | None) -> Floats | None:
    """A word's vector from the given file, or from the embedded table; None where it is unknown."""
    if given:
        found = load_vectors(given).get(word)
    else:
        from sightline.encoders.pieces import pieces

        found = pieces().of_text(word)
    return None if found is None else found.astype(np.float64)


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
        given = tools.option("vectors")
        known: dict[str, Floats] = {}
        found: list[Distances | Unscorable] = []
        for got in batch:
            value = got[Tokens("ptb")]
            texts = [_content(words) for words in (value.candidate, *value.references)]
            for word in {word for words in texts for word in words} - known.keys():
                if (row := vector(word, given)) is not None:
                    known[word] = row / (float(np.linalg.norm(row)) or 1.0)
            distances = [movers_distance(texts[0], words, known) for words in texts[1:]]
            there = tuple(d for d in distances if d is not None)
            found.append(Distances(there) if there else Unscorable("no word of the text has a vector"))
        return found

    def signature(self, tools: Tools) -> Mapping[str, str]:
        given = tools.option("vectors")
        return {"vectors": Path(given).name if given else "embedded"}


def _content(words: Sequence[str]) -> list[str]:
    content = [word for word in words if word not in FUNCTION_WORDS]
    return content or list(words)
