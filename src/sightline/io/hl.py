"""HL (Cafagna et al. 2023): pictures with captions of their scene, action and rationale."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

from sightline.io.base import Found, readers
from sightline.io.published import Published, as_text, built, last_parts
from sightline.io.source import BadLine, Source


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
    """HL JSONL: one item per caption (FILE#axis-k); the other captions of its axis are its references."""

    axis: Literal["all", "scene", "action", "rationale", "object"] = "all"

    def recognises(self, source: Source) -> bool:
        if source.kind != "jsonl":
            return False
        parsed = (found for _, found in source.objects() if not isinstance(found, BadLine))
        return any(
            "file_name" in found and isinstance(found.get("captions"), dict) for found in islice(parsed, 20)
        )

    def read(self, source: Source) -> Iterator[Found]:
        for found in self.pictures(source):
            if isinstance(found, BadLine):
                yield found
                continue
            for axis, captions in found.axes.items():
                if self.axis in ("all", axis):
                    yield from self._captions(source, found, axis, captions)

    def pictures(self, source: Source) -> Iterator[HlPicture | BadLine]:
        """Line by line, for those who want a picture's captions together; captions are not checked."""
        album = self.album(source)
        for where, found in source.objects():
            if isinstance(found, BadLine):
                yield found
                continue
            name = ""
            try:
                name = as_text(found.get("file_name"))
                image = album.find(last_parts(name))
                axes = found.get("captions")
                if not isinstance(axes, dict):
                    raise ValueError("field 'captions': not an object of axes")
            except ValueError as fault:
                yield BadLine(where, str(fault), name)
                continue
            yield HlPicture(last_parts(name), image, axes, found, where)

    def _captions(self, source: Source, found: HlPicture, axis: str, captions: Any) -> Iterator[Found]:
        if not isinstance(captions, list):
            yield BadLine(found.where, f"field 'captions.{axis}': not a list", found.id)
            return
        for number, caption in enumerate(captions):
            others = captions[:number] + captions[number + 1 :]
            ratings = {
                kind: values[axis][number]
                for kind in ("confidence", "purity")
                if isinstance(values := found.line.get(kind), dict)
                and isinstance(values.get(axis), list)
                and number < len(values[axis])
            }
            id = f"{found.id}#{axis}-{number}"
            yield built(
                source, found.where, id, [found.image], text=caption, references=others, ratings=ratings,
                axis=axis,
            )  # fmt: skip
