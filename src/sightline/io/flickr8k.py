"""Flickr8k (Hodosh et al. 2013): captions as text, and people's judgements of caption and picture pairs."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.items import parse_text
from sightline.io.judgements import Judged, holds_judgements, judgements, shares_apart
from sightline.io.published import Published, as_number, built
from sightline.io.source import naming
from sightline.io.table import TableFile

CAPTION = re.compile(r"(?P<image>[^#\t]+?\.jpg)(?:\.\d+)?#(?P<number>\d+)")
"""`name.jpg#2`; the captions of one published picture are called `name.jpg.1#2`."""
RATED = "2"
"""Every rated caption is the third of its own picture."""
MATCH = "match"
"""The criterion of all judgements: how well the caption describes the picture."""
ELSEWHERE = "elsewhere"
"""In ids, the picture that a judged caption was written for, where the file does not have it."""
MOST_VOTES = 10_000
ByImage = dict[str, dict[str, str]]
"""For each picture its captions by number."""


@readers.add("flickr8k")
@dataclass(frozen=True)
class Flickr8k(Published):
    """Flickr8k: captions (token file), ExpertAnnotations or CrowdFlowerAnnotations, also as CLIPScore's JSON."""

    captions: Path | None = None
    """The token file, for the files of judgements, which name captions by id only."""
    references: Literal["all", "unrated"] = "all"
    """Of a judged pair: its picture's captions, or only the four that nobody rated."""

    def recognises(self, source: TableFile) -> bool:
        if source.kind == "json":
            return holds_judgements(source, "flickr8k")
        return source.kind == "tsv" and is_token_file(source)

    def read(self, source: TableFile) -> Iterator[Found]:
        if source.kind == "json":
            yield from self._json(source)
            return
        width = next(
            (len(row) for _, row in source.rows("\t", quoted=False) if not isinstance(row, BadLine)), 0
        )
        if width == 2:
            yield from self._captions(source)
        elif width == 5:
            yield from self._judgements(source)
        else:
            raise UsageError(
                f"{source.path}: not a Flickr8k file; its lines have {width} columns, not 2 or 5"
            )

    def _captions(self, source: TableFile) -> Iterator[Found]:
        """Each caption as an item, with the picture's other captions as references."""
        album = self.album(source)
        known = by_image(source)
        for found in _token_file(source):
            if isinstance(found, BadLine):
                yield found
                continue
            where, image, number, text = found
            id = f"{image}#{number}"
            others = [caption for other, caption in known[image].items() if other != number]
            try:
                path = album.find("column 1", image)
                yield built(source, where, id, [path], text=text, references=others)
            except ValueError as fault:
                yield BadLine(where, str(fault), id)

    def _judgements(self, source: TableFile) -> Iterator[Found]:
        """Each judged pair; its references are the picture's own captions, less the judged one."""
        if self.captions is None:
            raise UsageError(
                f"{source.path}: captions are named by id only; give --format flickr8k:captions=FILE"
            )
        album, known = self.album(source), by_image(TableFile(self.captions))
        for where, row in source.rows("\t", quoted=False):
            if isinstance(row, BadLine):
                yield row
                continue
            if len(row) != 5:
                yield BadLine(where, f"{len(row)} columns instead of 5")
                continue
            image, caption = row[0].strip(), CAPTION.fullmatch(row[1].strip())
            text = known.get(caption["image"], {}).get(caption["number"]) if caption else None
            if caption is None or text is None:
                yield BadLine(where, f"column 2: there is no caption '{row[1][:80]}'", row[0])
                continue
            try:
                ratings, path = _ratings(row[2:]), album.find("column 1", image)
            except ValueError as fault:
                yield BadLine(where, str(fault), pair_id(image, caption["image"], caption["number"]))
                continue
            pair = JudgedPair(where, image, path, caption["image"], caption["number"], text, ratings)
            yield self._built(source, pair, known)

    def _built(self, source: TableFile, pair: "JudgedPair", known: ByImage) -> Found:
        """A judged pair as an item; the judged caption is none of its references."""
        references = [
            text
            for number, text in known.get(pair.image, {}).items()
            if (pair.image, number) != (pair.of, pair.number)
            and (self.references == "all" or number != RATED)
        ]
        id, where = pair_id(pair.image, pair.of, pair.number), pair.where
        ratings = {MATCH: pair.ratings}
        return built(source, where, id, [pair.path], text=pair.text, references=references, ratings=ratings)

    def _json(self, source: TableFile) -> Iterator[Found]:
        """Judged pairs of CLIPScore's form, which has the captions' texts; their ids are looked up by these."""
        album = self.album(source)
        found = list(judgements(source))
        if all(isinstance(one, BadLine) or max(one.ratings) <= 1 for one in found):
            found = list(shares_apart(found))
        known = by_image(TableFile(self.captions)) if self.captions else _own_captions(found)
        ids: dict[str, tuple[str, str]] = {}
        for image, captions in known.items():
            for number, text in captions.items():
                if number == RATED or _spaced(text) not in ids:
                    ids[_spaced(text)] = (image, number)
        for one in found:
            if isinstance(one, BadLine):
                yield one
                continue
            of, number = ids.get(_spaced(one.caption), (ELSEWHERE, str(one.place)))
            try:
                path = album.find("field 'image_path'", one.image)
            except ValueError as fault:
                yield BadLine(one.where, str(fault), pair_id(one.image, of, number))
                continue
            pair = JudgedPair(one.where, one.image, path, of, number, one.caption, list(one.ratings))
            yield self._built(source, pair, known)


