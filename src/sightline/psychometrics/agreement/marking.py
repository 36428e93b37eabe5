"""Words that people marked as not supported by the pictures: how far they agree, and how well a metric finds them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.errors import UsageError
from sightline.psychometrics.agreement.alpha import Interval, bootstrap_alpha
from sightline.psychometrics.model.responses import Floats

MAJORITY = 0.5


@dataclass(frozen=True)
class MarkedText:
    """A text's words, and for each rater which of them were marked (rater x word, 0 or 1)."""

    words: tuple[str, ...]
    marks: Floats

    @property
    def shares(self) -> Floats:
        """Share of raters who marked each word."""
        return np.asarray(self.marks.mean(axis=0))


@dataclass(frozen=True)
class PhraseCheck:
    """How a metric's unsupported phrases compare with what people marked."""

    precision: Interval
    """Share of the phrases called unsupported that most raters marked a word of."""
    recall: Interval
    """Share of the phrases that most raters marked a word of which were called unsupported."""
    called: int
    marked: int
    both: int
    phrases: int
    texts: int


def word_agreement(texts: Mapping[str, MarkedText], samples: int = 1000, seed: int = 0) -> Interval:
    """Krippendorff's alpha over words (nominal), with an interval that resamples texts."""
    most = max((len(text.marks) for text in texts.values()), default=0)
    if most < 2:
        raise UsageError("agreement on marked words needs two raters of a text")
    columns, clusters = [], []
    for at, text in enumerate(texts.values()):
        table = np.full((most, len(text.words)), np.nan)
        table[: len(text.marks)] = text.marks
        columns.append(table)
        clusters += [at] * len(text.words)
    return bootstrap_alpha(
        np.hstack(columns), "nominal", samples=samples, seed=seed, clusters=np.array(clusters)
    )


def phrase_words(sentences: Sequence[str], sentence: int, start: int, end: int) -> range:
    """The places, among all words of a text, of the words that a phrase of one of its sentences touches."""
    before = sum(len(told.split()) for told in sentences[:sentence])
    text = sentences[sentence]
    first = len(text[:start].split()) - (start > 0 and not text[start - 1].isspace())
    last = len(text[:end].split())
    return range(before + max(first, 0), before + max(last, first + 1))


def check_phrases(
    texts: Mapping[str, MarkedText],
    phrases: Mapping[str, Sequence[tuple[range, bool]]],
    *,
    samples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
) -> PhraseCheck:
    """Precision and recall of a metric's calls, a phrase at a time.

    `phrases` holds, for each text, the places of each phrase's words and whether the metric calls it unsupported. A
    phrase counts as marked where at least half of the raters marked one of its words. Intervals resample texts.
    """
    rows = []
    for name, found in phrases.items():
        if name not in texts:
            continue
        counts = np.zeros(3)
        for words, called in found:
            marked = bool((texts[name].marks[:, list(words)].max(axis=1)).mean() >= MAJORITY)
            counts += (called, marked, called and marked)
        rows.append([*counts, len(found)])
    if not rows:
        raise UsageError(
            "no text that raters marked has phrases in the metric's evidence; are the ids the same?"
        )
    table = np.array(rows, float)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(len(table), np.full(len(table), 1 / len(table)), samples) @ table
    called, marked, both, count = table.sum(axis=0)
    return PhraseCheck(
        _share(both, called, drawn[:, 2], drawn[:, 0], level),
        _share(both, marked, drawn[:, 2], drawn[:, 1], level),
        int(called),
        int(marked),
        int(both),
        int(count),
        len(table),
    )


def _share(part: float, whole: float, parts: Floats, wholes: Floats, level: float) -> Interval:
    some = wholes > 0
    if not whole or not some.any():
        return Interval(float("nan"), float("nan"), float("nan"))
    low, high = np.quantile(parts[some] / wholes[some], [(1 - level) / 2, (1 + level) / 2])
    return Interval(part / whole, float(low), float(high))
