"""Word n-grams of many texts at once, as numbers: what BLEU and CIDEr count.

An n-gram's key is a 64-bit hash of its words, so keys of any batch, run and process agree. That any
two of ten million n-grams share a key has a chance of about one in four hundred thousand.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import chain

import numpy as np
from numpy.typing import NDArray

ORDERS = 4
Keys = NDArray[np.uint64]
Ints = NDArray[np.int64]
Small = NDArray[np.int32]
Floats = NDArray[np.float64]
_FACTOR = np.uint64(0x9E3779B97F4A7C15)


class _WordKeys(dict[str, int]):
    """Each word's own key, made when first asked for."""

    def __missing__(self, word: str) -> int:
        if len(self) >= 1_000_000:
            self.clear()
        digest = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        self[word] = key = int.from_bytes(digest, "little")
        return key


_word_keys = _WordKeys()


@dataclass(frozen=True)
class Texts:
    """Many tokenised texts: the keys of all their words in one array, and how many each has."""

    words: Keys
    lengths: Ints

    @classmethod
    def of(cls, texts: Sequence[Sequence[str]]) -> "Texts":
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        words = np.fromiter(
            map(_word_keys.__getitem__, chain.from_iterable(texts)), np.uint64, int(lengths.sum())
        )
        return cls(words, lengths)

    def ngrams(self) -> Iterable[tuple[Keys, Ints]]:
        """For n = 1, 2, 3, 4: every n-gram's key, and the number of the text it stands in."""
        text = np.repeat(np.arange(len(self.lengths)), self.lengths)
        left = np.repeat(np.cumsum(self.lengths), self.lengths) - np.arange(
            len(text)
        )  # words to the text's end
        keys, here = self.words, np.arange(len(text))
        for n in range(1, ORDERS + 1):
            if n > 1:
                within = left[here] >= n
                keys, here = keys[within], here[within]
                keys = keys * _FACTOR + self.words[here + n - 1]
            yield keys, text[here]


def totals(place: Ints | Small, weights: Floats, size: int) -> Floats:
    """Sum of the weights at each place."""
    return np.bincount(place, weights, size).astype(
        np.float64, copy=False
    )  # whole numbers where there is nothing


@dataclass(frozen=True)
class Counts:
    """How often each text has each n-gram of one order, by text and then by the n-gram's number."""

    text: Small
    key: Small
    times: Small


def count(keys: Keys, text: Ints) -> tuple[Keys, Counts]:
    """The distinct n-grams, sorted, and how often each text has each."""
    distinct, number = np.unique(keys, return_inverse=True)
    size = max(len(distinct), 1)
    pairs = text * size + number
    pairs.sort()
    starts = np.flatnonzero(np.diff(pairs, prepend=-1))
    times = np.diff(starts, append=len(pairs)).astype(np.int32)
    text, number = np.divmod(pairs[starts], size)
    return distinct, Counts(text.astype(np.int32), number.astype(np.int32), times)


@dataclass(frozen=True)
class Overlap:
    """The n-grams of one order that candidates share with their references."""

    keys: Keys
    """What the numbers of n-grams stand for."""
    mine: Counts
    """Of the candidates."""
    theirs: Counts
    """Of the references."""
    shared: Small
    """Rows of `theirs` that their candidate has too."""
    row: Small
    """For each of those, the row of `mine`."""
    documents: Small
    """In how many items' references each n-gram occurs."""


def overlaps(candidates: Texts, references: Texts, item: Ints) -> list[Overlap]:
    """For n = 1, 2, 3, 4; `item` says which candidate each reference belongs to."""
    items = len(candidates.lengths)
    found = []
    for (mine, text), (theirs, reference) in zip(candidates.ngrams(), references.ngrams(), strict=True):
        # Counted together, so that candidates and references number their n-grams alike.
        keys, every = count(np.concatenate([mine, theirs]), np.concatenate([text, reference + items]))
        cut = int(np.searchsorted(every.text, items))
        own = every.text[:cut].astype(np.int64) * len(keys) + every.key[:cut]  # sorted, as counts come
        wanted = item[every.text[cut:] - items] * len(keys) + every.key[cut:]
        row = np.minimum(np.searchsorted(own, wanted), max(cut - 1, 0))
        shared = np.flatnonzero(own[row] == wanted) if cut else np.zeros(0, np.int64)
        wanted.sort()
        said = wanted[np.diff(wanted, prepend=-1) != 0] % max(len(keys), 1)  # each n-gram once for each item
        found.append(
            Overlap(
                keys,
                Counts(every.text[:cut], every.key[:cut], every.times[:cut]),
                Counts(every.text[cut:] - items, every.key[cut:], every.times[cut:]),
                shared.astype(np.int32),
                row[shared].astype(np.int32),
                np.bincount(said, minlength=len(keys)).astype(np.int32),
            )
        )
    return found


@dataclass(frozen=True)
class DocumentFrequencies:
    """In how many items' references each n-gram occurs: CIDEr's idf."""

    documents: int
    keys: tuple[Keys, ...]
    """Sorted, for n = 1, 2, 3, 4."""
    counts: tuple[Floats, ...]

    def idf(self, n: int, keys: Keys) -> Floats:
        """log(documents) - log(max(1, document frequency)) of n-grams."""
        known = self.keys[n - 1]
        frequency = np.ones(len(keys))
        if len(known):
            place = np.searchsorted(known, keys)
            place[place == len(known)] = 0
            found = known[place] == keys
            frequency[found] = self.counts[n - 1][place[found]]
        idf: Floats = np.log(float(self.documents)) - np.log(frequency)
        return idf

    @classmethod
    def merge(cls, parts: "Sequence[DocumentFrequencies]") -> "DocumentFrequencies":
        keys: list[Keys] = []
        counts: list[Floats] = []
        for n in range(ORDERS):
            distinct, number = np.unique(np.concatenate([p.keys[n] for p in parts]), return_inverse=True)
            weights = np.concatenate([p.counts[n] for p in parts])
            keys.append(distinct)
            counts.append(totals(number, weights, len(distinct)))
        return cls(sum(p.documents for p in parts), tuple(keys), tuple(counts))

    @classmethod
    def of(cls, found: Sequence[Overlap], documents: int) -> "DocumentFrequencies":
        """From the overlaps of some items."""
        said = [both.documents > 0 for both in found]
        keys = tuple(both.keys[used] for both, used in zip(found, said, strict=True))
        counts = tuple(
            both.documents[used].astype(np.float64) for both, used in zip(found, said, strict=True)
        )
        return cls(documents, keys, counts)
