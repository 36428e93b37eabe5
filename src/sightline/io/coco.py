"""COCO captions (Chen et al. 2015): annotation files, and result files with generated captions."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sightline.errors import BadLine
from sightline.io.base import Found, readers
from sightline.io.hl import Axis
from sightline.io.published import Album, Published, built, coco_names, id_in, objects_in
from sightline.io.references import References, is_captions, picture_key
from sightline.io.source import Source

CALLED = {"text": "caption"}


@readers.add("coco")
@dataclass(frozen=True)
class CocoCaptions(Published):
    """COCO captions JSON: one item per caption, with the picture's other captions as references."""

    def recognises(self, source: Source) -> bool:
        return source.kind == "json" and is_captions(source.document)

    def read(self, source: Source) -> Iterator[Found]:
        album, known = self.album(source), References.of_coco(source)
        for where, one in objects_in(source, source.document["annotations"], "annotations"):
            if isinstance(one, BadLine):
                yield one
                continue
            try:
                image, number = id_in(one, "image_id"), id_in(one, "id")
                path = _path(album, known, image)
            except ValueError as fault:
                yield BadLine(where, str(fault))
                continue
            others = known.captions.get(picture_key(image), {}).items()
            references = [text for other, text in others if other != number]
            text = one.get("caption")
            yield built(
                source, where, number, [path], CALLED, text=text, references=references, image_id=image
            )


@readers.add("coco-results")
@dataclass(frozen=True)
class CocoResults(Published):
    """COCO results JSON: generated captions by image_id; references from an annotation file, where given."""

    references: Path | None = None
    """Whatever holds captions by picture: COCO's annotations, HL's or HL Narratives' lines, items, a token file."""
    axis: Axis = "all"
    """Of HL's captions, only those of this axis."""

    def recognises(self, source: Source) -> bool:
        found = source.document if source.kind == "json" else None
        return (
            isinstance(found, list)
            and bool(found)
            and isinstance(found[0], dict)
            and found[0].keys() >= {"image_id", "caption"}
        )

    def read(self, source: Source) -> Iterator[Found]:
        album = self.album(source)
        known = References.read(self.references, self.axis) if self.references else References()
        for where, one in objects_in(source, source.document, "results"):
            if isinstance(one, BadLine):
                yield one
                continue
            try:
                image = id_in(one, "image_id")
                path = _path(album, known, image)
            except ValueError as fault:
                yield BadLine(where, str(fault))
                continue
            text, references = one.get("caption"), list(known.of(image))
            yield built(source, where, image, [path], CALLED, text=text, references=references)


def _path(album: Album, known: References, image: str) -> str:
    """By the file name that the annotations give, or as COCO calls its files."""
    named = known.files.get(picture_key(image))
    return album.find("field 'image_id'", *([named] if named else []), *coco_names(image))
