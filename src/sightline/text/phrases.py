"""Mentions: the noun phrases or nouns of stories, as GROOViST and RoViST count them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sightline.text.english import doubt
from sightline.text.language import Language, Parsed, Word

_TAG = re.compile(r"\[(male|female|location|organization)\]", re.IGNORECASE)
NOUNS = ("NOUN", "PROPN")


@dataclass(frozen=True, slots=True)
class Mention:
    """A noun phrase, or a noun, where the story says it."""

    text: str
    """Lower-cased, without the brackets of [male] and the like."""
    sentence: int
    start: int
    """First character within the original sentence."""
    end: int
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class StoryMentions:
    mentions: tuple[Mention, ...]
    """In order; bare pronouns are left out, repeated ones stand as often as they are said."""
    words: int
    """Words of the story, punctuation left out."""
    notes: tuple[str, ...] = ()


def find_mentions(
    stories: Sequence[Sequence[str]], language: Language, units: Literal["phrases", "nouns"] = "phrases"
) -> list[StoryMentions]:
    """The mentions of each story; all sentences of all stories are parsed in one go."""
    bare = [Unbracketed.of(sentence) for story in stories for sentence in story]
    parsed = iter(zip(bare, language.parse([p.text for p in bare]), strict=True))
    return [_story([next(parsed) for _ in story], units) for story in stories]


@dataclass(frozen=True, slots=True)
class Unbracketed:
    """A sentence without the brackets of its anonymised names, and the way back to the original."""

    text: str
    cuts: tuple[int, ...] = ()
    """Characters of the bare text before which one bracket of the original is missing."""

    @classmethod
    def of(cls, sentence: str) -> "Unbracketed":
        if "[" not in sentence:
            return cls(sentence)
        brackets = [place for m in _TAG.finditer(sentence) for place in (m.start(), m.end() - 1)]
        text = _TAG.sub(lambda m: m.group(1), sentence)
        return cls(text, tuple(place - k for k, place in enumerate(brackets)))

    def start(self, place: int) -> int:
        """Where a mention that starts here starts in the original: with its opening bracket, if any."""
        return place + self._brackets_before(place)

    def end(self, place: int) -> int:
        """Where a mention that ends here ends in the original: behind its closing bracket, if any."""
        return place + self._brackets_before(place, closing=True)

    def _brackets_before(self, place: int, closing: bool = False) -> int:
        return sum(
            cut < place or (cut == place and (k % 2 == 1) == closing and closing)
            for k, cut in enumerate(self.cuts)
        )


def _story(sentences: Sequence[tuple[Unbracketed, Parsed]], units: str) -> StoryMentions:
    mentions: list[Mention] = []
    count = 0
    notes: dict[str, None] = {}
    for number, (bare, parsed) in enumerate(sentences):
        count += sum(_is_word(word) for word in parsed.words)
        notes.update(dict.fromkeys(parsed.notes))
        mentions.extend(
            Mention(text.lower(), number, bare.start(words[0].start), bare.end(words[-1].end), words)
            for text, words in _units(parsed, units)
        )
    doubts = doubt([word.text for _, parsed in sentences for word in parsed.words])
    return StoryMentions(tuple(mentions), count, (*notes, *doubts))


def _units(parsed: Parsed, units: str) -> list[tuple[str, tuple[Word, ...]]]:
    if units == "nouns":
        return [(word.text, (word,)) for word in parsed.words if word.tag in NOUNS and _is_word(word)]
    return [
        (" ".join(phrase.text.split()), phrase.words)
        for phrase in parsed.phrases
        if any(map(_is_word, phrase.words)) and not (len(phrase.words) == 1 and phrase.words[0].tag == "PRON")
    ]


def _is_word(word: Word) -> bool:
    return any(character.isalnum() for character in word.text)
