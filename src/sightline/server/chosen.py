"""The files that staff choose for a study in the browser: tables, pictures, folders of them, zips of all that."""

import json
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

import msgspec

from sightline.errors import UsageError
from sightline.people.study import Study
from sightline.server import archive, setup
from sightline.server.pictures import Shown, encode, shown_as_kept
from sightline.server.storage.uploads import Kept

PICTURES = (".jpg", ".jpeg", ".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".heic", ".avif")
TABLES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".parquet")
LARGEST_TABLE = 64 * 2**20
LONGEST_NAME = 300
NO_TEXTS = (
    "choose a file of items too (JSONL or CSV, see 'What an item looks like'): this kind needs their texts"
)
NOTHING = "choose the items: a file (JSONL or CSV) and its pictures"


@dataclass(frozen=True, slots=True)
class Source:
    """A file as it was sent in, under its path within what was chosen."""

    name: str
    content: IO[bytes]


def take(sources: Iterable[Source]) -> list[Kept]:
    """What of the chosen files is worth keeping; a zip counts as what is in it, a picture is encoded anew."""
    found: list[Kept] = []
    for source in sources:
        if source.name.lower().endswith(".zip"):
            with archive.unpacked(source.content) as folder:
                for path in sorted(folder.rglob("*")):
                    if path.is_file():
                        found += _kept(path.relative_to(folder).as_posix(), path)
            continue
        with tempfile.TemporaryDirectory(prefix="sightline-") as name:
            path = Path(name) / "sent"
            path.write_bytes(source.content.read(LARGEST_TABLE + 1))
            found += _kept(source.name, path)
    return found


def _kept(name: str, path: Path) -> list[Kept]:
    """A file to be kept, none where it is neither a table nor a picture (a thumbnail file, a read-me)."""
    name = _tidy(name)
    end = PurePosixPath(name).suffix.lower()
    if any(part.startswith((".", "__MACOSX")) for part in PurePosixPath(name).parts):
        return []
    if end in PICTURES:
        shown = encode(path, name)
        return [Kept(name, shown.content, shown.width, shown.height)]
    if end in TABLES:
        if path.stat().st_size > LARGEST_TABLE:
            raise UsageError(f"{name}: the file has more than {LARGEST_TABLE // 2**20} MB")
        return [Kept(name, path.read_bytes())]
    return []


def _tidy(name: str) -> str:
    """A path that stays where it is put."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..")]
    tidy = "/".join(parts)
    if not tidy or len(tidy) > LONGEST_NAME or not tidy.isprintable() or ":" in parts[0]:
        raise UsageError(f"'{name[:60]}' is no name for a file")
    return tidy


def prepare(study: Study, kept: Sequence[Kept]) -> setup.Prepared:
    """A study from its settings and the files that were chosen for it."""
    if not kept:
        raise UsageError(NOTHING)
    with _folder(kept) as folder:
        if study.assemble is None:
            study = msgspec.structs.replace(study, items=_items_file(study, kept, folder))
        return setup.prepare(study, folder, shown=_shown(kept))


@contextmanager
def _folder(kept: Sequence[Kept]) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sightline-") as name:
        for file in kept:
            path = Path(name) / file.name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
        yield Path(name)


def _items_file(study: Study, kept: Sequence[Kept], folder: Path) -> str:
    """Which of the chosen files holds the items; pictures alone are items where raters write the texts."""
    tables = [file.name for file in kept if not file.is_picture]
    named = [name for name in tables if PurePosixPath(name).stem in ("items", "metadata")]
    if len(named) == 1 or len(tables) == 1:
        return (named or tables)[0]
    if tables:
        raise UsageError(f"choose one file of items; there are {', '.join(sorted(tables)[:5])}")
    if study.kind != "description":
        raise UsageError(NO_TEXTS)
    lines = (json.dumps({"id": PurePosixPath(file.name).stem, "images": [file.name]}) for file in kept)
    (folder / "items.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    return "items.jsonl"


def _shown(kept: Sequence[Kept]) -> Mapping[str, Shown]:
    """Pictures by their path, and by every ending of it that is no other's: files name them as they please."""
    pictures = {
        file.name: shown_as_kept(file.content, file.width, file.height) for file in kept if file.is_picture
    }
    endings: dict[str, list[str]] = {}
    for name in pictures:
        parts = name.split("/")
        for at in range(len(parts)):
            endings.setdefault("/".join(parts[at:]).lower(), []).append(name)
    only = {ending: pictures[names[0]] for ending, names in endings.items() if len(names) == 1}
    return {**only, **pictures}
