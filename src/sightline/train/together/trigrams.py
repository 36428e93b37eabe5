"""A plain language model of captions: how usual a wording is, whatever the picture shows."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

SHARES = (0.6, 0.3, 0.0999)
"""Of trigrams, bigrams and single words; the rest is spread over all words."""
WORDS = 50_000


Words = Sequence[str]


class Trigrams:
    """Counts of words after the two before them, mixed with shorter memories."""

    def __init__(self, sentences: Iterable[Words]) -> None:
        self._counts: Counter[Words] = Counter()
        for sentence in sentences:
            self._counts.update(runs(sentence))
        self._all = max(1, sum(times for run, times in self._counts.items() if len(run) == 1))

    def log_probability(self, sentence: Words, own: Mapping[Words, int]) -> float:
        """Of a whole sentence, its end included; `own` is what of the counts does not count."""
        words = ["", "", *map(str.lower, sentence), "."]
        three, two, one = SHARES
        total = 0.0
        counts = self._counts

        def times(*run: str) -> int:
            return counts.get(run, 0) - own.get(run, 0)

        for a, b, c in zip(words, words[1:], words[2:], strict=False):
            total += math.log(
                three * times(a, b, c) / max(1, times(a, b))
                + two * times(b, c) / max(1, times(b))
                + one * times(c) / self._all
                + (1 - sum(SHARES)) / WORDS
            )
        return total


def runs(sentence: Words) -> Iterator[Words]:
    """Its words, pairs and triples, with two blanks before and a full stop behind."""
    words = ["", "", *map(str.lower, sentence), "."]
    for n in range(1, len(words)):
        yield (words[n],)
        yield (words[n - 1], words[n])
        if n > 1:
            yield (words[n - 2], words[n - 1], words[n])
