"""Whether a narrative still says what its sources say, by what the scene graph finds in them."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Final, Protocol

from sightline.text.language import Parsed
from sightline.text.scene_graph import facts

HALF: Final = 0.5
"""Of a source's words: a narrative that has fewer has lost it."""
CARRIERS: Final = frozenset(
    "picture photo photograph image pic shot scene be do have take shoot click capture it he she they this that "
    "subject person people man woman someone somebody one".split()
)
"""What carries a statement and says nothing of the picture: `the picture is taken`, `the subject is doing it`."""
CONTENT: Final = ("NOUN", "PROPN", "VERB", "ADJ", "NUM")


class Parsing(Protocol):
    def parse(self, sentences: Sequence[str]) -> list[Parsed]: ...


@dataclass(frozen=True)
class Sources:
    """What was said of one picture on HL's three axes."""

    scene: str
    action: str
    rationale: str

    def told(self) -> dict[str, str]:
        return asdict(self)


def lost(given: Sequence[Sources], texts: Sequence[str], language: Parsing) -> Iterator[tuple[str, ...]]:
    """For each narrative the axes that it lost: fewer than half of what they say is in it."""
    parsed = iter(language.parse([text for one, narrative in zip(given, texts, strict=True) for text in (
        *one.told().values(), narrative)]))  # fmt: skip
    for one in given:
        said = {axis: _said(next(parsed)) for axis in one.told()}
        narrative = _said(next(parsed), everything=True)
        yield tuple(axis for axis, words in said.items() if words and _share(words, narrative) < HALF)


def _share(words: set[str], narrative: set[str]) -> float:
    return len(words & narrative) / len(words)


def _said(parsed: Parsed, everything: bool = False) -> set[str]:
    """The words of a sentence's objects, attributes, relations and acts, as lemmas.

    An act without an object is none to the scene graph (`he is skating`) and counts here.
    """
    words = {part for fact in facts(parsed) for part in fact}
    words |= {word.lemma.lower() for word in parsed.words if word.tag in CONTENT}
    if everything:
        return (
            words
            | {word.lemma.lower() for word in parsed.words}
            | {word.text.lower() for word in parsed.words}
        )
    tags = {word.lemma.lower(): word.tag for word in parsed.words}
    return {word for word in words if word not in CARRIERS and tags.get(word) != "ADP"}
