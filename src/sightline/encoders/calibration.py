"""What stands between an encoder's cosines and a score: a curve onto CLIP's range, and GROOViST's thetas.

An encoder comes with a calibration where one was measured. For any other `sightline calibrate` fits one on stories and
keeps it under the encoder's digest, where every later run with that encoder finds it.
"""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.io.results import told, whole

MATCHING, FOREIGN = 0.30, 0.17
"""Where CLIP ViT-B/32's cosines of captions with their own and with foreign pictures lie on average."""

LOW, HIGH = 0.05, 0.45
"""Between these a curve brings them."""

REFERENCE: Final = ("clip",)
"""Kinds of encoder whose cosines are the reference range themselves: CLIPScore is defined on them as they are."""


@dataclass(frozen=True)
class Curve:
    """A logistic curve, strictly increasing and positive: it moves cosines and never adds ties."""

    low: float
    high: float
    slope: float
    middle: float

    def __call__(self, cosine: NDArray[Any]) -> NDArray[Any]:
        z = self.slope * (np.asarray(cosine, np.float64) - self.middle)
        return self.low + (self.high - self.low) / (1 + np.exp(-z))

    @property
    def digest(self) -> str:
        return hashlib.blake2b(repr(tuple(asdict(self).values())).encode(), digest_size=4).hexdigest()


@dataclass(frozen=True)
class Calibration:
    """Of one encoder."""

    prompt: str = ""
    """What stands before a caption when it is compared with a whole picture (CLIPScore's prompt for CLIP)."""
    curve: Curve | None = None
    """None where the cosines are CLIP's, or nothing was measured: they stay as they are."""
    thetas: Mapping[str, float] = field(default_factory=dict)
    """GROOViST's theta on reference stories, by units (`phrases`, `nouns`): for corpora too small to have one."""
    source: str = "shipped"
    """`shipped` with the encoder, or `calibrated` by the user."""

    def __call__(self, cosine: NDArray[Any]) -> NDArray[Any]:
        """Cosines on CLIP's range."""
        return cosine if self.curve is None else self.curve(cosine)


def fit_curve(matching: NDArray[Any], foreign: NDArray[Any]) -> Curve:
    """The curve that brings the cosines of matching and of foreign pairs to CLIP's means.

    Raises UsageError where matching pairs are no nearer than foreign ones: then nothing was seen.
    """
    from scipy.optimize import least_squares

    spread = float(np.std(np.concatenate([matching, foreign])))
    gap = float(np.mean(matching) - np.mean(foreign))
    if not gap > 0.05 * spread:
        raise UsageError(
            f"captions are no nearer to their own pictures (mean cosine {np.mean(matching):.4f}) than to foreign ones "
            f"({np.mean(foreign):.4f}): this encoder cannot be calibrated on these stories"
        )

    def misses(shape: NDArray[Any]) -> list[float]:
        curve = Curve(LOW, HIGH, shape[0] / gap, float(np.mean(foreign)) + shape[1] * gap)
        return [float(np.mean(curve(matching))) - MATCHING, float(np.mean(curve(foreign))) - FOREIGN]

    slope, middle = least_squares(misses, [1.4, 0.6], bounds=([0.05, -20.0], [200.0, 20.0])).x
    return Curve(LOW, HIGH, float(f"{slope / gap:.6g}"), float(f"{np.mean(foreign) + middle * gap:.6g}"))


class _Kept(msgspec.Struct, kw_only=True, forbid_unknown_fields=False):
    """What a file of calibration holds."""

    encoder: str
    curve: dict[str, float] | None
    thetas: dict[str, float]
    stories: int
    pairs: int
    on: str


def place_of(signature: str) -> Path:
    """Where the calibration of an encoder is kept: `$SIGHTLINE_HOME`, or the user's data folder."""
    home = os.environ.get("SIGHTLINE_HOME")
    share = os.environ.get("XDG_DATA_HOME")
    folder = (
        Path(home) if home else (Path(share) if share else Path.home() / ".local" / "share") / "sightline"
    )
    return folder / "calibrations" / f"{signature.replace('/', '_').replace(':', '_')}.json"


def keep(signature: str, calibration: Calibration, *, stories: int, pairs: int, on: str) -> Path:
    """Write a calibration where later runs look for it; an older one of the same encoder is replaced."""
    place = place_of(signature)
    curve = asdict(calibration.curve) if calibration.curve else None
    kept = _Kept(
        encoder=signature, curve=curve, thetas=dict(calibration.thetas), stories=stories, pairs=pairs, on=on
    )
    with told(place):
        place.parent.mkdir(parents=True, exist_ok=True)
    with whole(place) as file:
        file.write(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")
    return place


def kept(signature: str, own: Calibration) -> Calibration:
    """The calibration that the user made for an encoder; without one, what the encoder came with."""
    place = place_of(signature)
    try:
        found = msgspec.json.decode(place.read_bytes(), type=_Kept)
        if found.encoder != signature:
            raise ValueError(f"it is for {found.encoder}")
        curve = Curve(**found.curve) if found.curve else None
    except FileNotFoundError:
        return own
    except (OSError, TypeError, ValueError, msgspec.DecodeError) as fault:
        raise UsageError(
            f"{place}: no sound calibration ({fault}); run 'sightline calibrate' again, or delete it"
        ) from None
    return Calibration(own.prompt, curve, found.thetas, "calibrated")
