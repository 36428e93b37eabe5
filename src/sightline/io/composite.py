"""Composite (Aditya et al. 2015): captions of Flickr8k, Flickr30k and COCO pictures, rated 1-5."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.items import parse_text
from sightline.io.judgements import holds_judgements, judgements
from sightline.io.published import Album, Published, as_number, built, coco_names, id_in, last_parts
from sightline.io.references import References, picture_key
from sightline.io.source import naming
from sightline.io.table import TableFile

CALLED = {"text": "caption", "ratings": "rating"}
FILE = re.compile(r"(8k|30k|coco)_(correctness|throughness)\.csv(\.gz)?", re.IGNORECASE)
"""The published files; `throughness` is how they write it."""
PARTS = {"8k": "flickr8k", "30k": "flickr30k", "coco": "coco"}
TALLIES = 2
"""Rows at the end of a published file that hold no captions; who followed CLIPScore's advice has deleted them."""


@readers.add("composite")
@dataclass(frozen=True)
class Composite(Published):
    """Composite: its CSV files as published, CLIPScore's JSON, or JSONL (dataset, image, index, caption, rating)."""

    coco: Path | None = None
    """Captions of COCO's pictures, for references: captions_val2014.json, or items."""
    flickr8k: Path | None = None
    """Flickr8k's token file."""
    flickr30k: Path | None = None
    """Flickr30k's token file."""
    own: Literal["keep", "drop"] = "keep"
    """Whether candidates that are among Flickr8k's captions of their picture are dropped, as CLIPScore does."""

    def recognises(self, source: TableFile) -> bool:
        if source.kind == "json":
            return holds_judgements(source, "composite")
        if source.kind == "csv":
            return FILE.fullmatch(source.path.name) is not None
        return source.first_object.keys() >= {"dataset", "image", "caption", "rating"}

    def read(self, source: TableFile) -> Iterator[Found]:
        album = self.album(source)
        if source.kind == "json":
            rows = self._of_json(source)
        elif source.kind == "csv":
            rows = _of_csv(source)
        else:
            rows = _of_lines(source)
        for row in rows:
            if isinstance(row, BadLine):
                yield row
            elif (item := self._item(source, album, row)) is not None:
                yield item

    def _of_json(self, source: TableFile) -> "Iterator[_Row | BadLine]":
        for one in judgements(source):
            if isinstance(one, BadLine):
                yield one
                continue
            image = picture_key(one.image)
            part = "coco" if one.image.startswith("COCO_") else "flickr8k" if "_" in image else "flickr30k"
            for number, value in enumerate(one.ratings):
                index = f"{one.place}.{number}" if number else str(one.place)
                yield _Row(one.where, part, image, index, one.caption, value, one.truths)

    @cached_property
    def known(self) -> dict[str, References]:
        """The references of each part, where a file of them is given."""
        given = {"coco": self.coco, "flickr8k": self.flickr8k, "flickr30k": self.flickr30k}
        return {part: References.read(path) for part, path in given.items() if path is not None}

    def _item(self, source: TableFile, album: Album, row: "_Row") -> Found | None:
        """A candidate as an item; None where it is dropped."""
        id = f"{row.part}/{row.image}#{row.index}"
        if row.rating is None:
            return BadLine(row.where, "field 'rating': is missing", id)
        try:
            names = coco_names(row.image) if row.part == "coco" else (row.image,)
            path = album.find("field 'dataset' or 'image'", *names, f"{row.part}/{row.image}")
        except ValueError as fault:
            return BadLine(row.where, str(fault), id)
        truths = References({picture_key(row.image): {str(n): text for n, text in enumerate(row.truths)}})
        known = truths if row.truths else self.known.get(row.part, References())
        text = row.caption if isinstance(row.caption, str) else ""
        if self.own == "drop" and row.part == "flickr8k" and text in known.of(row.image):
            return None
        references = list(known.of(row.image, without=text)) if text else []
        ratings, about = {row.criterion: row.rating}, {"system": row.part, "references": references}
        return built(source, row.where, id, [path], CALLED, text=row.caption, ratings=ratings, **about)


@dataclass(frozen=True)
class _Row:
    """One candidate, however the file is laid out. The caption and the rating are checked with the item."""

    where: str
    part: str
    image: str
    index: str
    caption: Any
    rating: Any
    truths: tuple[str, ...] = ()
    criterion: str = "correctness"


def _of_lines(source: TableFile) -> Iterator[_Row | BadLine]:
    for where, found in source.objects():
        if isinstance(found, BadLine):
            yield found
            continue
        try:
            part, image, index = (id_in(found, name) for name in ("dataset", "image", "index"))
        except ValueError as fault:
            yield BadLine(where, str(fault))
            continue
        yield _Row(where, part, image, index, found.get("caption"), found.get("rating"))


def _of_csv(source: TableFile) -> Iterator[_Row | BadLine]:
    """The candidates of a published file: in its fourth column an address, the captions and then their ratings."""
    named = FILE.fullmatch(source.path.name)
    if named is None:
        raise UsageError(
            f"{source.path}: Composite's files are called 8k_correctness.csv, coco_throughness.csv …"
        )
    kind, criterion = named[1].lower(), named[2].lower()
    rows = list(source.rows())[1:]
    for _ in range(TALLIES):
        if rows and not _has_address(rows[-1][1]):
            rows.pop()
    for where, row in rows:
        if isinstance(row, BadLine):
            yield row
            continue
        try:
            yield from _candidates(where, row, kind, criterion)
        except ValueError as fault:
            yield BadLine(where, str(fault))


def _has_address(row: list[str] | BadLine) -> bool:
    return not isinstance(row, BadLine) and len(row) > 3 and "http" in row[3]


def _candidates(where: str, row: list[str], kind: str, criterion: str) -> list[_Row]:
    count = 3 if kind == "8k" else 4
    cell = row[3] if len(row) > 3 else ""
    address, *cells = cell[max(cell.find("http"), 0) :].split(";")
    if "http" not in address or len(cells) < 2 * count:
        raise ValueError(f"column 4: not an address, {count} captions and {count} ratings between semicolons")
    name = last_parts(address)
    image = picture_key(name) if kind == "coco" else name.split(".")[0]
    found = []
    for place, (caption, value) in enumerate(zip(cells[:count], cells[count : 2 * count], strict=True)):
        with naming(f"column 4, caption {place + 1}"):
            rating = as_number(value)
            parse_text(caption)
        found.append(_Row(where, PARTS[kind], image, str(place), caption, rating, (), criterion))
    return found
