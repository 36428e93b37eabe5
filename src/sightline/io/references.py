"""Reference captions by picture, from whatever file holds them: COCO's annotations, HL's lines, items, a token file."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.errors import BadLine, UsageError
from sightline.io.flickr8k import by_image, is_token_file
from sightline.io.hl import Axis, axes_of
from sightline.io.item_rows import structured
from sightline.io.published import COCO, SUFFIXES, last_parts
from sightline.io.source import Source
from sightline.io.table import TableFile


@dataclass(frozen=True)
class References:
    """The captions of each picture by their ids. A picture of COCO is found by its file's name and by its bare id."""

    captions: dict[str, dict[str, str]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    """Of each picture, where the file says it: the name of its own file."""

    @classmethod
    def read(cls, path: Path, axis: Axis = "all") -> "References":
        """The captions that a file holds; of HL's, those of one axis. A bad line is an error with its place."""
        source = TableFile(path)
        if source.kind == "json" and is_captions(source.document):
            return cls.of_coco(source)
        if is_token_file(source):
            return cls({picture_key(name): texts for name, texts in by_image(source).items()})
        found: dict[str, dict[str, str]] = {}
        seen: set[str] = set()
        for where, row in source.records():
            if isinstance(row, BadLine):
                raise row
            names = ("references", "captions", "images", "narrative", "narratives")
            for key, kind, texts in _of_row(structured(row, names), axis, where):
                seen.add(kind)
                known = found.setdefault(key, {})
                for text in texts:
                    known[str(len(known))] = text
        if not found:
            raise UsageError(f"{path}: no references in it; it needs pictures with their captions")
        if len(seen) > 1:
            raise UsageError(f"{path}: it has captions on {', '.join(sorted(seen))}; choose with axis=NAME")
        return cls(found)

    @classmethod
    def of_coco(cls, source: Source) -> "References":
        """COCO's annotations (captions_val2014.json)."""
        if not is_captions(source.document):
            raise UsageError(f"{source.path}: not a COCO captions file; it has no annotations with captions")
        captions: dict[str, dict[str, str]] = {}
        for number, one in enumerate(source.document["annotations"]):
            if isinstance(one, dict) and isinstance(one.get("caption"), str):
                id = one.get("id", f"caption {number}")
                captions.setdefault(picture_key(str(one.get("image_id"))), {})[str(id)] = one["caption"]
        images = source.document.get("images")
        files = {
            picture_key(str(image["id"])): last_parts(image["file_name"])
            for image in (images if isinstance(images, list) else [])
            if isinstance(image, dict) and "id" in image and isinstance(image.get("file_name"), str)
        }
        return cls(captions, files)

    def of(self, picture: str, *, without: str = "") -> tuple[str, ...]:
        """A picture's captions, less those in the words of a candidate."""
        own = same_words(without)
        known = self.captions.get(picture_key(picture), {}).values()
        return tuple(text for text in known if not without or same_words(text) != own)

    def __contains__(self, picture: str) -> bool:
        return picture_key(picture) in self.captions


def _of_row(row: dict[str, Any], axis: str, where: str) -> Iterator[tuple[str, str, list[str]]]:
    """Pictures of one row, what kind its captions are, and these; nothing where it has none."""
    given = row.get("references")
    name = row.get("file_name")
    if given is None and isinstance(name, str):
        for kind, texts in (axes_of(row, narratives=True) or {}).items():
            if axis in ("all", kind):
                yield picture_key(name), kind, _texts(texts, where)
        return
    images = row.get("images")
    listed = images if isinstance(images, list | tuple) else [images] if images else []
    keys = [picture_key(str(one)) for one in (row.get("id"), row.get("image"), *listed) if one is not None]
    if "references" not in row or not keys:
        raise BadLine(where, "no 'references'" if keys else "no 'id' of a picture")
    for key in dict.fromkeys(keys):
        yield key, "references", _texts(given or [], where)


def _texts(given: Any, where: str) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list | tuple) or not all(isinstance(text, str) for text in texts):
        raise BadLine(where, "its captions are not a list of texts")
    return list(texts)


def picture_key(name: str) -> str:
    """One key for a picture however it is named: by path or address, with or without extension, by COCO's id."""
    last = last_parts(name)
    if found := COCO.fullmatch(last):
        return found[1].lstrip("0") or "0"
    return next((last.removesuffix(suffix) for suffix in SUFFIXES if last.endswith(suffix)), last)


def same_words(text: str) -> str:
    """A caption without the differences that make two copies of it look unlike."""
    return " ".join(re.findall(r"\w+", text.lower()))


def is_captions(found: Any) -> bool:
    """Whether a document is COCO's annotations with captions."""
    annotations = found.get("annotations") if isinstance(found, dict) else None
    first = annotations[0] if isinstance(annotations, list) and annotations else None
    return isinstance(first, dict) and "caption" in first
