"""What an encoder is, and the embedder that sees to it that nothing is encoded twice."""

import hashlib
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.encoders.calibration import Calibration, kept
from sightline.items import Box
from sightline.registry import Registry
from sightline.vision.pictures import Picture

Vectors = NDArray[np.float32]


class Encoder(Protocol):
    """Puts images and texts into one space. Vectors are of unit length; rows do not depend on their neighbours."""

    @property
    def signature(self) -> str: ...
    @property
    def dimensions(self) -> int: ...
    @property
    def calibration(self) -> Calibration:
        """Prompt, range and thetas that it comes with."""
        ...

    def encode_images(self, images: Sequence[Image.Image]) -> Vectors: ...
    def encode_texts(self, texts: Sequence[str]) -> Vectors: ...
    def truncated(self, text: str) -> bool:
        """Whether the text is longer than the encoder reads."""
        ...


@runtime_checkable
class KnowsPictures(Protocol):
    """An encoder that knows pictures by their files, not by what is on them: vectors that were computed before."""

    def encode_regions(self, regions: Sequence[tuple[Picture, Box | None]]) -> Vectors: ...


class VectorStore(Protocol):
    """Where vectors are kept between runs: key to bytes."""

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]: ...
    def put_many(self, pairs: Sequence[tuple[str, bytes]]) -> None: ...


def unit(rows: Vectors) -> Vectors:
    """Rows brought to length one; a zero row stays zero."""
    found: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)
    return found


encoders: Registry[Callable[[str], Encoder]] = Registry("encoder")
"""Factories by name: `clip:NAME-or-PATH` calls the factory `clip` with `NAME-or-PATH`."""


def load_encoder(spec: str) -> Encoder:
    name, _, argument = spec.partition(":")
    return encoders.get(name)(argument)


class Embedder:
    """An encoder with a memory: equal texts and equal regions of equal pictures are encoded once."""

    def __init__(self, encoder: Encoder, store: VectorStore | None = None, batch: int = 64) -> None:
        self.encoder = encoder
        self.calibration = kept(encoder.signature, encoder.calibration)
        """The user's for this encoder, or the one it came with."""
        self.store = store
        self._batch = batch

    @property
    def signature(self) -> str:
        """Which encoder it is, on whatever device: what is trained on its vectors is held against this."""
        return self.encoder.signature

    @property
    def precision(self) -> str:
        """Of its numbers: the same encoder's vectors differ a little with it."""
        resource = getattr(self.encoder, "resource", None)
        return str(resource.precision) if resource is not None else "fp32"

    @property
    def parts(self) -> dict[str, str]:
        """What the signature of a score must name."""
        beside = {} if self.precision == "fp32" else {"precision": self.precision}
        return {"encoder": self.signature, **beside}

    @property
    def calibrated_parts(self) -> dict[str, str]:
        """The same for a score that is made of calibrated cosines: it names their curve too."""
        curve = self.calibration.curve
        return self.parts if curve is None else {**self.parts, "range": curve.digest}

    def texts(self, texts: Sequence[str]) -> Vectors:
        """One row per text."""
        keys = [self._key("text", text) for text in texts]
        by_key = dict(zip(keys, texts, strict=True))
        return self._rows(keys, lambda missing: self.encoder.encode_texts([by_key[key] for key in missing]))

    def regions(self, regions: Sequence[tuple[Picture, Box | None]]) -> Vectors:
        """One row per region; a box of None is the whole picture."""
        keys = [self._key("image", picture.digest, box) for picture, box in regions]
        by_key = dict(zip(keys, regions, strict=True))
        known = self.encoder if isinstance(self.encoder, KnowsPictures) else None
        return self._rows(
            keys,
            lambda missing: (
                known.encode_regions([by_key[key] for key in missing])
                if known
                else self.encoder.encode_images(
                    [picture.crop(box) for picture, box in map(by_key.__getitem__, missing)]
                )
            ),
        )

    def _key(self, *parts: object) -> str:
        text = "\x1f".join(map(str, (self.signature, self.precision, *parts)))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20).hexdigest()

    def _rows(self, keys: Sequence[str], encode: Callable[[Sequence[str]], Vectors]) -> Vectors:
        unique = list(dict.fromkeys(keys))
        width = 4 * self.encoder.dimensions
        found = {
            key: np.frombuffer(row, np.float32)
            for key, row in (self.store.get_many(unique) if self.store else {}).items()
            if len(row) == width
        }
        missing = [key for key in unique if key not in found]
        for start in range(0, len(missing), self._batch):
            chunk = missing[start : start + self._batch]
            rows = encode(chunk)
            found.update(zip(chunk, rows, strict=True))
            if self.store:
                self.store.put_many(
                    [(key, row.astype(np.float32).tobytes()) for key, row in zip(chunk, rows, strict=True)]
                )
        if not keys:
            return np.zeros((0, self.encoder.dimensions), np.float32)
        return np.stack([found[key] for key in keys])
