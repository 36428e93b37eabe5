"""Formulas that score a text against references.

Texts come as a list, references as a list of references for each text. `tokens="ptb"` cuts them into COCO's Penn
Treebank tokens without punctuation; `tokens="space"` is for text that is already tokenised. A text without words counts
as COCO's evaluation counts it: as a text of length 0. References without words are left out.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import UsageError
from sightline.features.matched_pieces import Matched
from sightline.features.meteor import Task, prepared
from sightline.features.meteor import count_matches as meteor_counts
from sightline.features.reference import BATCH, TokenKind, closest_length, count_matches, tokenize
from sightline.features.word_distance import movers_distance
from sightline.metrics import bertscore as _bertscore
from sightline.metrics import meteor as _meteor
from sightline.metrics import rouge as _rouge
from sightline.metrics.bleu import bleu_rows, corpus_bleu
from sightline.metrics.cider import cider as cider_of
from sightline.metrics.sacre import Tokenizer, corpus_score, sentence_score
from sightline.text.ngrams import ORDERS, DocumentFrequencies, Overlap, Texts, overlaps
from sightline.text.scene_graph import Fact, matched
from sightline.text.wordnet import load_wordnet

Floats = NDArray[np.float64]
Lengths = tuple[NDArray[np.int64], NDArray[np.int64]]
References = Sequence[Sequence[str]]
Tokenised = list[tuple[list[str], list[list[str]]]]


@dataclass(frozen=True)
class TextScores:
    """What a metric with references says of some texts."""

    corpus: float
    """Of all texts together: the number that papers print."""
    each: tuple[float, ...]
    """Of each text."""


@dataclass(frozen=True)
class CocoScores:
    """BLEU, ROUGE-L and CIDEr of each caption, and of all together."""

    bleu: Floats
    """[caption, n - 1]"""
    rouge_l: Floats
    cider: Floats
    corpus: dict[str, float]
    """By metric: bleu-1 to bleu-4, rouge-l, cider."""


def coco_scores(texts: Sequence[str], references: References, tokens: TokenKind = "ptb") -> CocoScores:
    """BLEU-1 to BLEU-4, ROUGE-L and CIDEr at once, as COCO's caption evaluation prints them.

    Arguments: at least two `texts`; `references`, a list of them for each text; `tokens`.
    Raises UsageError where a text has no references.

    >>> found = coco_scores(["a dog runs", "two cats"], [["a dog runs fast"], ["two cats sit", "cats"]])
    >>> {name: round(value, 4) for name, value in found.corpus.items() if name != "bleu-3"}
    {'bleu-1': 1.0, 'bleu-2': 1.0, 'bleu-4': 0.0316, 'rouge-l': 0.9178, 'cider': 4.3208}
    """
    words = _tokenised(texts, references, tokens)
    rows, by_text = _counts(words), _ciders(words)
    rouge = np.array([_rouge.rouge_l(*pair) for pair in words])
    corpus = {f"bleu-{n}": corpus_bleu(rows[:, _columns(n)]) for n in range(1, ORDERS + 1)}
    corpus |= {"rouge-l": float(rouge.mean()), "cider": float(by_text.mean())}
    return CocoScores(bleu_rows(rows), rouge, by_text, corpus)


def bleu(
    texts: Sequence[str], references: References, order: int = 4, tokens: TokenKind = "ptb"
) -> TextScores:
    """BLEU of n-grams up to `order` words, 0 to 1, with the closest reference's length (Papineni et al. 2002).

    Arguments: `texts`; `references`, a list of them for each text; `order`, 1 to 4; `tokens`.
    Raises UsageError where a text has no references.

    >>> found = bleu(["the cat sat on the mat"], [["the cat is on the mat", "there is a cat on the mat"]], order=2)
    >>> round(found.corpus, 4)
    0.7071
    """
    if order not in range(1, ORDERS + 1):
        raise UsageError(f"order={order}: BLEU counts stretches of 1 to {ORDERS} words")
    rows = _counts(_tokenised(texts, references, tokens))
    return TextScores(corpus_bleu(rows[:, _columns(order)]), tuple(bleu_rows(rows)[:, order - 1].tolist()))


def rouge_l(texts: Sequence[str], references: References, tokens: TokenKind = "ptb") -> TextScores:
    """ROUGE-L, the F-score of the longest common subsequence with beta = 1.2, as COCO computes it (Lin 2004).

    Arguments: `texts`; `references`, a list of them for each text; `tokens`.
    Raises UsageError where a text has no references.

    >>> round(rouge_l(["police killed the gunman"], [["police kill the gunman"]]).corpus, 4)
    0.75
    """
    each = [_rouge.rouge_l(*pair) for pair in _tokenised(texts, references, tokens)]
    return TextScores(sum(each) / len(each), tuple(each))


def cider(texts: Sequence[str], references: References, tokens: TokenKind = "ptb") -> TextScores:
    """CIDEr-D, tf-idf weighted n-grams shared with the references, 0 to 10 (Vedantam et al. 2015).

    Arguments: at least two `texts`, whose references also say how rare an n-gram is; `references`, a list of them for
    each text; `tokens`. Raises UsageError for fewer than two texts, and where a text has no references.

    >>> found = cider(["a dog runs", "two cats sit"], [["a dog runs fast"], ["a cat sits"]])
    >>> [round(value, 4) for value in found.each]
    [5.7696, 0.0]
    """
    each = _ciders(_tokenised(texts, references, tokens))
    return TextScores(float(each.mean()), tuple(each.tolist()))


def meteor(
    texts: Sequence[str],
    references: References,
    task: Task = "rank",
    tokens: TokenKind = "ptb",
    wordnet: str | None = None,
) -> TextScores:
    """METEOR 1.5 with the best reference (Denkowski & Lavie 2014), without its paraphrase table.

    Arguments: `texts`; `references`, a list of them for each text; `task`, whose tuned parameters are used ("rank" as
    COCO does, "hter" as VIST does); `tokens`; `wordnet`, where synonyms come from: "none", the path of one, or by
    default one that is installed. Raises UsageError where a text has no references or the WordNet cannot be read.

    >>> round(meteor(["the dogs ran home"], [["the dog runs home"]], wordnet="none").corpus, 4)
    0.2591
    """
    known = load_wordnet(wordnet)
    best = []
    for text, theirs in _tokenised(texts, references, tokens):
        mine = prepared(text, tokens)
        every = [meteor_counts(mine, prepared(words, tokens), known) for words in theirs]
        best.append(max(every, key=lambda counts: _meteor.meteor(counts, task)))
    corpus = _meteor.meteor(np.sum(best, axis=0).tolist(), task)
    return TextScores(corpus, tuple(_meteor.meteor(counts, task) for counts in best))


def sacrebleu(texts: Sequence[str], references: References, tokenize: Tokenizer = "13a") -> TextScores:
    """BLEU as the sacreBLEU library computes it, 0 to 100 (Post 2018); a text's own score uses the effective order.

    Arguments: `texts`; `references`, a list of them for each text; `tokenize`, one of the library's tokenisers.
    Raises UsageError where a text has no references.

    >>> round(sacrebleu(["The cat sat on the mat."], [["The cat sat on a mat."]]).corpus, 2)
    48.89
    """
    _check(texts, references)
    found = [sentence_score(text, theirs, tokenize) for text, theirs in zip(texts, references, strict=True)]
    return TextScores(
        corpus_score([counts for _, counts in found], tokenize), tuple(score for score, _ in found)
    )


def bertscore(
    similarity: ArrayLike,
    weights: Sequence[float] | None = None,
    reference_weights: Sequence[float] | None = None,
) -> tuple[float, float, float]:
    """Precision, recall and F1 of greedy matching (Zhang et al. 2020, equations 1 to 4).

    Arguments: `similarity`, a table of cosines with a row per word piece of the text and a column per one of the
    reference; `weights` and `reference_weights` of those pieces (idf), equal by default.
    Raises UsageError where the table is empty or the weights do not fit it.

    >>> [round(value, 4) for value in bertscore([[0.9, 0.1], [0.2, 0.6], [0.3, 0.4]])]
    [0.6333, 0.75, 0.6867]
    """
    table = np.asarray(similarity, np.float64)
    if table.ndim != 2 or not table.size:
        raise UsageError(
            "similarity is a table: a row per piece of the text, a column per piece of the reference"
        )
    rows, columns = table.shape
    given = (weights or [1.0] * rows, reference_weights or [1.0] * columns)
    if (len(given[0]), len(given[1])) != (rows, columns):
        raise UsageError(
            f"weights for {len(given[0])} x {len(given[1])} pieces, cosines for {rows} x {columns}"
        )
    best = (tuple(table.max(axis=1).tolist()), tuple(table.max(axis=0).tolist()))
    numbers = range(rows + columns)
    pieces = Matched(tuple(numbers[:rows]), best[0], tuple(numbers[rows:]), best[1])
    return _bertscore.bertscore(pieces, {-1: 0.0, **dict(enumerate([*given[0], *given[1]]))})


def wmd(words: Sequence[str], reference: Sequence[str], vectors: Mapping[str, ArrayLike]) -> float:
    """exp(-d) of the Word Mover's Distance d (Kusner et al. 2015); 1 for the same words.

    Arguments: `words` and those of the `reference`; `vectors`, each word's; words without one are left out.
    Raises UsageError where a side has no word with a vector, and MissingExtra where `pot` is not installed.

    >>> round(wmd(["dog"], ["cat"], {"dog": [1.0, 0.0], "cat": [0.6, 0.8]}), 4)
    0.4088
    """
    known = {word: np.asarray(row, np.float64) for word, row in vectors.items()}
    distance = movers_distance(words, reference, known)
    if distance is None:
        raise UsageError("no word of the text, or of the reference, has a vector")
    return math.exp(-distance)


def scenegraph(facts: set[Fact], reference_facts: set[Fact]) -> float:
    """F1 over objects, attributes and relations, the measure of SPICE (Anderson et al. 2016).

    Arguments: `facts` that the text states and `reference_facts` of all its references, each a tuple: (object,),
    (object, attribute) or (object, relation, object). Raises UsageError where a side has none.

    >>> said, true = {("dog",), ("dog", "brown")}, {("dog",), ("dog", "on", "sofa"), ("sofa",)}
    >>> round(scenegraph(said, true), 4)
    0.4
    """
    if not facts or not reference_facts:
        raise UsageError(f"there are no {'reference_facts' if facts else 'facts'}")
    return 2 * matched(facts, reference_facts, None) / (len(facts) + len(reference_facts))


def _check(texts: Sequence[str], references: References) -> None:
    if isinstance(texts, str):
        raise UsageError("texts is a list of texts, each with its own list of references")
    if len(texts) != len(references):
        raise UsageError(f"{len(texts)} texts but references for {len(references)}")
    if not len(texts):
        raise UsageError("there are no texts")
    for number, theirs in enumerate(references, 1):
        if isinstance(theirs, str):
            raise UsageError(f"the references of text {number} are not a list of texts")
        if not any(reference.strip() for reference in theirs):
            raise UsageError(f"text {number} has no references")


def _tokenised(texts: Sequence[str], references: References, tokens: TokenKind) -> Tokenised:
    """Words of each text and of each of its references."""
    _check(texts, references)
    found = []
    for number, (text, theirs) in enumerate(zip(texts, references, strict=True), 1):
        words = [each for reference in theirs if (each := tokenize(reference, tokens))]
        if not words:
            raise UsageError(f"the references of text {number} have no words")
        found.append((tokenize(text, tokens), words))
    return found


def _batches(words: Tokenised) -> list[tuple[NDArray[np.int64], Lengths, list[Overlap]]]:
    """Of so many texts at once: whose each reference is, lengths, and shared n-grams."""
    found = []
    for start in range(0, len(words), BATCH):
        part = words[start : start + BATCH]
        item = np.repeat(np.arange(len(part)), [len(theirs) for _, theirs in part])
        own = Texts.of([mine for mine, _ in part])
        given = Texts.of([reference for _, theirs in part for reference in theirs])
        found.append((item, (own.lengths, given.lengths), overlaps(own, given, item)))
    return found


def _counts(words: Tokenised) -> Floats:
    """BLEU's statistics: [text, matches of each order, length, the closest reference's length]."""
    return np.concatenate(
        [
            np.column_stack([count_matches(found, len(own)), own, closest_length(own, given, item)])
            for item, (own, given), found in _batches(words)
        ]
    )


def _columns(order: int) -> list[int]:
    return [*range(order), ORDERS, ORDERS + 1]


def _ciders(words: Tokenised) -> Floats:
    if len(words) < 2:
        raise UsageError(
            "cider weighs words by how many texts' references have them: at least two are needed"
        )
    parts = _batches(words)
    known = DocumentFrequencies.merge(
        [DocumentFrequencies.of(found, len(own)) for _, (own, _), found in parts]
    )
    return np.concatenate([cider_of(*lengths, item, found, known) for item, lengths, found in parts])
