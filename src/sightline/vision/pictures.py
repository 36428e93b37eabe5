"""Pictures, loaded safely: whatever a file holds, out comes an upright RGB picture or a reason why not.

Sizes. Up to 16 megapixels a picture is decoded in full. A larger one is decoded at 1/2 or 1/4 of its size,
while boxes and `size` stay in its own pixels. Past 178 megapixels (Pillow's own limit against decompression
bombs) it is refused. Large pictures are decoded one at a time; decoded pictures stay within a byte budget.
"""

import contextlib
import hashlib
import io
import stat
import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np
from PIL import Image, UnidentifiedImageError

from sightline.errors import Unscorable
from sightline.items import Box

FULL_PIXELS: Final = 16_000_000
"""Up to here a picture is decoded in full; no encoder looks at more of a region than a few hundred pixels."""
MOST_PIXELS: Final = 178_956_970
MOST_BYTES: Final = 1 << 30
"""Bytes of one picture file."""
BUDGET: Final = 1 << 29
"""Bytes of decoded pictures kept at one time."""
REMEMBERED: Final = 20_000
"""Picture files whose digest and size are remembered."""

# Only formats that Pillow decodes by itself: no Ghostscript (EPS), no readers of container or font files.
Image.init()
FORMATS: Final = tuple(
    name
    for name in ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF", "JPEG2000", "PPM", "MPO")
    if name in Image.OPEN
)

State = tuple[int, int, int]

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


@dataclass(frozen=True)
class Picture:
    """One picture file that is known to decode. Its pixels are fetched when a crop is asked for."""

    path: Path
    digest: str
    """Of the file's content: equal files have equal digests, wherever they lie."""
    size: tuple[int, int]
    """Width and height in the file's own pixels, upright."""
    _home: "Pictures" = field(repr=False, compare=False)

    def crop(self, box: Box | None = None) -> Image.Image:
        """The part inside the box (clipped to the picture), or the whole picture, as RGB."""
        image = self._home.decoded(self)
        if box is None:
            return image
        width, height = image.size
        across, down = width / self.size[0], height / self.size[1]
        x0, x1 = _span(box[0] * across, box[2] * across, width)
        y0, y1 = _span(box[1] * down, box[3] * down, height)
        if x0 >= x1 or y0 >= y1:
            shown = ", ".join(f"{edge:g}" for edge in box)
            size = f"{self.size[0]} x {self.size[1]}"
            raise Unscorable(f"{self.path}: the region [{shown}] lies outside the picture ({size})")
        return image.crop((x0, y0, x1, y1))


def _span(low: float, high: float, limit: int) -> tuple[int, int]:
    """Whole pixels from low to high within 0..limit: at least one where there is any overlap at all."""
    if not (low < high and low < limit and high > 0):  # also where one is not a number
        return 0, 0
    start = min(max(round(low), 0), limit - 1)
    return start, min(max(round(min(high, limit)), start + 1), limit)


