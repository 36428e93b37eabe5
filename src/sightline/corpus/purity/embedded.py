"""Purity on embedded models: the likeness of captions by their vectors. Nothing to download."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np

from sightline.corpus.purity.base import Floats, PurityScorer, against_others, scorers
from sightline.encoders.base import unit
from sightline.encoders.pieces import pieces
from sightline.encoders.pocket import LONGEST, Pocket
from sightline.errors import UsageError
from sightline.text.coherence import EMBEDDED, SentenceReader


@scorers.add("embedded")
def embedded(argument: str) -> PurityScorer:
    """The default: half `pocket`, half words matched by their vectors; nearest to the published BLEURT scores."""
    _no_argument("embedded", argument)
    return Embedded()


@scorers.add("pocket")
def pocket(argument: str) -> PurityScorer:
    """Cosine of the captions' vectors by the embedded encoder's text side."""
    _no_argument("pocket", argument)
    return PocketPurity()


@scorers.add("sentence")
def sentence(argument: str) -> PurityScorer:
    """Cosine of the captions' mean states in the coherence model's lower layers; slower."""
    _no_argument("sentence", argument)
    return SentencePurity()


def _no_argument(name: str, argument: str) -> None:
    if argument:
        raise UsageError(f"--purity {name} takes no argument, but got '{argument}'")


class PocketPurity:
    """Whole captions: the cosine of two vectors."""

    def __init__(self) -> None:
        self._encoder = Pocket()
        self.signature = f"cosine|{self._encoder.signature}"

    def score(self, groups: Sequence[Sequence[str]]) -> list[Floats]:
        return [against_others(table) for table in self.tables(groups)]

    def tables(self, groups: Sequence[Sequence[str]]) -> list[Floats]:
        """For each group, every caption's likeness to every other."""
        if not groups:
            return []
        rows = self._encoder.encode_texts([caption for group in groups for caption in group])
        ends = np.cumsum([len(group) for group in groups])[:-1]
        return [(own @ own.T).astype(np.float64) for own in np.split(rows, ends)]


class Embedded:
    """The mean of two likenesses: of whole captions (cosine), and of their word pieces, matched greedily.

    The matching is BERTScore's F1 on vectors that do not depend on the context.
    """

    def __init__(self) -> None:
        self._whole = PocketPurity()
        self._pieces = pieces()
        self.signature = f"{self._whole.signature}+matched pieces"

    def score(self, groups: Sequence[Sequence[str]]) -> list[Floats]:
        return [
            against_others((whole + self._matched(group)) / 2)
            for group, whole in zip(groups, self._whole.tables(groups), strict=True)
        ]

    def _matched(self, group: Sequence[str]) -> Floats:
        rows = [unit(self._pieces.vectors(self._pieces.tokeniser.ids(text)[:LONGEST])) for text in group]
        found = np.zeros((len(group), len(group)))
        for i, own in enumerate(rows):
            for j in range(i):
                found[i, j] = found[j, i] = _f1(own @ rows[j].T)
        return found


def _f1(cosine: np.ndarray) -> float:
    """Every piece with its best match on the other side, both ways."""
    if not cosine.size:
        return 0.0
    precision, recall = float(cosine.max(axis=1).mean()), float(cosine.max(axis=0).mean())
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


class SentencePurity:
    """The mean over a caption's pieces of their states after three layers of a sentence model."""

    def __init__(self) -> None:
        self._reader = SentenceReader(EMBEDDED)
        self.signature = f"cosine|sentence:{self._reader.name}@{self._reader.resource.digest}"

    def score(self, groups: Sequence[Sequence[str]]) -> list[Floats]:
        captions = list(dict.fromkeys(caption for group in groups for caption in group))
        if not captions:
            return []
        with ThreadPoolExecutor(1) as workers:
            states, starts = self._reader.read(captions, workers)
        means = [  # without [CLS] and [SEP], unless there is nothing else
            states[start + 1 : end - 1].mean(axis=0) if end - start > 2 else states[start:end].mean(axis=0)
            for start, end in pairwise(starts)
        ]
        rows = unit(np.stack(means))
        place = {caption: number for number, caption in enumerate(captions)}
        groups_rows = (rows[[place[caption] for caption in group]] for group in groups)
        return [against_others((own @ own.T).astype(np.float64)) for own in groups_rows]
