"""Word vectors from a file in GloVe's text form: a word and its numbers on each line."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import BadLine, UsageError
from sightline.io.source import Source
from sightline.resources import Resource

Floats = NDArray[np.float32]


class WordVectors:
    """Vectors by word. A mention of several words gets their mean (as RoViST-VG does)."""

    def __init__(self, rows: dict[str, Floats], resource: Resource) -> None:
        self._rows = rows
        self.resource = resource
        self.width = len(next(iter(rows.values())))

    @classmethod
    def from_file(cls, path: str | Path) -> "WordVectors":
        resource = Resource.file(Path(path)).ahead()
        rows: dict[str, Floats] = {}
        width = 0
        source = Source(Path(path))
        for number, line in source.lines():
            if isinstance(line, BadLine):
                raise line
            word, *numbers = line.decode("utf-8", "replace").rstrip().split(" ")
            if number == 1 and len(numbers) == 1:
                continue  # word2vec's header: how many words, how many numbers
            width = width or len(numbers)
            if len(numbers) != width:
                raise BadLine(source.where(number), f"{len(numbers)} numbers where {width} are expected")
            try:
                rows[word] = np.array(numbers, np.float32)
            except ValueError:
                raise BadLine(source.where(number), "not a word and its numbers") from None
        if not rows or not width:
            raise UsageError(f"{path}: no word vectors in it")
        return cls(rows, resource)

    def of_text(self, text: str) -> Floats | None:
        """The mean vector of a word or a few words; None where none of them is known."""
        known = [self._rows[word] for word in text.lower().split() if word in self._rows]
        return np.mean(known, axis=0, dtype=np.float32) if known else None
