"""Each sentence and its picture, read together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sightline.encoders.together import Together, load_together
from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Tools
from sightline.features.text import Sentences
from sightline.features.vision import sentence_pairs
from sightline.text.english import doubt


@dataclass(frozen=True)
class ReadingValue:
    """One of each for every sentence and its picture."""

    probability: tuple[float, ...]
    words: tuple[tuple[tuple[int, int, float], ...], ...]
    """Of each sentence its words: characters from and to, and what the probability gains by the word."""
    notes: tuple[str, ...]


@dataclass(frozen=True)
class ReadTogether(Feature[ReadingValue]):
    """How likely each sentence is true of its own picture, and which words speak for it and against it."""

    words: bool = True
    value = ReadingValue
    reads_pictures = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[ReadingValue | Unscorable]:
        reader = reading_network(tools)
        jobs = [sentence_pairs(got, tools, prompt="") for got in batch]
        pairs = [pair for job in jobs if not isinstance(job, Unscorable) for pair in job]
        maps = iter(reader.maps([picture for _, picture in pairs], tools.embedder.store))
        found: list[ReadingValue | Unscorable] = []
        for job in jobs:
            if isinstance(job, Unscorable):
                found.append(job)
                continue
            readings = [reader.read(next(maps), sentence, self.words) for sentence, _ in job]
            notes = [
                f"sentence {number} {note}"
                for number, ((sentence, _), reading) in enumerate(zip(job, readings, strict=True), 1)
                for note in _notes(sentence, reading.known, reading.pieces, reading.cut)
            ]
            found.append(
                ReadingValue(
                    tuple(reading.probability for reading in readings),
                    tuple(tuple((w.start, w.end, w.change) for w in reading.words) for reading in readings),
                    tuple(notes),
                )
            )
        return found

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"together": reading_network(tools).signature}


def _notes(sentence: str, known: int, pieces: int, cut: bool) -> list[str]:
    """What a reader of the score must know of a sentence."""
    if not known:
        return ["has no word that the network knows: its score says nothing"]
    notes = ["was cut to the network's length"] if cut else []
    if known < 0.5 * pieces and not cut:
        notes.append(f"is mostly words that the network does not know ({known} of {pieces} pieces known)")
    if doubt(sentence.split()):
        notes.append("does not look English: its score is unreliable")
    return notes


def reading_network(tools: Tools) -> Together:
    """The embedded one, or the one that was given."""
    return tools.held(load_together, tools.option("together"))
