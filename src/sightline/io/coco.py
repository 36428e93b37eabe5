"""COCO captions (Chen et al. 2015): annotation files, and result files with generated captions."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.published import Album, Published, built, id_in, last_parts, objects_in
from sightline.io.source import Source

CALLED = {"text": "caption"}


@readers.add("coco")
@dataclass(frozen=True)
class CocoCaptions(Published):
    """COCO captions JSON: one item per caption, with the picture's other captions as references."""

    def recognises(self, source: Source) -> bool:
        return source.kind == "json" and is_captions(source.document)

    def read(self, source: Source) -> Iterator[Found]:
        album, captions = self.album(source), Captions.of(source)
        for where, one in objects_in(source, source.document["annotations"], "annotations"):
            if isinstance(one, BadLine):
                yield one
                continue
            try:
                image, number = id_in(one, "image_id"), id_in(one, "id")
                path = captions.path(album, image)
            except ValueError as fault:
                yield BadLine(where, str(fault))
                continue
            known = captions.by_image.get(image, {})
            others = [text for other, text in known.items() if other != number]
            text = one.get("caption")
            yield built(source, where, number, [path], CALLED, text=text, references=others, image_id=image)


@readers.add("coco-results")
@dataclass(frozen=True)
class CocoResults(Published):
    """COCO results JSON: generated captions by image_id; references from an annotation file, where given."""

    references: Path | None = None
    """The annotation file (captions_val2014.json)."""

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
        captions = Captions.of(Source(self.references)) if self.references else Captions({}, {})
        for where, one in objects_in(source, source.document, "results"):
            if isinstance(one, BadLine):
                yield one
                continue
            try:
                image = id_in(one, "image_id")
                path = captions.path(album, image)
            except ValueError as fault:
                yield BadLine(where, str(fault))
                continue
            known = list(captions.by_image.get(image, {}).values())
            yield built(source, where, image, [path], CALLED, text=one.get("caption"), references=known)


def is_captions(found: Any) -> bool:
    if (
        not isinstance(found, dict)
        or not isinstance(found.get("annotations"), list)
        or not found["annotations"]
    ):
        return False
    first = found["annotations"][0]
    return isinstance(first, dict) and "caption" in first


@dataclass(frozen=True)
class Captions:
    """The captions of an annotation file by picture and caption id, and the pictures' file names."""

    by_image: dict[str, dict[str, str]]
    files: dict[str, str]

    @classmethod
    def of(cls, source: Source) -> "Captions":
        if not is_captions(source.document):
            raise UsageError(f"{source.path}: not a COCO captions file; it has no annotations with captions")
        captions: dict[str, dict[str, str]] = {}
        for number, one in enumerate(source.document["annotations"]):
            if isinstance(one, dict) and isinstance(one.get("caption"), str):
                id = one.get("id", f"caption {number}")
                captions.setdefault(str(one.get("image_id")), {})[str(id)] = one["caption"]
        images = source.document.get("images")
        files = {
            str(image["id"]): last_parts(image["file_name"])
            for image in (images if isinstance(images, list) else [])
            if isinstance(image, dict) and "id" in image and isinstance(image.get("file_name"), str)
        }
        return cls(captions, files)

    def path(self, album: Album, image: str) -> str:
        """By the file name that the annotations give, or as COCO calls its files."""
        named = [self.files[image]] if image in self.files else []
        padded = image.zfill(12)
        return album.find(
            "field 'image_id'",
            *named,
            padded,
            *(f"COCO_{split}2014_{padded}" for split in ("val", "train")),
            image,
        )
