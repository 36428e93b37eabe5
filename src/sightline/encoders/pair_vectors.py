"""Vectors of whole pairs from a file: what a fusion model (ViLBERT, say) made of each picture and its text together.

An `.npz` with `ids` (one for each pair) and either `pair` (one vector a pair) or `image` and `text` (two of them).
"""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.resources import Resource

Vectors = NDArray[np.float32]


class PairVectors:
    """Rows by the id of the item. A single vector a pair stands as its picture's, beside a text's of no width."""

    def __init__(self, path: str | Path) -> None:
        self.resource = Resource.file(Path(path))
        try:
            with np.load(Path(path), allow_pickle=False) as stored:
                ids = [str(id) for id in stored["ids"].reshape(-1).tolist()]
                image = np.asarray(stored["pair" if "pair" in stored.files else "image"], np.float32)
                text = np.asarray(
                    stored["text"] if "text" in stored.files and "pair" not in stored.files else image[:, :0],
                    np.float32,
                )
        except (OSError, ValueError, KeyError, EOFError, IndexError) as fault:
            reason = " ".join(str(fault).split())
            raise UsageError(
                f"{path}: no vectors of pairs ({reason}); it should hold ids with image and text, or with pair"
            ) from None
        if image.ndim != 2 or text.ndim != 2 or not len(ids) == len(image) == len(text):
            raise UsageError(
                f"{path}: {len(ids)} ids for vectors of the shapes {image.shape} and {text.shape}: one row for each id"
            )
        bad = np.flatnonzero(~(np.isfinite(image).all(axis=1) & np.isfinite(text).all(axis=1)))
        if len(bad):
            raise UsageError(f"{path}: the vector of '{ids[bad[0]]}' is not finite")
        self._rows = {id: number for number, id in enumerate(ids)}
        if len(self._rows) < len(ids):
            twin = next(id for number, id in enumerate(ids) if self._rows[id] != number)
            raise UsageError(f"{path}: two rows are called '{twin}'")
        self._image, self._text = image, text

    @property
    def signature(self) -> str:
        """Of the kind of vectors: a rater fits any file of the same widths, and scores name the file's content."""
        return f"pairs:{self._image.shape[1]}+{self._text.shape[1]}"

    def __contains__(self, id: str) -> bool:
        return id in self._rows

    def of(self, ids: list[str]) -> tuple[Vectors, Vectors]:
        """A row of each for every id; raises KeyError with an id that has none."""
        rows = [self._rows[id] for id in ids]
        return self._image[rows], self._text[rows]
