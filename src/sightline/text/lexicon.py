"""The learned concreteness lexicon: a large vocabulary with ratings, and word pieces for every other word."""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sightline.errors import UsageError

LOWEST, HIGHEST = 1.0, 5.0
STEP = (HIGHEST - LOWEST) / 255
"""Ratings and uncertainties are stored as bytes."""


class WordRating(NamedTuple):
    """A word's concreteness and how far it may be off (one standard deviation)."""

    value: float
    uncertainty: float


class LearnedLexicon:
    """Rates any word that has a letter: from the vocabulary, or else from its pieces."""

    def __init__(
        self,
        words: Mapping[str, WordRating],
        known: frozenset[str],
        pieces: Mapping[str, float],
        spread: float,
        version: str,
    ) -> None:
        self._words = words
        self._known = known
        self._pieces = pieces
        self._spread = spread
        self._longest = max(map(len, pieces), default=0)
        self.version = version

    @classmethod
    def from_file(cls, path: Path) -> "LearnedLexicon":
        try:
            return cls.from_bytes(path.read_bytes())
        except (OSError, ValueError, KeyError) as fault:
            raise UsageError(f"{path}: not a concreteness lexicon ({fault})") from None

    @classmethod
    def from_bytes(cls, data: bytes) -> "LearnedLexicon":
        with np.load(io.BytesIO(data), allow_pickle=False) as table:
            words = bytes(table["words"]).decode().split("\n")
            values, spreads = (LOWEST + table["values"] * STEP).tolist(), (table["spreads"] * STEP).tolist()
            pieces = bytes(table["pieces"]).decode().split("\n")
            ratings = {word: WordRating(v, s) for word, v, s in zip(words, values, spreads, strict=True)}
            by_piece = dict(zip(pieces, table["piece_values"].astype(float).tolist(), strict=True))
            bits = np.unpackbits(table["known"], count=len(words)).astype(bool).tolist()
            known = frozenset(word for word, is_known in zip(words, bits, strict=True) if is_known)
            return cls(ratings, known, by_piece, float(table["spread"]), str(table["version"]))

    def __contains__(self, word: str) -> bool:
        return word in self._words

    def knows(self, word: str) -> bool:
        return word in self._known

    def rate(self, word: str) -> WordRating | None:
        known = self._words.get(word)
        if known is not None or not any(character.isalpha() for character in word):
            return known
        return self.by_pieces(word)

    def by_pieces(self, word: str) -> WordRating:
        """The mean of the word's pieces: greedily the longest known one from the left, as WordPiece cuts."""
        values: list[float] = []
        start = 0
        while start < len(word):
            end = min(len(word), start + self._longest)
            while (
                end > start
                and (piece := word[start:end] if start == 0 else "##" + word[start:end]) not in self._pieces
            ):
                end -= 1
            if end > start:
                values.append(self._pieces[piece])
            start = max(end, start + 1)
        if not values:
            return WordRating((LOWEST + HIGHEST) / 2, (HIGHEST - LOWEST) / 2)
        return WordRating(float(np.clip(sum(values) / len(values), LOWEST, HIGHEST)), self._spread)
