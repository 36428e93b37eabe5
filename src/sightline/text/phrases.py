"""Mentions: the noun phrases or nouns of stories, as GROOViST and RoViST count them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sightline.text.english import doubt
from sightline.text.language import Language, Parsed, Word

_TAG = re.compile(r"\[(?:(male|female|location|organization)\d*|([a-z]+)\d+)\]", re.IGNORECASE)
"""VIST's [male] and its kin, VWP's [male0], [female1] and any other numbered placeholder."""
NOUNS = ("NOUN", "PROPN")


@dataclass(frozen=True, slots=True)
class Mention:
    """A noun phrase, or a noun, where the story says it."""

    text: str
    """Lower-cased, without the brackets and numbers of [male] and [female1] and the like."""
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
    """A sentence without the brackets and numbers of its anonymised names, and the way back to the original."""

    text: str
    cuts: tuple[tuple[int, int, bool], ...] = ()
    """Places of the bare text before which so many characters are missing; whether they closed a name."""

    @classmethod
    def of(cls, sentence: str) -> "Unbracketed":
        if "[" not in sentence:
            return cls(sentence)
        cuts: list[tuple[int, int, bool]] = []
        missing = 0
        for tag in _TAG.finditer(sentence):
            name = tag.end(tag.lastindex or 0) - tag.start() - 1
            cuts.append((tag.start() - missing, 1, False))
            cuts.append((tag.start() - missing + name, tag.end() - tag.start() - 1 - name, True))
            missing += tag.end() - tag.start() - name
        return cls(_TAG.sub(lambda tag: tag[tag.lastindex or 0], sentence), tuple(cuts))

    def place(self, place: int) -> int:
        """Where a mention that starts or ends here does so in the original: with its brackets, if any."""
        return place + sum(
            count for cut, count, closes in self.cuts if cut < place or (cut == place and closes)
        )


def _story(sentences: Sequence[tuple[Unbracketed, Parsed]], units: str) -> StoryMentions:
    mentions: list[Mention] = []
    count = 0
    notes: dict[str, None] = {}
    for number, (bare, parsed) in enumerate(sentences):
        count += sum(_is_word(word) for word in parsed.words)
        notes.update(dict.fromkeys(parsed.notes))
        mentions.extend(
            Mention(text.lower(), number, bare.place(words[0].start), bare.place(words[-1].end), words)
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
