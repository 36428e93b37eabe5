"""Do the intervals and p-values of a comparison keep their word? Pairs of systems whose true difference is known.

Two kinds of metric: the mean of scores (skewed, bounded, correlated between the systems, up to five captions to a
picture), and corpus BLEU-4 from n-gram counts. Prints how many 95 % intervals hold the true difference, how often
p < .05 where there is none, and how often a true difference of the size called detectable is found.

    python benchmarks/measure_compare.py [--pairs 500] [--pictures 20 100 400]
"""

import argparse
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sightline.meta.comparison.contest import Contest, Side, Together, contests
from sightline.metrics.bleu import bleu_rows

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, int, float], tuple[Side, Side, NDArray[np.int64]]]


def scores(rng: np.random.Generator, pictures: int, shift: float) -> tuple[Side, Side, NDArray[np.int64]]:
    """Scores in 0 to 1: a picture's difficulty, a caption's luck, and for a the shift on top; E(a - b) = shift."""
    group = np.repeat(np.arange(pictures), rng.integers(1, 6, pictures))
    difficulty = rng.beta(2, 5, pictures)[group] * 0.6
    noise = [rng.beta(1, 3, len(group)) * 0.4 + rng.beta(2, 2, pictures)[group] * 0.2 for _ in "ab"]
    a, b = (difficulty + one for one in noise)
    a = a + shift
    return Side(a, Together.mean(a)), Side(b, Together.mean(b)), group


def bleu_of_sums(sums: Floats) -> Floats:
    """BLEU-4 from summed rows of four matches, length, reference length and four numbers of n-grams."""
    precision: Floats = np.prod(sums[:, :4] / np.maximum(sums[:, 6:], 1), axis=1) ** 0.25
    return precision * np.exp(np.minimum(1 - sums[:, 5] / sums[:, 4], 0))


def bleu(rng: np.random.Generator, pictures: int, shift: float) -> tuple[Side, Side, NDArray[np.int64]]:
    """Counts as of captions of 8 to 14 words: each n-gram matches with a chance of its own, a's higher by the shift."""
    length = rng.integers(8, 15, (2, pictures)).astype(float)
    easy = rng.beta(6, 4, pictures)  # what makes a picture's captions easy, for both systems
    sides = []
    for words, more in zip(length, (shift, 0.0), strict=True):
        chance = np.clip(easy + more, 0, 1)
        matches = [rng.binomial((words - n).astype(int), chance ** (1 + 0.8 * n)) for n in range(4)]
        counts = np.column_stack([*matches, words, words]).astype(float)
        sides.append(
            Side(
                bleu_rows(counts)[:, -1],
                Together(np.hstack([counts, words[:, None] - np.arange(4)]), bleu_of_sums),
            )
        )
    return sides[0], sides[1], np.arange(pictures)


def truth(draw: Draw, shift: float) -> float:
    """The difference in a population too large for chance."""
    a, b, _ = draw(np.random.default_rng(99), 2_000_000, shift)
    return a.together.value - b.together.value


def simulated(draw: Draw, pictures: int, shift: float, pairs: int, seed: int) -> list[Contest]:
    rng = np.random.default_rng(seed)
    found = []
    for number in range(pairs):
        a, b, group = draw(rng, pictures, shift)
        found += contests([(a, b)], group, seed=number)
    return found


def told(name: str, draw: Draw, pictures: int, pairs: int) -> None:
    none = simulated(draw, pictures, 0.0, pairs, seed=1)
    size = float(np.median([one.detectable or 0.0 for one in none]))
    shift = 0.05 if draw is bleu else size
    real = truth(draw, shift) if draw is bleu else shift
    some = simulated(draw, pictures, shift, pairs, seed=2)
    held = np.mean([(one.low or 0) <= real <= (one.high or 0) for one in some])
    false = np.mean([one.p < 0.05 for one in none])
    line = f"{name:<8}{pictures:>9}{real:>17.4f}{100 * held:>17.1f} %{100 * false:>24.1f} %"
    if draw is not bleu:  # here the shift is what was called detectable
        line += f"{100 * np.mean([one.p < 0.05 for one in some]):>22.1f} %"
    print(line, flush=True)


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--pairs", type=int, default=500)
    asked.add_argument("--pictures", type=int, nargs="*", default=[20, 100, 400])
    chosen = asked.parse_args()
    print(f"{chosen.pairs} pairs of systems a row, 1,000 resamples each")
    print(
        "metric   pictures  true difference  intervals holding it  p < .05 where there is none  found if detectable"
    )
    for kind, way in (("mean", scores), ("bleu-4", bleu)):
        for count in chosen.pictures:
            told(kind, way, count, chosen.pairs)
