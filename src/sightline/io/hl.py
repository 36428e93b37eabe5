"""HL (Cafagna et al. 2023): pictures with captions of their scene, action and rationale."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from sightline.errors import BadLine
from sightline.io.base import Found, readers
from sightline.io.items import parse_number, parse_text
from sightline.io.published import Published, built, id_in, last_parts
from sightline.io.source import naming
from sightline.io.table import TableFile

Axis = Literal["all", "scene", "action", "rationale", "object", "narrative"]


@dataclass(frozen=True)
class HlPicture:
    """One line: a picture, and whatever stands under each axis."""

    id: str
    image: str
    axes: dict[str, Any]
    line: dict[str, Any]
    where: str


@readers.add("hl")
@dataclass(frozen=True)
class Hl(Published):
    """HL and HL Narratives JSONL: one item per caption (FILE#axis-k), the others of its axis as references."""

    axis: Axis = "all"

    def recognises(self, source: TableFile) -> bool:
        if source.kind != "jsonl":
            return False
        parsed = (found for _, found in source.objects() if not isinstance(found, BadLine))
        return any("file_name" in found and axes_of(found) for found in islice(parsed, 20))

    def read(self, source: TableFile) -> Iterator[Found]:
        for found in self.pictures(source):
            if isinstance(found, BadLine):
                yield found
                continue
            for axis, captions in found.axes.items():
                if self.axis in ("all", axis):
                    yield from self._captions(source, found, axis, captions)

    def pictures(self, source: TableFile) -> Iterator[HlPicture | BadLine]:
        """Line by line, for those who want a picture's captions together; captions are not checked."""
        album = self.album(source)
        for where, found in source.objects():
            if isinstance(found, BadLine):
                yield found
                continue
            name = ""
            try:
                name = id_in(found, "file_name")
                image = album.find("field 'file_name'", last_parts(name))
                axes = axes_of(found, self.axis == "narrative")
                if axes is None:
                    raise ValueError("field 'captions': not an object of axes")
            except ValueError as fault:
                yield BadLine(where, str(fault), name)
                continue
            yield HlPicture(last_parts(name), image, axes, found, where)

    def _captions(self, source: TableFile, found: HlPicture, axis: str, captions: Any) -> Iterator[Found]:
        if not isinstance(captions, list):
            yield BadLine(found.where, f"field 'captions.{axis}': not a list", found.id)
            return
        for number, caption in enumerate(captions):
            id = caption_id(found.id, axis, number)
            place = f"captions.{axis}[{number}]"
            try:
                ratings = _ratings(found.line, axis, number)
            except ValueError as fault:
                yield BadLine(found.where, str(fault), id)
                continue
            others = [text for other, text in enumerate(captions) if other != number and _is_text(text)]
            given = {"text": caption, "references": others, "ratings": ratings, "axis": axis}
            yield built(source, found.where, id, [found.image], {"text": place}, **given)


def axes_of(line: dict[str, Any], narratives: bool = False) -> dict[str, Any] | None:
    """A line's captions by axis, None where it has none. With `narratives`, a mere list of captions is these."""
    captions = line.get("captions")
    axes = dict(captions) if isinstance(captions, dict) else {}
    listed = captions if narratives and isinstance(captions, list) else None
    if given := line.get("narrative") or line.get("narratives") or listed:
        axes["narrative"] = [given] if isinstance(given, str) else given
    return axes if axes or isinstance(captions, dict) else None


def caption_id(picture: str, axis: str, number: int) -> str:
    """The id of a picture's caption on an axis, counted from 0."""
    return f"{picture}#{axis}-{number}"


def _is_text(caption: Any) -> bool:
    try:
        parse_text(caption)
    except ValueError:
        return False
    return True


def _ratings(line: dict[str, Any], axis: str, number: int) -> dict[str, float]:
    """The confidence and purity of one caption, where the line has them."""
    ratings = {}
    for kind in ("confidence", "purity"):
        by_axis = line.get(kind)
        values = by_axis.get(axis) if isinstance(by_axis, dict) else None
        if isinstance(values, list) and number < len(values) and values[number] is not None:
            with naming(f"field '{kind}.{axis}[{number}]'"):
                ratings[kind] = parse_number(values[number])
    return ratings
