"""PASCAL-50S as FLEUR and EXPERT hold it: four kinds of pairs of captions, and which one people prefer."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.published import Album, Published, built, id_in, last_parts, objects_in
from sightline.io.table import TableFile

KINDS: Final = ("HC", "HI", "HM", "MM")
"""Two people's right captions, a person's wrong one, a person against a machine, two machines."""
CRITERION: Final = "preference"


@readers.add("pascal-50s")
@dataclass(frozen=True)
class Pascal50s(Published):
    """PASCAL-50S: a JSON object of HC, HI, HM, MM with pairs of captions, a label and references; two items a pair."""

    def recognises(self, source: TableFile) -> bool:
        return source.kind == "json" and _is_pascal(source.document)

    def read(self, source: TableFile) -> Iterator[Found]:
        document = source.document
        if not _is_pascal(document):
            raise UsageError(f"{source.path}: not PASCAL-50S; it has no lists {', '.join(KINDS)}")
        album = self.album(source)
        for kind, pairs in document.items():
            for number, (where, pair) in enumerate(objects_in(source, pairs, kind)):
                if isinstance(pair, BadLine):
                    yield pair
                    continue
                try:
                    yield from _pair(source, album, where, f"{kind}/{number}", pair)
                except ValueError as fault:
                    yield BadLine(where, str(fault), f"{kind}/{number}")


def _is_pascal(document: Any) -> bool:
    return isinstance(document, dict) and bool(document) and set(document) <= set(KINDS)


def _pair(source: TableFile, album: Album, where: str, name: str, pair: dict[str, Any]) -> list[Found]:
    texts, label = pair.get("captions"), pair.get("label")
    if not isinstance(texts, list) or len(texts) != 2:
        raise ValueError("field 'captions': not two captions")
    if label not in (0, 1):
        raise ValueError("field 'label': neither 0 nor 1")
    image = id_in(pair, "image")
    path = album.find("field 'image'", last_parts(image), last_parts(image, 2))
    return [
        built(
            source, where, f"{name}#{place}", [path], text=text, references=pair.get("references"),
            ratings={CRITERION: float(label == place)}, pair=name, kind=name.partition("/")[0],
        )
        for place, text in enumerate(texts)
    ]  # fmt: skip
