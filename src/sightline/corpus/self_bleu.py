"""How alike the captions of one picture are in their words: HL's published `diversity`.

It is sacreBLEU's corpus score, default settings, of the captions, each against all others (HL, A.3). The score is a
BLEU, so higher means more alike; `diversity` = 1 - self_bleu / 100.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import Any

ORDER = 4


@cache
def _bleu() -> Any:
    from sacrebleu.metrics import BLEU

    return BLEU()


def self_bleu(captions: Sequence[str]) -> float:
    """0-100, of at least two captions. Equal to the library's score; every caption is cut into n-grams once only."""
    if len(captions) < 2:
        raise ValueError("one caption cannot be compared with others")
    bleu = _bleu()
    tokens = [bleu.tokenizer(caption.rstrip()).split() for caption in captions]
    grams = [_ngrams(words) for words in tokens]
    most = _two_largest(grams)
    correct, total = [0] * ORDER, [0] * ORDER
    for own in grams:
        for gram, count in own.items():
            first, second = most[gram]
            others = second if count == first else first  # the largest count among the other captions
            total[len(gram) - 1] += count
            correct[len(gram) - 1] += min(count, others)
    lengths = [len(words) for words in tokens]
    found = bleu.compute_bleu(
        correct, total, sum(lengths), _closest(lengths), bleu.smooth_method, bleu.smooth_value
    )
    return float(found.score)


def signature() -> str:
    """What was computed, in sacreBLEU's own words."""
    import sacrebleu

    return f"corpus score of each against the others|tok:13a|smooth:exp|version:{sacrebleu.__version__}"


def _ngrams(words: Sequence[str]) -> Counter[tuple[str, ...]]:
    return Counter(
        tuple(words[start : start + n]) for n in range(1, ORDER + 1) for start in range(len(words) - n + 1)
    )


def _two_largest(grams: Sequence[Counter[tuple[str, ...]]]) -> dict[tuple[str, ...], tuple[int, int]]:
    """For each n-gram its largest count in a caption and the next, which may be as large."""
    most: dict[tuple[str, ...], tuple[int, int]] = {}
    for own in grams:
        for gram, count in own.items():
            first, second = most.get(gram, (0, 0))
            most[gram] = (count, first) if count > first else (first, max(second, count))
    return most


def _closest(lengths: Sequence[int]) -> int:
    """Summed over captions, the length among the others that is nearest; the shorter of two as near."""
    times = Counter(lengths)
    return sum(
        min(
            (length for length, n in times.items() if n > (length == own)),
            key=lambda length: (abs(length - own), length),
        )
        for own in lengths
    )
