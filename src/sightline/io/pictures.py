"""Pictures that come as values become files named by their content, so that all else knows pictures by their path.

A value is a path, an address on the web, bytes of a picture file, a PIL image, an array, or the structure of bytes and
path in which Hugging Face's data sets keep pictures.
"""

import hashlib
import io
import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sightline.io.fetch import Fetcher

if TYPE_CHECKING:
    from PIL import Image

MOST_PIXELS: Final = 178_956_970
"""Pillow's own limit against decompression bombs."""
AS_THEY_ARE: Final = ("1", "L", "LA", "P", "PA", "RGB", "RGBA", "I", "I;16")
"""Modes of PIL that PNG holds, and I, which TIFF does."""
CHANNELS: Final = (1, 3, 4)


def default_cache() -> Path:
    """Where vectors and pictures are kept between runs, unless the user says otherwise."""
    home = os.environ.get("SIGHTLINE_CACHE") or os.environ.get("XDG_CACHE_HOME")
    return Path(home) / "sightline" if home else Path.home() / ".cache" / "sightline"


class PictureFiles:
    """Where pictures without a file of their own are put. The same content is written once."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._passing: tempfile.TemporaryDirectory[str] | None = None
        self.fetcher: Fetcher | None = None
        """Fetches pictures from the web; None where that is not allowed."""

    def keep_in(self, cache: Path | None) -> None:
        """Below the cache from now on, or with None in a folder that goes when the process ends."""
        self._folder = None if cache is None else cache / "pictures" / "values"

    def allow_urls(self, allowed: bool) -> None:
        """Whether pictures may come from the web from now on."""
        self.fetcher = Fetcher(self.keep) if allowed else None

    @contextmanager
    def from_the_web(self, allowed: bool) -> Iterator[None]:
        """Whether pictures may come from the web while a `with` block reads items."""
        before = self.fetcher
        self.allow_urls(allowed)
        try:
            yield
        finally:
            self.fetcher = before

    @property
    def folder(self) -> Path:
        if self._folder is not None:
            return self._folder
        if self._passing is None:
            self._passing = tempfile.TemporaryDirectory(prefix="sightline-pictures-")
        return Path(self._passing.name)

    def keep(self, data: bytes) -> Path:
        """The file with these bytes."""
        name = hashlib.blake2b(data, digest_size=20).hexdigest()
        path = self.folder / name[:2] / name
        if not path.is_file():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                part = path.with_name(f"{name}.{secrets.token_hex(4)}.part")
                part.write_bytes(data)
                part.replace(path)
            except OSError as fault:
                raise ValueError(f"cannot be kept in {path.parent} ({fault.strerror or fault})") from None
        return path


files = PictureFiles()


def picture_path(value: Any, base: Path) -> Path:
    """The file of a picture given in any of the ways above; raises ValueError with the reason where there is none."""
    if isinstance(value, str):
        return _named(value, base)
    if isinstance(value, os.PathLike):
        return base / Path(value)
    if isinstance(value, bytes | bytearray | memoryview):
        return files.keep(_not_empty(bytes(value)))
    if isinstance(value, Mapping):
        if isinstance(value.get("bytes"), bytes | bytearray | memoryview):
            return files.keep(_not_empty(bytes(value["bytes"])))
        if isinstance(value.get("path"), str):
            return _named(value["path"], base)
        raise ValueError("an object instead of a picture: it has neither 'bytes' nor 'path'")
    if hasattr(value, "save") and hasattr(value, "mode"):
        return files.keep(_png(value))
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        return files.keep(_png(_from_array(value)))
    raise ValueError(
        f"a {type(value).__name__} instead of a picture: give a path, bytes, a PIL image or an array"
    )


def _named(path: str, base: Path) -> Path:
    if not path.strip():
        raise ValueError("an image path is empty")
    if "\0" in path:
        raise ValueError("an image path holds a NUL character")
    if path.lower().startswith(("http://", "https://")):
        if files.fetcher is None:
            raise ValueError(
                f"pictures are read from disk; download {path[:200]} first, or allow it with --allow-urls"
            )
        return files.fetcher.path(path)
    return base / path


def _not_empty(data: bytes) -> bytes:
    if not data:
        raise ValueError("a picture has no bytes")
    return data


def _png(image: "Image.Image") -> bytes:
    """A PIL image as a file without loss, its EXIF kept: that says which side is up."""
    if image.width * image.height > MOST_PIXELS:
        raise ValueError(
            f"a picture of {image.width * image.height / 1e6:.0f} million pixels; at most "
            f"{MOST_PIXELS / 1e6:.0f} million are read"
        )
    if image.mode == "F":
        raise ValueError("a picture's pixels are floating-point numbers; convert it to 8 or 16 bits")
    written = io.BytesIO()
    try:
        shown = image if image.mode in AS_THEY_ARE else image.convert("RGB")
        if shown.mode == "I":
            shown.save(written, "TIFF")
        else:
            shown.save(written, "PNG", compress_level=1, exif=image.getexif())
    except Exception as fault:  # Pillow's decoders raise almost anything on damaged pictures
        reason = " ".join(str(fault).split()) or type(fault).__name__
        raise ValueError(f"a damaged picture ({reason})") from None
    return written.getvalue()


def _from_array(value: Any) -> "Image.Image":
    """Height x width (x 1, 3 or 4 channels, also in front): 8-bit numbers, or fractions from 0 to 1."""
    import numpy as np
    from PIL import Image

    levels: np.ndarray[Any, np.dtype[Any]] = np.asarray(value)
    if levels.ndim == 3 and levels.shape[0] in CHANNELS and levels.shape[2] not in CHANNELS:
        levels = np.moveaxis(levels, 0, 2)
    if levels.ndim == 3 and levels.shape[2] == 1:
        levels = levels[:, :, 0]
    if levels.ndim not in (2, 3) or not levels.size or (levels.ndim == 3 and levels.shape[2] not in CHANNELS):
        shape = " x ".join(map(str, levels.shape)) or "no"
        raise ValueError(f"an array of {shape} numbers is no picture: height x width x 3")
    if levels.dtype == bool:
        levels = levels * np.uint8(255)
    elif np.issubdtype(levels.dtype, np.floating):
        if not (np.isfinite(levels).all() and levels.min() >= 0 and levels.max() <= 1):
            raise ValueError("an array of fractions is a picture where all are from 0 to 1")
        levels = np.round(levels * 255).astype(np.uint8)
    elif levels.dtype != np.uint8:
        if not np.issubdtype(levels.dtype, np.integer) or levels.min() < 0 or levels.max() > 255:
            raise ValueError(f"an array of {levels.dtype} is a picture where all are whole, from 0 to 255")
        levels = levels.astype(np.uint8)
    return Image.fromarray(np.ascontiguousarray(levels))
