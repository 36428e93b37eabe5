"""Models that know nothing, for tests of what is around them."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from sightline.encoders import encoders
from sightline.encoders.calibration import Calibration, Curve
from sightline.resources import Resource
from sightline.text.concreteness import Concreteness, RatedWords
from sightline.text.language import Parsed, Phrase, Word


class NoiseEncoder:
    """Every text and image gets a direction of its own, always the same."""

    signature = "noise"
    dimensions = 16
    calibration = Calibration("", Curve(-0.35, 0.35, 2.0, 0.0), {"phrases": 0.6, "nouns": 0.6})

    def encode_images(self, images: Sequence[Image.Image]) -> NDArray[np.float32]:
        return self._rows([image.tobytes() for image in images])

    def encode_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._rows([text.encode() for text in texts])

    def _rows(self, contents: Sequence[bytes]) -> NDArray[np.float32]:
        seeds = [int.from_bytes(hashlib.blake2b(content, digest_size=4).digest()) for content in contents]
        rows = np.stack([np.abs(np.random.default_rng(seed).normal(size=self.dimensions)) for seed in seeds])
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    def truncated(self, text: str) -> bool:
        return False


class LongWords:
    """A language in which every word of five letters or more is a noun phrase."""

    signature = "long-words"

    def parse(self, sentences: Sequence[str]) -> list[Parsed]:
        found = []
        for sentence in sentences:
            words = tuple(
                Word(m.group(), m.group().lower(), "NOUN" if len(m.group()) > 4 else "X", m.start(), m.end())
                for m in re.finditer(r"\w+", sentence)
            )
            nouns = (w for w in words if w.tag == "NOUN")
            found.append(Parsed(words, tuple(Phrase(w.text.lower(), w.start, w.end, (w,)) for w in nouns)))
        return found


@pytest.fixture
def noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder called `noise`, and plain stand-ins for the language and the lexicon."""
    monkeypatch.setitem(encoders._entries, "noise", lambda argument: NoiseEncoder())
    monkeypatch.setattr("sightline.text.spacy_language.load_language", lambda name: LongWords())
    lexicon = Concreteness(RatedWords({}), Resource("none", ()))
    monkeypatch.setattr("sightline.pipeline.settings.load_concreteness", lambda path: lexicon)
