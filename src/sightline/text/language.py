"""The small protocol behind which any spaCy pipeline, or something else, can stand."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Word:
    """One token. `start` and `end` are characters within its sentence."""

    text: str
    lemma: str
    tag: str
    """Universal part of speech: NOUN, PROPN, PRON, VERB, PUNCT, …"""
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Phrase:
    """A noun phrase of a sentence: its words, and its characters within the sentence."""

    text: str
    start: int
    end: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Parsed:
    """A sentence's words and noun phrases (pronouns among them), in order."""

    words: tuple[Word, ...]
    phrases: tuple[Phrase, ...]
    notes: tuple[str, ...] = ()
    """What a reader of the score must know: the text does not look English, it was cut, …"""


@dataclass(frozen=True, slots=True)
class Tree:
    """A sentence's words, each with the word it hangs on and how (Universal Dependencies)."""

    words: tuple[Word, ...]
    heads: tuple[int, ...]
    """Places of the words; a root is its own."""
    labels: tuple[str, ...]
    """`nsubj`, `obl`, …; a root's is `ROOT`."""

    def children(self, place: int) -> list[int]:
        return [one for one, head in enumerate(self.heads) if head == place != one]

    def span(self, place: int) -> tuple[int, int]:
        """First word and end (exclusive) of all that hangs on a word, itself included."""
        below, found = [place], [place]
        while below:
            below = [child for one in below for child in self.children(one)]
            found += below
        return min(found), max(found) + 1


Tagged = tuple[str, str, str]
"""A token's text, lemma and universal part of speech."""


class Language(Protocol):
    """Finds words and noun phrases in sentences."""

    @property
    def signature(self) -> str: ...

    @property
    def stop_words(self) -> frozenset[str]:
        """Words that say little by themselves: the, be, take, …"""
        ...

    def tag(self, sentences: Sequence[str]) -> list[list[Tagged]]:
        """The tokens of each sentence, punctuation among them: quicker than `parse`, which finds phrases too."""
        ...

    def parse(self, sentences: Sequence[str]) -> list[Parsed]:
        """Parse each sentence on its own; the result does not depend on its neighbours."""
        ...
