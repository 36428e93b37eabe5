"""The embedded table of word pieces: a vector for every piece of English, distilled from a sentence model."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sightline.text.wordpiece import WordPiece
from sightline.vision.pocket_network import FOLDER

Floats = NDArray[np.float32]


class Pieces:
    """Pieces of a text and their vectors."""

    def __init__(self) -> None:
        self.tokeniser = WordPiece.from_file(FOLDER / "vocabulary.txt")
        with np.load(FOLDER / "pieces.npz", allow_pickle=False) as stored:
            self._rows, self._scale = stored["rows"], stored["scale"]
        self.width = int(self._rows.shape[1])

    def vectors(self, ids: Sequence[int]) -> Floats:
        """One row per piece."""
        chosen = np.asarray(ids, np.int64)
        found: Floats = self._rows[chosen] * self._scale[chosen, None]
        return found

    def of_text(self, text: str) -> Floats | None:
        """The mean vector of a word or a few words; None where no piece of it is known."""
        ids = [number for number in self.tokeniser.ids(text) if number > 1]
        return self.vectors(ids).mean(axis=0) if ids else None


@cache
def pieces() -> Pieces:
    return Pieces()
