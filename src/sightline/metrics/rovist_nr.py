"""RoViST-NR: how little a story repeats itself, between and within sentences (Wang et al., NAACL 2022)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any, Literal

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Fitted
from sightline.features.text import Sentences
from sightline.items import Evidence, PairEvidence
from sightline.metrics.base import Metric, metric
from sightline.text.sentences import punkt_sentences
from sightline.text.words import published_words, treebank_words

N = 4
"""Words of the pieces that are compared within a sentence (Appendix B)."""

MOST = 1000
"""Sentences of a text: every two are compared, and each pair is evidence."""

Words = Sequence[str]
Similarity = Callable[[Words, Words], float]
Variant = Literal["paper", "published"]


def jaccard(y_i: Words, y_j: Words) -> float:
    """Equation 7: shared words over all words of both, each counted once."""
    union = set(y_i) | set(y_j)
    return len(set(y_i) & set(y_j)) / len(union) if union else 0.0


def published_jaccard(y_i: Words, y_j: Words) -> float:
    """As the published program computes it: every equal pair of tokens counts, so that it can pass 1."""
    union = set(y_i) | set(y_j)
    return sum(left == right for left in y_i for right in y_j) / len(union) if union else 0.0


def pieces(sentence: Words) -> list[Words]:
    """Non-overlapping 4-grams; the last may be shorter."""
    return [sentence[start : start + N] for start in range(0, len(sentence), N)]


def non_redundancy(inter: float | None, intra: float) -> float:
    """1 - the mean of both repetition scores; a story of one sentence has the second alone."""
    return 1 - (intra if inter is None else (inter + intra) / 2)


def paper_words(sentence: str) -> list[str]:
    """Lower-cased words, punctuation left out."""
    return [word for word in map(str.lower, treebank_words(sentence)) if any(c.isalnum() for c in word)]


@dataclass(frozen=True)
class Repetition:
    """What two pieces of the story share."""

    left: str
    right: str
    score: float


def repetitions(
    sentences: Sequence[Words], similarity: Similarity
) -> tuple[list[Repetition], list[Repetition]]:
    """Every pair of sentences, and every pair of neighbouring pieces within a sentence."""
    inter = [
        Repetition(f"sentence {i + 1}", f"sentence {j + 1}", similarity(sentences[i], sentences[j]))
        for i, j in combinations(range(len(sentences)), 2)
    ]
    intra = [
        Repetition(" ".join(left), " ".join(right), similarity(left, right))
        for sentence in sentences
        for left, right in pairwise(pieces(sentence))
    ]
    return inter, intra


@dataclass(frozen=True)
class Repeated:
    """What a story repeats between its sentences and within them, strongest first, and the words it is read in."""

    words: Sequence[Words]
    similarity: Similarity
    pairs: tuple[Repetition, ...]
    inter: float | None
    intra: float


def repeated(sentences: Sequence[str], variant: Variant) -> Repeated:
    """The repetition scores (equation 7, Appendix B); raises Unscorable where there are none."""
    published = variant == "published"
    words: list[Words] = [published_words(s)[:-1] if published else paper_words(s) for s in sentences]
    if len(words) > MOST:
        raise Unscorable(
            f"the text has {len(words):,} sentences; at most {MOST:,} are held against each other"
        )
    if published and len(words) < 2:
        raise Unscorable("the published variant is not defined for a story of one sentence")
    if not any(words):
        raise Unscorable("the text has no words")
    similarity = published_jaccard if published else jaccard
    between, within = repetitions(words, similarity)
    if published:  # two sentences of a mark alone have nothing to compare
        between = [pair for pair, (i, j) in zip(between, combinations(words, 2), strict=True) if i or j]
    pairs = sorted((pair for pair in (*between, *within) if pair.score > 0), key=lambda pair: -pair.score)
    return Repeated(words, similarity, tuple(pairs), _mean(between), _mean(within) or 0.0)


@metric("rovist-nr")
@dataclass(frozen=True)
class RovistNR(Metric):
    """How little a story repeats itself, between its sentences and within them."""

    variant: Variant = "paper"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(),)

    def score(self, got: Features, fitted: Fitted) -> tuple[float, Evidence]:
        sentences = got[Sentences()].spoken
        if self.variant == "published" and not got.item.is_caption:
            sentences = tuple(punkt_sentences(got.item.whole_text))
        found = repeated(sentences, self.variant)
        evidence = Evidence(
            sentences=sentences,
            pairs=tuple(PairEvidence(pair.left, pair.right, pair.score) for pair in found.pairs),
            parts={**({} if found.inter is None else {"inter": found.inter}), "intra": found.intra},
            notes=_notes(sentences, found.words, found.similarity),
        )
        return non_redundancy(found.inter, found.intra), evidence


def _mean(pairs: Sequence[Repetition]) -> float | None:
    return sum(pair.score for pair in pairs) / len(pairs) if pairs else None


def _notes(sentences: Sequence[str], words: Sequence[Words], similarity: Similarity) -> tuple[str, ...]:
    notes = [
        f'sentence {number + 1} says "{" ".join(left)}" and then "{" ".join(right)}"'
        for number, sentence in enumerate(words)
        for left, right in pairwise(pieces(sentence))
        if similarity(left, right) >= 0.5
    ]
    if len(sentences) == 1:
        notes.append(
            "one sentence: there is nothing between sentences to repeat, so the score is the part within it"
        )
    return tuple(notes)
