"""What is to be described: pictures, each with what people said of it, from paths or from a file of items."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from sightline.errors import BadLine, UsageError
from sightline.io.base import Reader, checked, guess, item_file, make_reader
from sightline.io.given import rows_given
from sightline.io.item_rows import ItemRows
from sightline.io.pictures import picture_path
from sightline.io.source import KINDS
from sightline.items import Item
from sightline.vision.decoding import FORMATS

SUFFIXES: Final = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".avif", ".jp2", ".ppm")
CORPORA: Final = ("Hl", "CocoCaptions", "Flickr8k")
"""Readers whose items are people's captions, one each: a picture's captions are its references."""


@dataclass(frozen=True, slots=True)
class Caption:
    """What somebody said of a picture."""

    text: str
    axis: str | None = None
    """What it tells of; None where nothing says so, and it counts for any."""
    confidence: float | None = None


@dataclass
class Subject:
    """One picture, or the pictures of a story, each to be described in a sentence."""

    id: str
    images: tuple[Path, ...]
    captions: list[Caption] = field(default_factory=list)
    source: str = ""

    def told(self, axis: str) -> list[Caption]:
        """The captions of this axis; those of others are left out."""
        return [one for one in self.captions if one.axis in (None, axis)]


Found = Subject | BadLine


def subjects_at(paths: Sequence[str | Path], format: str | None = None) -> Iterator[Found]:
    """Of pictures, folders of pictures, or files of items (`-` is stdin); each picture or id once."""
    named: dict[str, Path] = {}
    for path in map(Path, paths):
        if not _is_items(path, format):
            for picture in _pictures_at(path):
                id = picture.name if named.get(picture.name, picture) == picture else picture.as_posix()
                if named.setdefault(id, picture) is picture:
                    yield Subject(id, (picture,), source=str(picture))
            continue
        yield from _gathered(path, format)


def subjects_given(given: Any, base: Path) -> Iterator[Found]:
    """Of things at hand: pictures in any of the ways that items may have them, items, or rows with `images`."""
    table = hasattr(given, "columns") or hasattr(given, "collect_schema") or hasattr(given, "features")
    things = rows_given(given) if table else given if isinstance(given, list | tuple) else [given]
    for number, one in enumerate(things, 1):
        where = f"picture {number}"
        if isinstance(one, Item):
            yield _subject(one, corpus=False)
        elif isinstance(one, Mapping) and not {"bytes", "path"} & one.keys():
            found = checked(_row(one, number), base, where)
            yield found if isinstance(found, BadLine) else _subject(found, corpus=False)
        else:
            id = Path(one).name if isinstance(one, str | Path) else str(number)
            try:
                yield Subject(id, (picture_path(one, base),), source=where)
            except ValueError as fault:
                yield BadLine(where, str(fault), id)


def _is_items(path: Path, format: str | None) -> bool:
    if format or str(path) == "-":
        return True
    if path.is_dir():
        return any((path / f"metadata.{kind}").is_file() for kind in ("jsonl", "csv", "parquet"))
    suffixes = [one.lower() for one in path.suffixes if one.lower() != ".gz"]
    return bool(suffixes) and suffixes[-1] in KINDS


def _pictures_at(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]  # whether it is there and a picture is told when it is opened
    found = sorted(one for one in path.rglob("*") if one.suffix.lower() in SUFFIXES and one.is_file())
    if not found:
        raise UsageError(f"{path}: no picture in this folder ({', '.join(FORMATS)} are read)")
    return found


def _gathered(path: Path, format: str | None) -> Iterator[Found]:
    """A file's items by picture: captions of a corpus come one by one, other items with their references."""
    source = item_file(path)
    reader = make_reader(format) if format else guess(source)
    found: dict[Any, Subject] = {}
    bad: list[BadLine] = []
    if isinstance(reader, ItemRows):
        rows = enumerate(reader.rows(source), 1)
        items: Iterable[Item | BadLine] = (
            row if isinstance(row, BadLine) else checked(_row(row, number), source.folder, where)
            for number, (where, row) in rows
        )
    else:
        items = reader.read(source)
    corpus = _is_corpus(reader)
    for item in items:
        if isinstance(item, BadLine):
            bad.append(item)
            continue
        if not item.images:
            bad.append(BadLine(item.source, "it has no picture to describe", item.id))
            continue
        one = _subject(item, corpus and not _is_judgement(reader, item))
        known = found.setdefault(item.images if corpus else item.id, one)
        if known is not one and corpus:
            known.captions += one.captions
    if not found:
        raise UsageError(f"{source.path}: no picture in it" + (f"; {bad[0]}" if bad else ""))
    yield from chain(bad, found.values())


def _is_corpus(reader: Reader) -> bool:
    return type(reader).__name__ in CORPORA


def _is_judgement(reader: Reader, item: Item) -> bool:
    """Flickr8k's files of judgements pair pictures with captions of others."""
    return type(reader).__name__ == "Flickr8k" and bool(item.ratings)


def _row(row: Mapping[str, Any], number: int) -> dict[str, Any]:
    """A row in the form of an item, which needs no text here; captions may stand under `captions`, also by axis."""
    text = {} if row.get("text") or row.get("sentences") or row.get("caption") else {"text": ""}
    images = row.get("images") or row.get("image")
    name = Path(images).name if isinstance(images, str) else number
    return {"id": name, **text, **{key: value for key, value in row.items() if value is not None}}


def _subject(item: Item, corpus: bool) -> Subject:
    axis = item.extra.get("axis")
    axis = axis if isinstance(axis, str) and axis.strip() else None
    if corpus:
        confidence = item.ratings.get("confidence")
        mean = sum(confidence) / len(confidence) if confidence else None
        id = str(item.extra.get("image_id") or item.id.rpartition("#")[0] or item.id)
        said = [Caption(item.whole_text, axis or "object", mean)] if item.whole_text.strip() else []
        return Subject(id, item.images, said, item.source)
    said = [Caption(text, axis) for text in item.references if text.strip()]
    listed = item.extra.get("captions")
    by_axis = listed if isinstance(listed, Mapping) else {axis: listed}
    for name, texts in by_axis.items():
        for text in texts if isinstance(texts, list | tuple) else [texts]:
            if isinstance(text, str) and text.strip():
                said.append(Caption(text, name))
    if not said and item.whole_text.strip() and item.system is None and len(item.images) == 1:
        said = [Caption(item.whole_text, axis)]
    return Subject(item.id, item.images, said, item.source)
