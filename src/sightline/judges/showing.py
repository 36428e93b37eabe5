"""Pictures as a judge gets them: upright, no longer than 1,024 pixels, as JPEG where they travel."""

import io
from base64 import b64encode
from functools import lru_cache

from PIL import Image

from sightline.judges.base import Shown

SIDE = 1024
"""Pixels of the longer side at most: servers make tokens of pixels."""
QUALITY = 90


def shown_as(picture: Shown) -> Image.Image:
    """The picture as it is shown; raises Unscorable where there is none."""
    image = picture.load(picture.path).crop()
    if max(image.size) <= SIDE:
        return image
    factor = SIDE / max(image.size)
    width, height = (max(1, round(factor * side)) for side in image.size)
    return image.resize((width, height), Image.Resampling.LANCZOS)


def as_address(picture: Shown) -> str:
    """The picture as an address that holds it."""
    return _address(picture.digest, picture)


@lru_cache(64)
def _address(digest: str, picture: Shown) -> str:
    out = io.BytesIO()
    shown_as(picture).save(out, "JPEG", quality=QUALITY)
    return f"data:image/jpeg;base64,{b64encode(out.getvalue()).decode('ascii')}"
