"""Pictures as they are shown: decoded in full, turned upright, made small, encoded anew."""

import hashlib
import io
import warnings
from dataclasses import dataclass

from PIL import Image, ImageOps

from sightline.errors import UsageError

LARGEST_FILE = 20 * 2**20
MOST_PIXELS = 50_000_000
LONGEST_SIDE = 1280
FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF")


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture ready to be served as WebP."""

    sha: str
    width: int
    height: int
    content: bytes


def encode(data: bytes, name: str) -> Shown:
    """A picture file, whatever it claims to be, as a clean WebP; or what is wrong with it."""
    if len(data) > LARGEST_FILE:
        raise UsageError(f"{name}: the picture has more than {LARGEST_FILE // 2**20} MB")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
                if opened.width * opened.height > MOST_PIXELS:
                    raise UsageError(
                        f"{name}: the picture has more than {MOST_PIXELS // 10**6} million pixels"
                    )
                opened.draft("RGB", (LONGEST_SIDE, LONGEST_SIDE))
                picture = ImageOps.exif_transpose(opened).convert("RGB")
    except UsageError:
        raise
    except Exception as fault:  # Pillow's readers raise nearly anything on damaged files
        raise UsageError(f"{name}: not a picture that can be read ({type(fault).__name__})") from None
    picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=86, method=2)
    content = out.getvalue()
    return Shown(hashlib.sha256(content).hexdigest()[:32], picture.width, picture.height, content)
