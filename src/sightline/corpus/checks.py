"""What makes a text a caption, a value a number and a file a picture."""

from pathlib import Path
from typing import Any

from PIL import Image, UnidentifiedImageError

from sightline.io.items import parse_number, parse_text
from sightline.vision.decoding import FORMATS

LONGEST = 20_000
"""Characters of a caption. What is longer is some other text, and would drown the statistics."""


def caption_fault(text: Any) -> str | None:
    """Why a text is no caption; None where it is one."""
    try:
        parse_text(text)
    except ValueError as fault:
        return str(fault)
    if not text.strip():
        return "the caption is empty"
    if len(text) > LONGEST:
        return f"the caption has {len(text):,} characters, more than {LONGEST:,}"
    return None


def checked_number(value: Any) -> float:
    """A number as given; raises ValueError with the reason where it is none."""
    if value is None:
        raise ValueError("null instead of a number")
    return parse_number(value)


def picture_fault(path: Path) -> str | None:
    """Why a file is no picture; None where its header says that it is one. Pixels are not decoded."""
    try:
        with Image.open(path, formats=FORMATS):
            return None
    except UnidentifiedImageError:
        return "not a picture, or of a kind that is not read"
    except Image.DecompressionBombError:
        return "too many pixels; scale it down first"
    except OSError as fault:
        return f"cannot be read ({fault.strerror or 'damaged'})"
    except Exception as fault:  # Pillow's readers raise almost anything on damaged files
        return f"damaged picture ({type(fault).__name__})"
