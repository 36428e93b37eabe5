"""Pictures as they are shown: decoded in full, turned upright, made small, encoded anew."""

import hashlib
import io
from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from sightline.errors import Unscorable, UsageError
from sightline.vision.pictures import Pictures

LARGEST_FILE = 20 * 2**20
LONGEST_SIDE = 1280


@dataclass(frozen=True, slots=True)
class Shown:
    """A picture ready to be served as WebP."""

    sha: str
    width: int
    height: int
    content: bytes


def encode(path: Path, shown_as: str) -> Shown:
    """A picture file, whatever it claims to be, as a clean WebP; or what is wrong with it."""
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise UsageError(f"{shown_as}: the picture has more than {LARGEST_FILE // 2**20} MB")
        picture = Pictures(budget=0, threads=1).load(path).crop().copy()
    except (Unscorable, OSError) as fault:
        reason = str(fault).removeprefix(f"{path}: ") if isinstance(fault, Unscorable) else "cannot be read"
        raise UsageError(f"{shown_as}: {reason}") from None
    picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=86, method=2)
    content = out.getvalue()
    return shown_as_kept(content, picture.width, picture.height)


def shown_as_kept(content: bytes, width: int, height: int) -> Shown:
    """A picture that was encoded before."""
    return Shown(hashlib.sha256(content).hexdigest()[:32], width, height, content)
