"""RoViST-VG's two projections at run time: an encoder's region vectors and word vectors into one space."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sightline.encoders.base import Embedder, unit
from sightline.errors import UsageError
from sightline.items import Box
from sightline.resources import Resource, embedded
from sightline.vision.pictures import Picture

Floats = NDArray[np.float32]


class WordTable(Protocol):
    """Vectors of words: the embedded table of pieces, or a file's."""

    width: int
    resource: Resource

    def of_text(self, text: str) -> Floats | None: ...


class Grounding:
    """I_e = tanh(W_i h + b_i) and T_e = tanh(W_t t + b_t), of unit length: their product is the cosine."""

    def __init__(self, path: str | Path | None = None) -> None:
        self.resource = Resource.file(Path(path)) if path else embedded("vg", "vg.npz")
        place = self.resource.files[0][1]
        try:
            with np.load(place, allow_pickle=False) as stored:
                self._W_i, self._b_i, self._W_t, self._b_t = (
                    stored[name].astype(np.float32) for name in ("W_i", "b_i", "W_t", "b_t")
                )
                self.encoder, self.vectors = str(stored["encoder"]), str(stored["vectors"])
        except (OSError, ValueError, KeyError) as fault:
            raise UsageError(
                f"{place}: not a RoViST-VG model ({fault}); sightline train vg makes one"
            ) from None

    @property
    def signature(self) -> str:
        return self.resource.digest

    def fits(self, encoder: str, words: WordTable) -> None:
        """Refuse vectors that these projections were not trained on: they would give numbers without meaning."""
        vectors = words.resource.digest
        if encoder != self.encoder or vectors != self.vectors:
            raise UsageError(
                f"this RoViST-VG model was trained on {self.encoder} with {self.vectors} word vectors, "
                f"not on {encoder} with {vectors}; train one with: sightline train vg"
            )

    def parts(self, embedder: Embedder, words: WordTable) -> dict[str, str]:
        """What a score must name."""
        return {**embedder.parts, "vg": self.signature, "vectors": words.resource.digest}

    def grounded(self, regions: Sequence[tuple[Picture, Box | None]], embedder: Embedder) -> Floats:
        """One row of the joint space per region."""
        return self.regions(embedder.regions(regions))

    def regions(self, rows: Floats) -> Floats:
        return unit(np.tanh(rows @ self._W_i.T + self._b_i))

    def words(self, rows: Floats) -> Floats:
        return unit(np.tanh(rows @ self._W_t.T + self._b_t))
