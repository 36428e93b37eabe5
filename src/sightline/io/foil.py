"""FOIL: a caption of COCO beside the same with one word exchanged (Shekhar et al. 2017), also as VALSE holds it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Literal

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.published import Album, Published, built, coco_names, last_parts, objects_in
from sightline.io.table import TableFile

CRITERION: Final = "right"
AGREED: Final = 2
"""Of three people; VALSE keeps the pairs where so many chose the caption."""


@readers.add("foil")
@dataclass(frozen=True)
class Foil(Published):
    """FOIL: VALSE's JSON, or foilv1.0_test_2017.json; two items a pair, rated 1 (caption) and 0 (foil)."""

    keep: Literal["agreed", "all"] = "agreed"
    """Of VALSE, only the pairs where two of three people chose the caption."""

    def recognises(self, source: TableFile) -> bool:
        return source.kind == "json" and (is_valse(source.document) or is_foil(source.document))

    def read(self, source: TableFile) -> Iterator[Found]:
        album, document = self.album(source), source.document
        if is_valse(document):
            yield from self._of_valse(source, album)
        elif is_foil(document):
            yield from _of_foil(source, album)
        else:
            raise UsageError(
                f"{source.path}: neither FOIL's annotations nor VALSE's pairs of caption and foil"
            )

    def _of_valse(self, source: TableFile, album: Album) -> Iterator[Found]:
        for name, pair in source.document.items():
            where = f"{source.path}: {name[:80]}"
            if not isinstance(pair, dict) or not isinstance(pair.get("image_file"), str):
                yield BadLine(where, "field 'image_file': is missing", name)
            elif self.keep == "all" or _agreed(pair):
                yield from _two(
                    source, album, where, name, pair["image_file"], pair.get("caption"), pair.get("foil")
                )


def is_valse(document: Any) -> bool:
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    return isinstance(first, dict) and {"image_file", "caption", "foil"} <= first.keys()


def is_foil(document: Any) -> bool:
    found = document.get("annotations") if isinstance(document, dict) else None
    first = found[0] if isinstance(found, list) and found else None
    return isinstance(first, dict) and {"image_id", "caption", "foil"} <= first.keys()


def _agreed(pair: dict[str, Any]) -> bool:
    asked = pair.get("mturk")
    votes = asked.get("caption") if isinstance(asked, dict) else None
    return not isinstance(votes, int) or votes >= AGREED


def _of_foil(source: TableFile, album: Album) -> Iterator[Found]:
    """Each foil beside the caption it was made of: they share picture and id."""
    files: dict[str, str] = {}
    images = source.document.get("images")
    for one in images if isinstance(images, list) else ():
        if isinstance(one, dict) and isinstance(one.get("file_name"), str):
            files[str(one.get("id"))] = one["file_name"]
    captions: dict[tuple[str, str], Any] = {}
    foils: dict[tuple[str, str], list[tuple[str, Any]]] = defaultdict(list)
    for where, row in objects_in(source, source.document["annotations"], "annotations"):
        if isinstance(row, BadLine):
            yield row
            continue
        key = str(row.get("image_id")), str(row.get("id"))
        if row.get("foil") is True:
            foils[key].append((where, row.get("caption")))
        else:
            captions.setdefault(key, row.get("caption"))
    for (image, id), several in foils.items():
        for number, (where, text) in enumerate(several):
            name = f"{image}/{id}.{number}"
            if (image, id) not in captions:
                yield BadLine(where, "the caption that the foil was made of is missing", name)
            else:
                yield from _two(
                    source, album, where, name, files.get(image, image), captions[image, id], text
                )


def _two(
    source: TableFile, album: Album, where: str, name: str, image: str, caption: Any, foil: Any
) -> list[Found]:
    try:
        path = album.find("picture", *coco_names(last_parts(image)))
    except ValueError as fault:
        return [BadLine(where, str(fault), name)]
    return [
        built(source, where, f"{name}#{kind}", [path], text=text, ratings={CRITERION: right}, pair=name)
        for kind, text, right in (("caption", caption, 1.0), ("foil", foil, 0.0))
    ]
