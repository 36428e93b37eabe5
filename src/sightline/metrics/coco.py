"""BLEU, ROUGE-L and CIDEr of many captions at once, in the kernels that the metrics use."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.features.reference import BATCH, TokenKind, closest_length, count_matches, tokenize
from sightline.metrics.bleu import bleu_rows, corpus_bleu
from sightline.metrics.cider import cider
from sightline.metrics.rouge import rouge_l
from sightline.text.ngrams import ORDERS, DocumentFrequencies, Overlap, Texts, overlaps

Floats = NDArray[np.float64]
Lengths = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class CocoScores:
    """Scores of each caption, and of all together."""

    bleu: Floats
    """[caption, n - 1]"""
    rouge_l: Floats
    cider: Floats
    corpus: dict[str, float]


def coco_scores(
    candidates: Sequence[str], references: Sequence[Sequence[str]], tokens: TokenKind = "ptb"
) -> CocoScores:
    """Score captions against their references; raises UsageError where one has no references."""
    if len(candidates) != len(references):
        raise UsageError(f"{len(candidates)} captions but references for {len(references)}")
    if len(candidates) < 2:
        raise UsageError(
            "cider weighs words by how many captions' references have them: at least two are needed"
        )
    parts: list[tuple[NDArray[np.int64], Lengths, list[Overlap]]] = []
    frequencies: list[DocumentFrequencies] = []
    counts: list[Floats] = []
    rouge = np.zeros(len(candidates))
    for start in range(0, len(candidates), BATCH):
        mine = [tokenize(text, tokens) for text in candidates[start : start + BATCH]]
        theirs = [
            [words for text in texts if (words := tokenize(text, tokens))]
            for texts in references[start : start + BATCH]
        ]
        for number, (words, refs) in enumerate(zip(mine, theirs, strict=True), start):
            if not refs:
                raise UsageError(f"caption {number} has no references")
            rouge[number] = rouge_l(words, refs)
        item = np.repeat(np.arange(len(mine)), [len(refs) for refs in theirs])
        own, given = Texts.of(mine), Texts.of([words for refs in theirs for words in refs])
        found = overlaps(own, given, item)
        closest = closest_length(own.lengths, given.lengths, item)
        counts.append(np.column_stack([count_matches(found, len(mine)), own.lengths, closest]))
        frequencies.append(DocumentFrequencies.of(found, len(mine)))
        parts.append((item, (own.lengths, given.lengths), found))
    known = DocumentFrequencies.merge(frequencies)
    ciders = [cider(*lengths, item, found, known) for item, lengths, found in parts]
    rows, by_caption = np.concatenate(counts), np.concatenate(ciders)
    corpus = {
        f"bleu-{n}": corpus_bleu(rows[:, [*range(n), ORDERS, ORDERS + 1]]) for n in range(1, ORDERS + 1)
    }
    corpus |= {"rouge-l": float(rouge.mean()), "cider": float(by_caption.mean())}
    return CocoScores(bleu_rows(rows), rouge, by_caption, corpus)
