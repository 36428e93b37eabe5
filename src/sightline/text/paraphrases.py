"""METEOR's paraphrase table: which phrases may stand for which, in little memory.

A table holds millions of pairs. Only 64-bit hashes of the phrases are kept, sorted by the first phrase, so that
a table of 5.3 million pairs takes some 50 MB instead of gigabytes.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.io.source import Source
from sightline.resources import Resource, shared

Hashes = NDArray[np.int64]
CHUNK = 1 << 22
REMEMBERED = 1000
"""Texts whose paraphrases are kept at hand: references come again and again."""
LONGEST = 16
"""Words of the longest phrase that is looked up; METEOR's own tables stop at seven."""


@dataclass(frozen=True)
class Spans:
    """The stretches of a text by the hash of their words."""

    places: dict[int, list[tuple[int, int]]]
    hashes: Hashes


@dataclass(frozen=True)
class Paraphrased:
    """For each stretch of a text that has paraphrases: where it is, and each paraphrase's hash."""

    start: NDArray[np.int32]
    length: NDArray[np.int32]
    hashes: Hashes


class Paraphrases:
    """Pairs of phrases, each a phrase and its paraphrase, in the order of the table."""

    def __init__(self, resource: Resource, phrases: Hashes, paraphrases: Hashes) -> None:
        order = np.argsort(phrases, kind="stable")
        self.resource = resource
        self._paraphrases = paraphrases[order]
        phrases = phrases[order]
        starts = np.flatnonzero(np.append(True, phrases[1:] != phrases[:-1])[: len(phrases)])
        self._phrases = phrases[starts]
        self._starts = np.append(starts, len(phrases))
        self.of = lru_cache(maxsize=REMEMBERED)(self._of)
        self.spans = lru_cache(maxsize=REMEMBERED)(self._spans)

    def _of(self, words: tuple[str, ...]) -> Paraphrased:
        """The paraphrases of every stretch of a text: by start, then by length, then as in the table."""
        start, length, wanted = _stretches(words)
        place = np.searchsorted(self._phrases, wanted)
        place[place == len(self._phrases)] = 0
        known = self._phrases[place] == wanted if len(self._phrases) else np.zeros(len(wanted), bool)
        start, length, place = start[known], length[known], place[known]
        slices = [self._paraphrases[self._starts[p] : self._starts[p + 1]] for p in place]
        times = [len(found) for found in slices]
        hashes = np.concatenate(slices) if slices else np.zeros(0, np.int64)
        starts, lengths = (np.repeat(side.astype(np.int32), times) for side in (start, length))
        return Paraphrased(starts, lengths, hashes)

    def _spans(self, text: tuple[str, ...]) -> Spans:
        start, length, hashes = _stretches(text)
        places: dict[int, list[tuple[int, int]]] = {}
        for one in zip(hashes.tolist(), start.tolist(), length.tolist(), strict=True):
            places.setdefault(one[0], []).append(one[1:])
        return Spans(places, np.sort(np.array(list(places), np.int64)))

    def matches(self, text: Sequence[str], reference: Sequence[str]) -> list[tuple[int, int, int, int]]:
        """(start, length, start in the text, length in the text) of each pair that both have.

        Like METEOR, first from the reference's phrases to the text's, then the other way; what the table has both
        ways is there twice.
        """
        mine, theirs = tuple(text), tuple(reference)
        there = [(*place, *span) for place, span in self._found(theirs, mine)]
        back = [(*span, *place) for place, span in self._found(mine, theirs)]
        return there + back

    def _found(
        self, said: tuple[str, ...], other: tuple[str, ...]
    ) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Stretches of one text whose paraphrases the other has, with the places of both."""
        told, spans = self.of(said), self.spans(other)
        place = np.searchsorted(spans.hashes, told.hashes)
        place[place == len(spans.hashes)] = 0
        hits = np.flatnonzero(spans.hashes[place] == told.hashes) if len(told.hashes) else ()
        return [
            ((int(told.start[hit]), int(told.length[hit])), span)
            for hit in hits
            for span in spans.places[int(told.hashes[hit])]
        ]


def _hash(phrase: str) -> int:
    return hash(phrase.encode())


def _stretches(words: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64], Hashes]:
    """Start, length and hash of every stretch of words, by start and then by length."""
    found = [
        (start, length, _hash(" ".join(words[start : start + length])))
        for start in range(len(words))
        for length in range(1, min(LONGEST, len(words) - start) + 1)
    ]
    start, length, hashes = np.array(found, np.int64).reshape(-1, 3).T
    return start, length, hashes


@shared
def load_paraphrases(path: str) -> Paraphrases:
    """METEOR's own form: three lines an entry, probability, phrase, paraphrase."""
    resource = Resource.file(Path(path)).ahead()
    sides: tuple[list[Hashes], list[Hashes]] = ([], [])
    count, rest = 0, b""
    try:
        with Source(Path(path)).open() as file:
            while chunk := file.read(CHUNK):
                lines = (rest + chunk).split(b"\n")
                rest = lines.pop()
                for side, kept in enumerate(sides, 1):
                    mine = lines[(side - count) % 3 :: 3]
                    kept.append(np.fromiter(map(hash, mine), np.int64, len(mine)))
                count += len(lines)
    except (OSError, EOFError, zlib.error) as fault:
        raise UsageError(f"{path}: not a paraphrase table ({fault})") from None
    if rest:
        for side, kept in enumerate(sides, 1):
            kept.append(np.array([hash(rest)] if count % 3 == side else [], np.int64))
        count += 1
    if not count or count % 3:
        raise UsageError(
            f"{path}: not a paraphrase table; its {count:,} lines do not come in threes (probability, phrase, "
            "paraphrase)"
        )
    return Paraphrases(resource, *map(np.concatenate, sides))
