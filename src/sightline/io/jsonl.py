"""JSON Lines: one item a line, as in the contract."""

from collections.abc import Iterator
from dataclasses import dataclass

from sightline.io.base import Found, Reader, checked, readers
from sightline.io.source import BadLine, Source


@readers.add("jsonl")
@dataclass(frozen=True)
class JsonLines(Reader):
    """JSON Lines: one item a line with id, images, text or sentences, and optional fields."""

    general = True

    def recognises(self, source: Source) -> bool:
        return source.kind == "jsonl"

    def read(self, source: Source) -> Iterator[Found]:
        for where, found in source.objects():
            yield found if isinstance(found, BadLine) else checked(found, source.folder, where)
