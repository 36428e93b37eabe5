"""A Parquet file of pictures, each with its name: they go to the cache as files, once."""

import os
from pathlib import Path
from typing import Final

from sightline.errors import BadLine, UsageError
from sightline.io.pictures import default_cache
from sightline.io.results import told
from sightline.io.table import TableFile, read_rows

NAMES: Final = ("file", "file_name", "image_id", "id", "name")
"""What the column may be called that names the pictures, the first that is there."""
PICTURES: Final = "image"
WHOLE: Final = ".whole"
"""Marks a folder of the cache that holds all pictures of its file."""


def unpacked(path: Path) -> Path:
    """The folder with the pictures of a file that has a column `image`: bytes, or a structure of bytes and path."""
    table = TableFile(path)
    name = next((name for name in NAMES if name in table.columns), None)
    if table.kind != "parquet" or name is None or PICTURES not in table.columns:
        raise UsageError(
            f"{path}: neither a folder of pictures nor a Parquet file with their names and bytes"
        )
    state = path.stat()
    folder = default_cache() / "pictures" / f"{path.stem}-{state.st_size}-{state.st_mtime_ns}"
    if (folder / WHOLE).is_file():
        return folder
    with told(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for where, row in read_rows(path, [name, PICTURES]):
            called, content = str(row[name]), row[PICTURES]
            content = content.get("bytes") if isinstance(content, dict) else content
            if not isinstance(content, bytes) or not called.strip(".") or set(called) & set("/\\\0"):
                raise BadLine(where, f"'{called[:80]}' is not the name and the bytes of a picture")
            part = folder / f".{called}.{os.getpid()}.part"
            part.write_bytes(content)
            part.replace(folder / f"{called}.webp")
        (folder / WHOLE).touch()
    return folder