class JudgedPair(NamedTuple):
    """A picture, and a judged caption with the picture that it was written for."""

    where: str
    image: str
    path: str
    of: str
    number: str
    text: str
    ratings: list[float]


def pair_id(image: str, of: str, number: str) -> str:
    """The id of a judged pair: the picture, and the caption with the picture it was written for."""
    return f"{image}|{of}#{number}"


def is_token_file(source: TableFile) -> bool:
    """Whether the first line names a caption as Flickr8k's text files do."""
    line = source.head.split(b"\n", 1)[0].decode("utf-8", "replace")
    return "\t" in line and CAPTION.search(line) is not None


def _spaced(text: str) -> str:
    return " ".join(text.split())


def _own_captions(found: Iterable[Judged | BadLine]) -> ByImage:
    """The pictures' captions by number, as far as the JSON tells them: where there are four, the rated one is gone."""
    known: ByImage = {}
    for one in found:
        if not isinstance(one, BadLine):
            places = (0, 1, 3, 4) if len(one.truths) == 4 else range(len(one.truths))
            known[one.image] = {str(n): text for n, text in zip(places, one.truths, strict=True)}
    return known


def by_image(source: TableFile) -> dict[str, dict[str, str]]:
    """For each picture its captions by number."""
    known: dict[str, dict[str, str]] = {}
    for found in _token_file(source):
        if not isinstance(found, BadLine):
            _, image, number, text = found
            known.setdefault(image, {})[number] = text
    return known


def _token_file(source: TableFile) -> Iterator[tuple[str, str, str, str] | BadLine]:
    for where, row in source.rows("\t", quoted=False):
        if isinstance(row, BadLine):
            yield row
            continue
        caption = CAPTION.fullmatch(row[0].strip())
        if caption is None or len(row) != 2:
            yield BadLine(where, "not 'image.jpg#number <tab> caption'")
            continue
        try:
            with naming("column 1"):
                image = parse_text(caption["image"])
            with naming("column 2"):
                text = parse_text(row[1])
        except ValueError as fault:
            yield BadLine(where, str(fault))
            continue
        yield where, image, caption["number"], text


def _ratings(cells: list[str]) -> list[float]:
    """Expert: three ratings 1-4. CrowdFlower: a share with how many said yes and no; each yes is a 1, each no a 0."""
    numbers = []
    for column, cell in enumerate(cells, 3):
        with naming(f"column {column}"):
            numbers.append(as_number(cell))
    if all(number in (1, 2, 3, 4) for number in numbers):
        return numbers
    share, yes, no = numbers
    if (
        0 < yes + no < MOST_VOTES
        and abs(share - yes / (yes + no)) < 1e-3
        and yes.is_integer()
        and no.is_integer()
    ):
        return [1.0] * int(yes) + [0.0] * int(no)
    raise ValueError("columns 3 to 5: neither three ratings from 1 to 4 nor a share of yes with its votes")
