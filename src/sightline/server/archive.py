"""A study's zip in a folder of its own, which is gone afterwards."""

import shutil
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from sightline.errors import UsageError

MOST_FILES, MOST_BYTES = 20_000, 300 * 2**20


@contextmanager
def unpacked(archive: IO[bytes]) -> Iterator[Path]:
    """A zip's files in a folder that is gone afterwards; nothing lands outside of it."""
    with tempfile.TemporaryDirectory(prefix="sightline-") as name:
        folder = Path(name)
        try:
            with zipfile.ZipFile(archive) as opened:
                _extract(opened, folder)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as fault:
            raise UsageError(f"the zip cannot be read ({type(fault).__name__})") from None
        yield folder


def _extract(opened: zipfile.ZipFile, folder: Path) -> None:
    members = [info for info in opened.infolist() if not info.is_dir()]
    if len(members) > MOST_FILES or sum(info.file_size for info in members) > MOST_BYTES:
        raise UsageError(f"the zip holds more than {MOST_FILES} files or {MOST_BYTES // 2**20} MB")
    for info in members:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if (
            path.is_absolute()
            or ".." in path.parts
            or ":" in path.parts[0]
            or stat.S_ISLNK(info.external_attr >> 16)
        ):
            raise UsageError("the zip holds a file that would land outside its folder")
        target = folder.joinpath(*path.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with opened.open(info) as source, target.open("wb") as out:
            shutil.copyfileobj(source, out)
