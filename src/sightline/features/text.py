"""Features of the text alone: its sentences, its phrases or nouns, and how concrete those are."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Tools
from sightline.items import Item
from sightline.text.phrases import Mention, find_mentions
from sightline.text.sentences import sentences_of

Units = Literal["phrases", "nouns"]

CHARACTERS = 1_000_000
"""Of a text that is read sentence by sentence: a novel. Memory is bounded by it."""


@dataclass(frozen=True)
class SentencesValue:
    sentences: tuple[str, ...]

    @property
    def spoken(self) -> tuple[str, ...]:
        """Those that say something."""
        return tuple(sentence for sentence in self.sentences if sentence.strip())


@dataclass(frozen=True)
class Sentences(Feature[SentencesValue]):
    """The sentences of the text; a caption is one sentence."""

    value = SentencesValue

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[SentencesValue | Unscorable]:
        return [self._one(got.item) for got in batch]

    def _one(self, item: Item) -> SentencesValue | Unscorable:
        characters = len(item.whole_text)
        if characters > CHARACTERS:
            return Unscorable(f"the text has {characters:,} characters; at most {CHARACTERS:,} are read")
        found = sentences_of(item)
        return SentencesValue(found) if found else Unscorable("the text is empty")


@dataclass(frozen=True)
class PhrasesValue:
    mentions: tuple[Mention, ...]
    """Every mention, in order; duplicates stand as often as they are said. Bare pronouns are left out."""
    words: int
    """Words of the text without punctuation."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class Phrases(Feature[PhrasesValue]):
    """Noun phrases, or nouns, as the text mentions them."""

    units: Units = "phrases"
    value = PhrasesValue

    def needs(self) -> tuple[Feature[SentencesValue]]:
        return (Sentences(),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[PhrasesValue | Unscorable]:
        stories = [got[Sentences()].sentences for got in batch]
        found = find_mentions(stories, tools.language, self.units)
        return [PhrasesValue(story.mentions, story.words, story.notes) for story in found]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"nlp": tools.language.signature}


@dataclass(frozen=True)
class ConcretenessValue:
    ratings: tuple[float, ...]
    """One for each mention: the mean over its rated words, 1 where none is rated."""


@dataclass(frozen=True)
class PhraseConcreteness(Feature[ConcretenessValue]):
    """How concrete each mention is, 1 (abstract) to 5 (concrete)."""

    units: Units = "phrases"
    value = ConcretenessValue

    def needs(self) -> tuple[Feature[PhrasesValue]]:
        return (Phrases(self.units),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[ConcretenessValue | Unscorable]:
        return [
            ConcretenessValue(
                tuple(tools.concreteness.of_phrase(m.words) for m in got[Phrases(self.units)].mentions)
            )
            for got in batch
        ]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"concreteness": tools.concreteness.signature}
