"""Sentence pairs a second: the embedded order model against a plain PyTorch loop over one pair at a time.

    python benchmarks/bench_coherence.py [--pairs N] [--threads N]

The loop does what published code does: it reads each pair alone, with the same weights, in PyTorch. `one order` reads
the pair once, as the published model does; `both orders` computes the very number the embedded model gives.
"""

import argparse
import time
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch

from sightline.text.coherence import EMBEDDED, OnnxCoherence
from sightline.train.coherence.network import from_onnx

WORDS = "we they the a went to beach park then after that children dog cake played ate had was great time home".split()


def stories(count: int, seed: int = 0) -> list[list[str]]:
    """Made-up stories of five sentences, as long as VIST's (11 words and a full stop on average)."""
    rng = np.random.default_rng(seed)
    return [
        [" ".join([*rng.choice(WORDS, rng.integers(6, 17)), "."]) for _ in range(5)] for _ in range(count)
    ]


def rate(work: Callable[[], object], pairs: int, repeats: int = 3) -> float:
    best = float("inf")
    for _ in range(repeats):
        begun = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begun)
    return pairs / best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=400)
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    pairs = [pair for story in stories(given.pairs // 4) for pair in pairwise(story)]
    model = OnnxCoherence(EMBEDDED, given.threads)
    network, _, settings = from_onnx(EMBEDDED)
    cls, sep = model.words.id_of("[CLS]"), model.words.id_of("[SEP]")

    def read(sentence: str) -> torch.Tensor:
        ids = torch.tensor([[cls, *model.words.ids(sentence)[: settings["longest"]], sep]])
        return network.read(ids, torch.ones_like(ids, dtype=torch.bool))

    def logit(first: torch.Tensor, second: torch.Tensor) -> float:
        states = torch.cat([first, second[:, 1:]], dim=1)
        segments = (torch.arange(states.shape[1]) >= first.shape[1]).long()[None]
        return float(network(states, segments, torch.ones_like(segments, dtype=torch.bool)))

    def loop(some: list[tuple[str, str]], both: bool) -> list[float]:
        found = []
        with torch.inference_mode():
            for a, b in some:
                first, second = read(a), read(b)
                z = (logit(first, second) - logit(second, first)) / 2 if both else logit(first, second)
                found.append(1 / (1 + np.exp(-z)))
        return found

    few = pairs[: max(20, given.pairs // 8)]
    gap = np.abs(model.probabilities(few) - loop(few, both=True)).max()
    ours = rate(lambda: model.probabilities(pairs), len(pairs))
    both = rate(lambda: loop(few, both=True), len(few))
    one = rate(lambda: loop(few, both=False), len(few))
    print(f"{given.threads} threads, {len(pairs)} pairs; largest difference in a probability {gap:.3f}")
    print(f"{'embedded, both orders':34s} {ours:8.0f} pairs/s")
    print(f"{'PyTorch, pair by pair, both orders':34s} {both:8.0f} pairs/s   embedded is {ours / both:.1f}x")
    print(f"{'PyTorch, pair by pair, one order':34s} {one:8.0f} pairs/s   embedded is {ours / one:.1f}x")


if __name__ == "__main__":
    main()
