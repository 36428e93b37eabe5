"""The embedded table of word pieces: a vector for every piece of English, distilled from a sentence model."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.resources import shared
from sightline.text.wordpiece import WordPiece
from sightline.vision.pocket_network import FOLDER, pocket_files

Floats = NDArray[np.float32]


class Pieces:
    """Pieces of a text and their vectors."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.resource = pocket_files(folder, "pieces.npz", "vocabulary.txt")
        self.tokeniser = WordPiece.from_file(folder / "vocabulary.txt")
        with np.load(folder / "pieces.npz", allow_pickle=False) as stored:
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


@shared
def pieces(folder: Path = FOLDER) -> Pieces:
    """Encoder, grounding and word distances share it."""
    return Pieces(folder)
