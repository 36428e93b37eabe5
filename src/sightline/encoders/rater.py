"""A learned caption rater at run time: an encoder's picture and text vectors to a rating with its interval.

Two forms share one file format. `bilinear` is linear in the picture, in the text and in their outer product, on top
of a curve of their cosine; `network` is VICR's regressor (section 3.3), one or several of them averaged.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import UsageError
from sightline.resources import Resource, embedded

COVERAGE = 0.8
"""Share of single ratings that the interval is to hold."""
CELLS = 6
"""Rows and columns of a picture's fingerprint."""
SAME = 0.2
"""Two fingerprints are of one picture where they differ by no more than this share of its contrast."""
LEAST = 0.5
"""Or by no more than this, of 255, where there is no contrast: plain colours."""
INPUTS = ("image", "text", "product", "difference", "cosine")

Floats = NDArray[np.float32]
Arrays = Mapping[str, NDArray[Any]]


def cosine_curve(cosine: NDArray[Any]) -> NDArray[Any]:
    """1, c, c², c³: what a rating follows before anything is learned of single things."""
    return np.stack([np.ones_like(cosine), cosine, cosine**2, cosine**3], axis=1)


def bilinear(
    i: NDArray[Any], t: NDArray[Any], model: Arrays, read: NDArray[Any] | None = None
) -> NDArray[Any]:
    """r = beta · (1, c, c², c³) + w_i · i + w_t · t + iᵀ W t (+ w_r · read), with c = i · t."""
    c = np.einsum("nd,nd->n", i, t)
    found: NDArray[Any] = (
        cosine_curve(c) @ model["beta"]
        + i @ model["w_i"]
        + t @ model["w_t"]
        + np.einsum("nd,nd->n", i @ model["W"], t)
    )
    return found if read is None else found + read @ model["w_r"]


def standard(read: NDArray[Any], mean: NDArray[Any], spread: NDArray[Any]) -> NDArray[Any]:
    """What was read of pairs, each number around 0 and about one wide; a pair's row is about as long as a vector."""
    found: NDArray[Any] = np.clip((read - mean) / spread, -4, 4) / np.sqrt(read.shape[1])
    return found


def joined(i: NDArray[Any], t: NDArray[Any], inputs: Sequence[str]) -> NDArray[Any]:
    """The chosen inputs of a network side by side; the paper's are image and text."""
    made: dict[str, Callable[[], NDArray[Any]]] = {
        "image": lambda: i,
        "text": lambda: t,
        "product": lambda: i * t,
        "difference": lambda: np.abs(i - t),
        "cosine": lambda: np.einsum("nd,nd->n", i, t)[:, None],
    }
    return np.concatenate([made[name]() for name in inputs], axis=1)


def network(x: NDArray[Any], layers: Sequence[tuple[NDArray[Any], NDArray[Any]]]) -> NDArray[Any]:
    """Dense layers with ReLU between them (dropout is for training only), one number at the end."""
    for number, (weight, bias) in enumerate(layers):
        x = x @ weight.T + bias
        if number + 1 < len(layers):
            x = np.maximum(x, 0)
    found: NDArray[Any] = x[:, 0]
    return found


def layers_of(arrays: Arrays, member: int) -> list[tuple[NDArray[Any], NDArray[Any]]]:
    """Weights and biases of one network of several."""
    count = sum(name.startswith(f"weight_{member}_") for name in arrays)
    return [(arrays[f"weight_{member}_{n}"], arrays[f"bias_{member}_{n}"]) for n in range(count)]


def predicted(
    form: str,
    arrays: Arrays,
    about: Mapping[str, Any],
    images: NDArray[Any],
    texts: NDArray[Any],
    read: NDArray[Any] | None = None,
) -> NDArray[np.float64]:
    """What a model of either form says of each pair of vectors."""
    i, t = np.asarray(images, np.float64), np.asarray(texts, np.float64)
    if form == "bilinear":
        if read is not None:
            read = standard(np.asarray(read, np.float64), arrays["read_mean"], arrays["read_spread"])
        return np.asarray(bilinear(i, t, arrays, read), np.float64)
    x = joined(i, t, about["inputs"])
    members = [network(x, layers_of(arrays, number)) for number in range(int(about["members"]))]
    centre, spread = about["target"]
    return np.asarray(centre + spread * np.mean(members, axis=0), np.float64)


def half_width_at(
    prediction: NDArray[Any], edges: NDArray[Any], half_width: NDArray[Any]
) -> NDArray[np.float64]:
    """The half width of the bin that a prediction falls into; a bin holds its upper edge."""
    return np.asarray(half_width, np.float64)[np.searchsorted(edges, prediction)]


def fingerprint(image: Image.Image) -> NDArray[np.uint8]:
    """Mean colours of a picture's cells: all but the same for a copy in another size or quality."""
    return np.asarray(image.resize((CELLS, CELLS), Image.Resampling.BOX), np.uint8).reshape(-1)


