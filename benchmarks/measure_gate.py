"""Whom the gates of the worker selection let through, with 3 to 9 gold annotators and 20 items.

    python benchmarks/measure_gate.py [WORKERS]

WORKERS (300) of each kind for each number of annotators, each on a new set of items: a third of the sets have levels
that are equally frequent and careful annotators (spread .5), a third less careful ones (.9), a third mostly the highest
level (.6). Prints the share that passes: of workers who answer at random, who always say 5, who are one level too
lenient, and who are as good as the annotators.
"""

import sys

import numpy as np

from sightline.psychometrics.agreement.workers import Gate, agreement, yardstick
from sightline.psychometrics.model.responses import Floats

LEVELS = np.arange(1.0, 6.0)
EVEN, HIGH = (0.2,) * 5, (0.04, 0.06, 0.1, 0.2, 0.6)
DESIGNS = ((EVEN, 0.5), (EVEN, 0.9), (HIGH, 0.6))
ITEMS = 20
THRESHOLD = 0.5


def main(workers: int) -> None:
    print("| gate | gold annotators | random | always 5 | one level up | good |\n|---|---|---|---|---|---|")
    for gate in ("consensus", "pooled"):
        for annotators in range(3, 10):
            shares = " | ".join(f"{100 * share:.1f} %" for share in passing(gate, annotators, workers))
            print(f"| {gate} | {annotators} | {shares} |", flush=True)


def passing(gate: Gate, annotators: int, workers: int) -> Floats:
    rng = np.random.default_rng(annotators)
    kept = np.zeros(4)
    for number in range(workers):
        shares, spread = DESIGNS[number % len(DESIGNS)]
        truth = rng.choice(LEVELS, ITEMS, p=shares)
        gold = annotated(rng, truth, spread, annotators)
        good = annotated(rng, truth, spread, 1)[0]
        four = (rng.choice(LEVELS, ITEMS), np.full(ITEMS, 5.0), np.minimum(good + 1, 5), good)
        own = yardstick(gold, gate)
        kept += [agreement(gold, worker, gate) / own > THRESHOLD for worker in four]
    return np.asarray(kept / workers)


def annotated(rng: np.random.Generator, truth: Floats, spread: float, count: int) -> Floats:
    return np.clip(np.round(truth + rng.normal(0, spread, (count, len(truth)))), 1, 5)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
