"""Pictures, loaded ahead of use and kept within a byte budget; large ones are decoded one at a time."""

import hashlib
import stat
import threading
from collections import OrderedDict
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from PIL import Image

from sightline.errors import Unscorable
from sightline.items import Box
from sightline.vision.decoding import decode

MOST_BYTES: Final = 1 << 30
"""Bytes of one picture file."""
BUDGET: Final = 1 << 29
"""Bytes of decoded pictures kept at one time."""
REMEMBERED: Final = 20_000
"""Picture files whose digest and size are remembered."""

State = tuple[int, int, int]


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
            image, size = decode(path, data, self._one_large)
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
        image, _ = decode(picture.path, data, self._one_large)
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


def _bytes(image: Image.Image) -> int:
    return image.width * image.height * 4  # Pillow keeps RGB in four bytes