def same_picture(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """[of one, of the other]: whether two fingerprints are of one picture."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    apart = (a**2).mean(axis=1)[:, None] + (b**2).mean(axis=1) - 2 * (a @ b.T) / a.shape[1]
    allowed = np.maximum(SAME * np.minimum(_contrast(a)[:, None], _contrast(b)), LEAST)
    return np.asarray(apart <= allowed**2, np.bool_)


def _contrast(prints: NDArray[np.float64]) -> NDArray[np.float64]:
    """How far a picture's cells lie from its mean colour, on the whole."""
    cells = prints.reshape(len(prints), -1, 3)
    return np.asarray(np.sqrt(cells.var(axis=1).mean(axis=1)), np.float64)


@dataclass(frozen=True)
class Rated:
    """Predicted ratings and the ends of their intervals."""

    rating: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class CaptionRater:
    """Rates pairs of a picture's and a text's vector. `about` says what it learned from, and for which encoder."""

    def __init__(self, path: Path | None = None) -> None:
        self.resource = Resource.file(path) if path else embedded("rater", "rater.npz")
        place = self.resource.files[0][1]
        try:
            with np.load(place, allow_pickle=False) as stored:
                arrays = {
                    name: stored[name].astype(np.float32)
                    if stored[name].dtype == np.float16
                    else stored[name]
                    for name in stored.files
                }
            self.about: dict[str, Any] = json.loads(str(arrays.pop("about")))
            self.arrays = arrays
            self.encoder, self.form = str(self.about["encoder"]), str(self.about["form"])
            self.scale = float(self.about["low"]), float(self.about["high"])
            self._check()
        except (OSError, ValueError, KeyError, TypeError, EOFError) as fault:
            reason = " ".join(str(fault).split())
            raise UsageError(
                f"{place}: not a caption rater ({reason}); sightline train rater makes one"
            ) from None

    @property
    def signature(self) -> str:
        return self.resource.digest

    def _check(self) -> None:
        if self.form == "bilinear":
            shapes = [self.arrays[name].shape for name in ("beta", "w_i", "w_t", "W")]
            width = shapes[1][0]
            if shapes != [(4,), (width,), (width,), (width, width)]:
                raise ValueError("its arrays do not fit together")
            if ("w_r" in self.arrays) != bool(self.together):
                raise ValueError("it does not say what reads for it")
        elif (
            self.form != "network" or not layers_of(self.arrays, 0) or set(self.about["inputs"]) - set(INPUTS)
        ):
            raise ValueError(f"unknown form '{self.form}'")
        if "knots" in self.arrays:
            raise ValueError("an earlier version made it")
        edges, half_width, seen = (self.arrays[name] for name in ("edges", "half_width", "seen"))
        if half_width.shape != (len(edges) + 1,) or seen.shape[1:] != (CELLS * CELLS * 3,):
            raise ValueError("its interval or its list of pictures is broken")

    def fits(self, encoder: str) -> None:
        """Refuse vectors of another encoder: the numbers would mean nothing."""
        if encoder != self.encoder:
            raise UsageError(
                f"this caption rater was trained for {self.encoder}, not for {encoder}; give --rater FILE, "
                f"made with: sightline train rater --encoder …"
            )

    @property
    def together(self) -> str:
        """The network whose reading of the pairs it needs too; empty where it needs none."""
        return str(self.about.get("together", ""))

    def fits_reader(self, reader: str) -> None:
        """Refuse what another network read: the numbers would mean nothing."""
        if reader != self.together:
            raise UsageError(
                f"this caption rater was trained with the reading network {self.together}, not with {reader}; give "
                "--option together=DIR, or --rater FILE, made with: sightline train rater --together …"
            )

    def rate(self, images: NDArray[Any], texts: NDArray[Any], read: NDArray[Any] | None = None) -> Rated:
        """Ratings within the scale; the interval holds a single person's rating four times out of five."""
        raw = self.raw(images, texts, read)
        half = half_width_at(raw, self.arrays["edges"], self.arrays["half_width"])
        low, high = self.scale
        rating, below, above = (np.clip(value, low, high) for value in (raw, raw - half, raw + half))
        return Rated(rating, below, above)

    def raw(
        self, images: NDArray[Any], texts: NDArray[Any], read: NDArray[Any] | None = None
    ) -> NDArray[np.float64]:
        """Predictions before they are kept within the scale."""
        return predicted(self.form, self.arrays, self.about, images, texts, read)

    def seen(self, prints: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Whether the picture of a fingerprint, or a copy of it, is among those it learned from."""
        return np.asarray(same_picture(prints, self.arrays["seen"]).any(axis=1), np.bool_)


def load_rater(path: str | None) -> CaptionRater:
    """The embedded rater, or the one in a file."""
    return CaptionRater(Path(path) if path else None)
