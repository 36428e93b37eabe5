"""Flickr8k (Hodosh et al. 2013): captions as text, and people's judgements of caption and picture pairs."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.items import parse_text
from sightline.io.published import Published, as_number, built
from sightline.io.source import naming
from sightline.io.table import TableFile

CAPTION = re.compile(r"(?P<image>[^#\t]+?\.jpg)(?:\.\d+)?#(?P<number>\d+)")
"""`name.jpg#2`; the captions of one published picture are called `name.jpg.1#2`."""


@readers.add("flickr8k")
@dataclass(frozen=True)
class Flickr8k(Published):
    """Flickr8k text files: captions (token file), ExpertAnnotations or CrowdFlowerAnnotations."""

    captions: Path | None = None
    """The token file, for the files of judgements, which name captions by id only."""

    def recognises(self, source: TableFile) -> bool:
        line = source.head.split(b"\n", 1)[0].decode("utf-8", "replace")
        return source.kind == "tsv" and CAPTION.search(line) is not None

    def read(self, source: TableFile) -> Iterator[Found]:
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
            own = [
                other for number, other in known.get(image, {}).items() if (image, number) != caption.groups()
            ]
            id = f"{image}|{caption['image']}#{caption['number']}"
            try:
                ratings, path = _ratings(row[2:]), album.find("column 1", image)
                yield built(source, where, id, [path], text=text, references=own, ratings=ratings)
            except ValueError as fault:
                yield BadLine(where, str(fault), id)


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


def _ratings(cells: list[str]) -> dict[str, list[float]]:
    """Expert: three ratings 1-4. CrowdFlower: the share of yes, then how many said yes and no."""
    numbers = []
    for column, cell in enumerate(cells, 3):
        with naming(f"column {column}"):
            numbers.append(as_number(cell))
    if all(number in (1, 2, 3, 4) for number in numbers):
        return {"expert": numbers}
    share, yes, no = numbers
    if yes + no > 0 and abs(share - yes / (yes + no)) < 1e-3:
        return {"yes": [share], "votes": [yes, no]}
    raise ValueError("columns 3 to 5: neither three ratings from 1 to 4 nor a share of yes with its votes")
