"""Which objects tell of a high-level word: pointwise mutual information over pictures (HL, 4.1 and A.2).

PMI(h, o) = log2( P(h, o) / (P(h) P(o)) ) = log2( n(h, o) N / (n(h) n(o)) ), where n counts pictures: h stands in any
caption of the axis, o in any object caption; N are the pictures that have both kinds of captions.
"""

from array import array
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse


@dataclass(frozen=True, slots=True)
class WordPair:
    """A lemma of an axis, an object, and how often they meet."""

    axis: str
    lemma: str
    object: str
    pmi: float
    together: int
    lemma_images: int
    object_images: int


class Incidence:
    """Which lemmas stand in which picture: a row a picture, in the order in which they are added."""

    def __init__(self) -> None:
        self.words: dict[str, int] = {}
        self._columns = array("i")
        self._ends = array("q", [0])
        self._there = bytearray()

    def add(self, lemmas: Collection[str] | None) -> None:
        """One picture's different lemmas; None where it has no such captions."""
        for lemma in lemmas or ():
            self._columns.append(self.words.setdefault(lemma, len(self.words)))
        self._ends.append(len(self._columns))
        self._there.append(lemmas is not None)

    def __len__(self) -> int:
        return len(self._there)

    @property
    def there(self) -> NDArray[np.bool_]:
        return np.frombuffer(bytes(self._there), np.bool_)

    def matrix(self) -> sparse.csr_matrix:
        columns = np.array(self._columns, np.int64)
        shape = (len(self), len(self.words))
        return sparse.csr_matrix(
            (np.ones(len(columns), np.int64), columns, np.array(self._ends)), shape=shape
        )


@dataclass
class Informative:
    """All pairs of one axis that meet in a picture, of the objects that are common enough."""

    axis: str
    images: int
    """Pictures that have captions of the axis and of objects: N."""
    lemmas: list[str]
    objects: list[str]
    lemma_images: NDArray[np.int64]
    object_images: NDArray[np.int64]
    together: sparse.csr_matrix

    def pairs(self) -> Iterator[WordPair]:
        """The most frequent lemma first, and the most informative object of each."""
        for row in np.argsort(-self.lemma_images, kind="stable"):
            yield from self._of(int(row))

    def of(self, lemma: str, most: int) -> list[WordPair]:
        """The most informative objects of one lemma."""
        return self._of(self.lemmas.index(lemma))[:most] if lemma in self.lemmas else []

    def _of(self, row: int) -> list[WordPair]:
        start, end = self.together.indptr[row : row + 2]
        columns, counts = self.together.indices[start:end], self.together.data[start:end]
        own = self.lemma_images[row]
        pmi = np.log2(counts * self.images / (own * self.object_images[columns]))
        order = np.lexsort((columns, -counts, -pmi))
        return [
            WordPair(
                self.axis, self.lemmas[row], self.objects[columns[n]], float(pmi[n]), int(counts[n]), int(own),
                int(self.object_images[columns[n]]),
            )
            for n in order
        ]  # fmt: skip


def informative(
    axis: str,
    high: Incidence,
    objects: Incidence,
    floor: int,
    lemma_floor: int = 1,
    mentions: Mapping[str, int] | None = None,
) -> Informative:
    """Count which lemmas of the axis meet which objects.

    The floor of the objects is in mentions where those are given, as in the paper, else in pictures, as the floor
    of the lemmas always is.
    """
    both = np.flatnonzero(high.there & objects.there)
    own, theirs = high.matrix()[both], objects.matrix()[both]
    own_count, their_count = (np.asarray(side.sum(axis=0)).reshape(-1) for side in (own, theirs))
    rows = np.flatnonzero(own_count >= max(lemma_floor, 1))
    often = (
        their_count if mentions is None else np.array([mentions.get(word, 0) for word in objects.words], int)
    )
    columns = np.flatnonzero((often >= floor) & (their_count >= 1))
    together = (own[:, rows].T @ theirs[:, columns]).tocsr()
    together.sum_duplicates()
    lemmas, things = list(high.words), list(objects.words)
    return Informative(
        axis,
        len(both),
        [lemmas[row] for row in rows],
        [things[column] for column in columns],
        own_count[rows],
        their_count[columns],
        together,
    )
