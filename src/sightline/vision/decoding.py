"""Pictures, decoded safely: whatever a file holds, out comes an upright RGB picture or a reason why not.

Up to 16 megapixels a picture is decoded in full. A larger one is decoded at 1/2 or 1/4 of its size, while boxes and
sizes stay in its own pixels. Past 178 megapixels (Pillow's own limit against decompression bombs) it is refused.
"""

import io
import warnings
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, UnidentifiedImageError

from sightline.errors import Unscorable

FULL_PIXELS: Final = 16_000_000
"""Up to here a picture is decoded in full; no encoder looks at more of a region than a few hundred pixels."""
MOST_PIXELS: Final = 178_956_970

# Only formats that Pillow decodes by itself: no Ghostscript (EPS), no readers of container or font files.
Image.init()
FORMATS: Final = tuple(
    name
    for name in ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "JPEG2000", "PPM", "MPO")
    if name in Image.OPEN
)

ORIENTATION: Final = 0x0112
UPRIGHT: Final = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
LEVEL: Final = (Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.FLIP_TOP_BOTTOM, Image.Transpose.ROTATE_180)
"""Turns that keep width and height."""

# What Pillow warns of (large pictures, odd EXIF tags) has a defined outcome here.
warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)
warnings.filterwarnings("ignore", category=UserWarning, module=r"PIL\.")


def decode(
    path: Path, data: bytes, one_large: AbstractContextManager[object]
) -> tuple[Image.Image, tuple[int, int]]:
    """An upright RGB image, perhaps reduced, and the picture's own upright size; a large one holds `one_large`."""
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as file:
            width, height = file.size
            if width * height > MOST_PIXELS:
                raise _too_large(path, width * height)
            if file.mode == "F":
                raise _Refused("its pixels are floating-point numbers; convert it to 8 or 16 bits")
            factor = _factor(width * height)
            with one_large if factor > 1 else nullcontext():
                image = _reduced(file, factor)
            turn = UPRIGHT.get(_orientation(file))
    except Unscorable:
        raise
    except _Refused as reason:
        raise Unscorable(f"{path}: {reason}") from None
    except UnidentifiedImageError:
        raise Unscorable(f"{path}: not a picture, or of a kind that is not read") from None
    except Image.DecompressionBombError:
        raise _too_large(path) from None
    except MemoryError:
        raise Unscorable(f"{path}: too large for the memory of this machine") from None
    except Exception as fault:  # Pillow's decoders raise almost anything on damaged files
        raise Unscorable(
            f"{path}: damaged picture ({' '.join(str(fault).split()) or type(fault).__name__})"
        ) from None
    if turn is not None:
        image = image.transpose(turn)
        if turn not in LEVEL:
            width, height = height, width
    return image, (width, height)


class _Refused(Exception):  # noqa: N818 - a reason, told in words
    """Why a picture that decodes is not shown all the same."""


def _too_large(path: Path, pixels: int | None = None) -> Unscorable:
    has = "too many" if pixels is None else f"{pixels / 1e6:.0f} million"
    return Unscorable(
        f"{path}: {has} pixels; at most {MOST_PIXELS / 1e6:.0f} million are read. Scale it down first"
    )


def _factor(pixels: int) -> int:
    factor = 1
    while pixels > FULL_PIXELS * factor**2:
        factor *= 2
    return factor


def _reduced(file: Image.Image, factor: int) -> Image.Image:
    """As RGB, at 1/factor of the size. JPEG does this while decoding; others are decoded in full first."""
    width, height = file.size
    if factor > 1:
        file.draft(None, (max(1, width // factor), max(1, height // factor)))
    left = max(1, round(factor * max(file.width / width, file.height / height)))
    image = _rgb(file)
    return image.reduce((min(left, image.width), min(left, image.height))) if left > 1 else image


def _rgb(image: Image.Image) -> Image.Image:
    """As RGB, the first frame of an animation; what shines through is white; 16 bits become 8."""
    if image.mode.startswith("I"):
        image = _eight_bits(image)
    if "transparency" in image.info or image.mode in ("RGBA", "LA", "PA", "RGBa", "La"):
        clear = image.convert("RGBA")
        ground = Image.new("RGBA", clear.size, "white")
        return Image.alpha_composite(ground, clear).convert("RGB")
    return image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    """Grey levels of 16 bits, scaled. A file of 32 bits may hold levels of 8 or of 16: its highest tells."""
    levels = np.asarray(image)
    if image.mode == "I":
        low, high = int(levels.min()), int(levels.max())
        if low < -(1 << 15) or high >= 1 << 16:
            raise _Refused("its pixels are 32-bit numbers; convert it to 8 or 16 bits")
        if high < 1 << 8:
            return Image.fromarray(np.clip(levels, 0, 255).astype(np.uint8))
    return Image.fromarray((np.clip(levels, 0, 65535) >> 8).astype(np.uint8))


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(ORIENTATION, 1))
    except Exception:  # damaged EXIF: the picture is shown as it is stored, as viewers do
        return 1
