"""COCO's 80 classes in texts: CHAIR's reading of which objects a caption names (Rohrbach et al., EMNLP 2018).

Words are brought to the singular, two words that are one name are taken together, and what a class is called stands in
a list: our own, or a file in the published form (a class a line, its names after it between commas).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from sightline.errors import UsageError
from sightline.resources import Resource

LIST: Final = Path(__file__).parent / "coco_classes.txt"
NO_CLASS: Final = "-"
"""The line of names that are no object though a word of them is one: home plate."""
WORD = re.compile(r"\w+(?:['’]\w+)*")
IRREGULAR: Final = {
    "people": "person", "men": "man", "women": "woman", "children": "child", "mice": "mouse", "geese": "goose",
    "oxen": "ox", "calves": "calf", "knives": "knife", "policemen": "policeman", "firemen": "fireman",
    "policewomen": "policewoman", "gentlemen": "gentleman", "wives": "wife",
}  # fmt: skip
ENDINGS: Final = (("ies", "y"), ("es", ""), ("s", ""))


@dataclass(frozen=True, slots=True)
class NamedObject:
    """A place of a text that names an object."""

    kind: str
    """The class."""
    text: str
    start: int
    end: int


class ObjectNames:
    """What each class is called."""

    def __init__(self, path: str | None = None) -> None:
        place = Path(path) if path else LIST
        self.resource = Resource.file(place, None if path else "embedded")
        self._class: dict[tuple[str, ...], str] = {}
        for number, line in enumerate(_lines(place), 1):
            kind, *names = (name.strip().lower() for name in line.split(","))
            for name in (kind, *names) if kind != NO_CLASS else names:
                words = tuple(name.split())
                known = self._class.setdefault(words, kind)
                if known != kind:
                    raise UsageError(f"{place}:{number}: '{name}' is both {known} and {kind}")
        self.kinds = frozenset(self._class.values()) - {NO_CLASS}
        if not self.kinds:
            raise UsageError(
                f"{place}: no classes in it; write a class a line, its names after it between commas"
            )
        self._longest = max(map(len, self._class))
        self.single = lru_cache(maxsize=100_000)(self._single)

    @property
    def signature(self) -> str:
        return self.resource.digest

    def named(self, text: str) -> list[NamedObject]:
        """Every mention of an object, in order; the longest name at a place holds."""
        found = list(WORD.finditer(text))
        return list(self._mentions(text, found, [match[0].lower() for match in found]))

    def _mentions(
        self, text: str, found: Sequence[re.Match[str]], words: Sequence[str]
    ) -> Iterator[NamedObject]:
        place = 0
        while place < len(words):
            for length in range(min(self._longest, len(words) - place), 0, -1):
                kind = self._kind(words[place : place + length])
                if kind is not None:
                    start, end = found[place].start(), found[place + length - 1].end()
                    if kind != NO_CLASS:
                        yield NamedObject(kind, text[start:end], start, end)
                    place += length
                    break
            else:
                place += 1

    def _kind(self, words: Sequence[str]) -> str | None:
        *before, last = words
        for one in (last, *self.single(last)):
            if (kind := self._class.get((*before, one))) is not None:
                return kind
        return None

    def _single(self, word: str) -> tuple[str, ...]:
        """What the singular of a word may be."""
        word = word.removesuffix("'s").removesuffix("’s")
        if word in IRREGULAR:
            return (IRREGULAR[word],)
        made = (
            word[: -len(end)] + new for end, new in ENDINGS if word.endswith(end) and len(word) > len(end) + 1
        )
        return (word, *made)


def _lines(place: Path) -> list[str]:
    try:
        return [line for line in place.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as fault:
        raise UsageError(f"{place}: cannot be read ({getattr(fault, 'strerror', None) or fault})") from None


def load_object_names(path: str | None) -> ObjectNames:
    """Our list, or the one in a file."""
    return ObjectNames(path)
