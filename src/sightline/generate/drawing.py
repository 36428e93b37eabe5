"""Drawing the next token at random, the same for every captioner that decodes by itself."""

import hashlib

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.generate.base import Decoding

Floats = NDArray[np.floating]


def chances(logits: Floats, decoding: Decoding) -> NDArray[np.float64]:
    """[row, token]: how likely each token is to be drawn, by the decoding's temperature, top_k and top_p."""
    scaled = np.asarray(logits, np.float64) / decoding.temperature
    order = np.argsort(-scaled, axis=-1, kind="stable")
    ranked = np.take_along_axis(scaled, order, -1)
    ranked = np.exp(ranked - ranked[..., :1])
    if decoding.top_k:
        ranked[..., decoding.top_k :] = 0
    ranked /= ranked.sum(-1, keepdims=True)
    if decoding.top_p < 1:  # the first token stays, and each before which the rest has not been reached
        before = np.cumsum(ranked, -1) - ranked
        ranked[before >= decoding.top_p] = 0
        ranked /= ranked.sum(-1, keepdims=True)
    found = np.empty_like(ranked)
    np.put_along_axis(found, order, ranked, -1)
    return found


def drawn(logits: Floats, decoding: Decoding, rng: np.random.Generator) -> NDArray[np.int64]:
    """A token for each row."""
    steps = np.cumsum(chances(logits, decoding), -1)
    places = rng.random(len(steps))[:, None] * steps[:, -1:]
    found: NDArray[np.int64] = np.minimum((steps <= places).sum(-1), steps.shape[-1] - 1)
    return found


def picture_seed(picture: Image.Image, decoding: Decoding) -> int:
    """Of a picture's draws: by the decoding's seed and the picture's pixels, whatever it is described beside."""
    known = f"{decoding.seed} {picture.size} {picture.mode}".encode()
    return int.from_bytes(hashlib.blake2b(picture.tobytes(), key=known[:64], digest_size=7).digest())
