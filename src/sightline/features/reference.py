"""What reference-based metrics share: tokens, n-grams common with the references, document frequencies."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.errors import Unscorable
from sightline.features.base import WORDLESS, Feature, Features, Fit, Statistic, Tools
from sightline.text import ptb
from sightline.text.ngrams import ORDERS, DocumentFrequencies, Overlap, Texts, overlaps, totals

TokenKind = Literal["ptb", "space"]
"""COCO's Penn Treebank tokens without punctuation, or text that is already tokenised."""

BATCH = 2000
"""Items whose n-grams are counted at once: enough to be fast, little enough for memory."""


def tokenize(text: str, kind: TokenKind) -> list[str]:
    return ptb.tokens(text) if kind == "ptb" else text.split()


@dataclass(frozen=True)
class TokensValue:
    candidate: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    @property
    def notes(self) -> tuple[str, ...]:
        """What a score of a text without words says of it."""
        return () if self.candidate else (WORDLESS,)


@dataclass(frozen=True)
class Tokens(Feature[TokensValue]):
    """The words of the whole text and of each reference. A text without words has none, as in COCO's evaluation."""

    kind: TokenKind = "ptb"
    value = TokensValue

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[TokensValue | Unscorable]:
        return [self._one(got) for got in batch]

    def _one(self, got: Features) -> TokensValue | Unscorable:
        references = [tokenize(reference, self.kind) for reference in got.item.references]
        references = [reference for reference in references if reference]
        if not references:
            return Unscorable(
                "there are no references" if not got.item.references else "the references have no words"
            )
        candidate = tokenize(got.item.whole_text, self.kind)
        return TokensValue(tuple(candidate), tuple(map(tuple, references)))


@dataclass(frozen=True)
class MatchesValue:
    matches: tuple[float, ...]
    """For n = 1 to 4: the text's n-grams, each at most as often as the reference that has it most often."""
    length: int
    reference_length: int
    """Of the reference nearest in length; the shorter one among equals."""


def count_matches(found: Sequence[Overlap], items: int) -> NDArray[np.float64]:
    """[candidate, n]: clipped n-gram matches."""
    matches = np.zeros((items, ORDERS))
    for n, both in enumerate(found):
        most = np.zeros(len(both.mine.times), both.theirs.times.dtype)  # equal types: NumPy's fast way
        np.maximum.at(most, both.row.astype(np.intp), both.theirs.times[both.shared])
        matches[:, n] = totals(both.mine.text, np.minimum(both.mine.times, most), items)
    return matches


def closest_length(
    lengths: NDArray[np.int64], reference_lengths: NDArray[np.int64], item: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Each candidate's nearest reference length, the shorter one among equals."""
    far = np.abs(reference_lengths - lengths[item])
    best = np.lexsort((reference_lengths, far, item))
    first = np.flatnonzero(np.diff(item[best], prepend=-1))
    return reference_lengths[best[first]]


@dataclass(frozen=True)
class NgramMatches(Feature[MatchesValue]):
    """What BLEU is made of: n-grams shared with the references, and lengths."""

    kind: TokenKind = "ptb"
    value = MatchesValue

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens(self.kind),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[MatchesValue | Unscorable]:
        values = [got[Tokens(self.kind)] for got in batch]
        candidates, references, item = as_texts(values)
        matches = count_matches(overlaps(candidates, references, item), len(values))
        closest = closest_length(candidates.lengths, references.lengths, item)
        return [
            MatchesValue(tuple(row), length, reference_length)
            for row, length, reference_length in zip(
                matches.tolist(), candidates.lengths.tolist(), closest.tolist(), strict=True
            )
        ]


def as_texts(values: Sequence[TokensValue]) -> tuple[Texts, Texts, NDArray[np.int64]]:
    """Candidates and references of many items in the kernels' form, and whose each reference is."""
    references = Texts.of([reference for value in values for reference in value.references])
    item = np.repeat(np.arange(len(values)), [len(value.references) for value in values])
    return Texts.of([value.candidate for value in values]), references, item


@dataclass(frozen=True)
class DocumentFrequency(Statistic[DocumentFrequencies]):
    """In how many documents each n-gram occurs. A document is all references of an id, whatever systems share it.

    With `documents="references"` each reference is one, so that a single item has more than one; anything else is a
    file: a run's folder, or references in the item form.
    """

    kind: TokenKind = "ptb"
    documents: str = "corpus"
    name = "df"
    counts_documents = True

    @property
    def key(self) -> str:
        return f"df.{self.kind}" if self.documents == "corpus" else f"df.{self.kind}.{self.documents}"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens(self.kind),)

    def check(self, tools: Tools) -> None:
        if self.documents not in ("corpus", "references") and not self._stored(tools):
            tools.references(self.documents)

    def learns(self, tools: Tools) -> bool:
        return self.documents in ("corpus", "references")

    def partial(self, corpus: Iterable[Features]) -> DocumentFrequencies:
        feature = Tokens(self.kind)
        every = (
            got[feature].references
            for got in corpus
            if got.failure(feature) is None and self not in got.again
        )
        if self.documents == "references":
            every = ((one,) for references in every for one in references)
        return self._counted(every)

    def merged(self, parts: Sequence[DocumentFrequencies]) -> DocumentFrequencies:
        return DocumentFrequencies.merge([EMPTY, *parts])

    def fitted(self, part: DocumentFrequencies | None, tools: Tools) -> Fit[DocumentFrequencies]:
        if part is not None:
            return Fit(part, self.documents)
        return self._stored(tools) or Fit(self._counted(self._of_file(tools)), "file")

    def _stored(self, tools: Tools) -> Fit[DocumentFrequencies] | None:
        return tools.stored(self.documents, DocumentFrequency(self.kind))

    def _of_file(self, tools: Tools) -> Iterator[tuple[tuple[str, ...], ...]]:
        for references in tools.references(self.documents):
            cut = (tuple(tokenize(text, self.kind)) for text in references)
            if found := tuple(words for words in cut if words):
                yield found

    def _counted(self, documents: Iterable[tuple[tuple[str, ...], ...]]) -> DocumentFrequencies:
        stream, parts = iter(documents), [EMPTY]
        while batch := [TokensValue((), references) for references in islice(stream, BATCH)]:
            parts.append(DocumentFrequencies.of(overlaps(*as_texts(batch)), len(batch)))
        return DocumentFrequencies.merge(parts)

    def save(self, value: DocumentFrequencies) -> dict[str, NDArray[Any]]:
        """N-grams of a single document are left out: they weigh as much as those of none."""
        found: dict[str, NDArray[Any]] = {"documents": np.array(value.documents)}
        for n, (keys, counts) in enumerate(zip(value.keys, value.counts, strict=True), 1):
            found[f"keys-{n}"] = keys[counts > 1]
            found[f"counts-{n}"] = counts[counts > 1].astype(np.int64)
        return found

    def load(self, saved: Any) -> DocumentFrequencies:
        keys = tuple(saved[f"keys-{n}"].astype(np.uint64) for n in range(1, ORDERS + 1))
        counts = tuple(saved[f"counts-{n}"].astype(np.float64) for n in range(1, ORDERS + 1))
        if any(one.shape != other.shape for one, other in zip(keys, counts, strict=True)):
            raise ValueError("n-grams and their counts do not fit")
        return DocumentFrequencies(int(saved["documents"]), keys, counts)


EMPTY = DocumentFrequencies(0, (np.zeros(0, np.uint64),) * ORDERS, (np.zeros(0),) * ORDERS)