class Pictures:
    """Loads pictures, ahead of use where told, and keeps the latest decoded ones within a byte budget."""

    def __init__(self, budget: int = BUDGET, threads: int = 2) -> None:
        self._budget = budget
        self._lock = threading.Lock()
        self._one_large = threading.Lock()
        self._known: OrderedDict[Path, tuple[State, Picture | Unscorable]] = OrderedDict()
        self._decoded: OrderedDict[str, Image.Image] = OrderedDict()
        self._bytes = 0
        self._coming: dict[Path, Future[None]] = {}
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="pictures")

    @property
    def bytes_held(self) -> int:
        return self._bytes

    def load(self, path: Path) -> Picture:
        """The picture at this path; raises Unscorable with the reason where there is none."""
        with self._lock:
            coming = self._coming.get(path)
        if coming is not None:
            coming.result()
        found = self._find(path)
        if isinstance(found, Unscorable):
            raise Unscorable(str(found))
        return found

    def digest(self, path: Path) -> str:
        """Of a file's content, as `load` tells it, without decoding; raises Unscorable where there is none."""
        state = _state(path)
        with self._lock:
            known = self._known.get(path)
        if known is not None and known[0] == state and isinstance(known[1], Picture):
            return known[1].digest
        try:
            return hashlib.blake2b(path.read_bytes(), digest_size=20).hexdigest()
        except OSError as fault:
            raise Unscorable(f"{path}: cannot be read ({fault.strerror or fault})") from None

    def prefetch(self, paths: Iterable[Path]) -> None:
        """Begin to decode these pictures in the background, as far as the byte budget has room."""
        for path in dict.fromkeys(paths):
            with self._lock:
                if path in self._coming or path in self._known:
                    continue
                self._coming[path] = self._threads.submit(self._find_ahead, path)

    def _find_ahead(self, path: Path) -> None:
        try:
            if self._bytes < self._budget // 2:  # the other half is for the pictures in use now
                self._find(path)
        finally:
            with self._lock:
                self._coming.pop(path, None)

    def _find(self, path: Path) -> Picture | Unscorable:
        try:
            state = _state(path)
        except Unscorable as reason:
            return reason
        with self._lock:
            known = self._known.get(path)
        if known is not None and known[0] == state:
            return known[1]
        found = self._read(path)
        with self._lock:
            self._known[path] = (state, found)
            while len(self._known) > REMEMBERED:
                self._known.popitem(last=False)
        return found

    def _read(self, path: Path) -> Picture | Unscorable:
        """Read, digest and decode a file."""
        try:
            data = path.read_bytes()
            image, size = self._decode(path, data)
        except Unscorable as reason:
            return reason
        except OSError as fault:
            return Unscorable(f"{path}: cannot be read ({fault.strerror or fault})")
        digest = hashlib.blake2b(data, digest_size=20).hexdigest()
        self._keep(digest, image)
        return Picture(path, digest, size, self)

    def decoded(self, picture: Picture) -> Image.Image:
        """The picture's pixels; decoded again where they had to give way to others."""
        with self._lock:
            image = self._decoded.get(picture.digest)
            if image is not None:
                self._decoded.move_to_end(picture.digest)
                return image
        try:
            data = picture.path.read_bytes()
        except OSError as fault:
            raise Unscorable(f"{picture.path}: cannot be read any more ({fault.strerror or fault})") from None
        if hashlib.blake2b(data, digest_size=20).hexdigest() != picture.digest:
            raise Unscorable(f"{picture.path}: the file changed while it was being scored")
        image, _ = self._decode(picture.path, data)
        self._keep(picture.digest, image)
        return image

    def _keep(self, digest: str, image: Image.Image) -> None:
        with self._lock:
            if digest not in self._decoded:
                self._decoded[digest] = image
                self._bytes += _bytes(image)
            while self._bytes > self._budget and len(self._decoded) > 1:
                _, old = self._decoded.popitem(last=False)
                self._bytes -= _bytes(old)

    def _decode(self, path: Path, data: bytes) -> tuple[Image.Image, tuple[int, int]]:
        """An upright RGB image, perhaps reduced, and the picture's own upright size."""
        try:
            with Image.open(io.BytesIO(data), formats=FORMATS) as file:
                width, height = file.size
                if width * height > MOST_PIXELS:
                    raise _too_large(path, width * height)
                if file.mode == "F":
                    raise _Refused("its pixels are floating-point numbers; convert it to 8 or 16 bits")
                factor = _factor(width * height)
                with self._one_large if factor > 1 else contextlib.nullcontext():
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


def _state(path: Path) -> State:
    """What tells whether a file is still the same; raises Unscorable where it is none, or empty."""
    try:
        found = path.stat()
    except FileNotFoundError:
        raise Unscorable(f"{path}: there is no such picture") from None
    except (OSError, ValueError) as fault:
        raise Unscorable(f"{path}: cannot be read ({getattr(fault, 'strerror', None) or fault})") from None
    if stat.S_ISDIR(found.st_mode):
        raise Unscorable(f"{path}: a folder, not a picture")
    if not stat.S_ISREG(found.st_mode):
        raise Unscorable(f"{path}: not a file")
    if found.st_size == 0:
        raise Unscorable(f"{path}: the file is empty (0 bytes)")
    if found.st_size > MOST_BYTES:
        raise Unscorable(f"{path}: the file is larger than {MOST_BYTES >> 20} MB")
    return found.st_size, found.st_mtime_ns, found.st_ino


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


def _bytes(image: Image.Image) -> int:
    return image.width * image.height * 4  # Pillow keeps RGB in four bytes
