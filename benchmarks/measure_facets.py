"""How often the many-facet model's 95 % intervals hold the truth, and alpha's with few items.

    python benchmarks/measure_facets.py [SETS]

Simulates SETS studies (200) of 12 raters x 120 items and of 100 x 200, every
rater rating every item, and prints the share of severities, log consistencies and qualities within their intervals, and
the estimated spread of the qualities over the true one; then the coverage of alpha's interval for 8, 12 and 18 items.
"""

import sys

import numpy as np

from sightline.psychometrics.agreement.alpha import alpha, bootstrap_alpha
from sightline.psychometrics.model.facets import fit_facets
from sightline.psychometrics.model.simulate import simulate_facets

DESIGNS = ((12, 120), (100, 200))


def main(sets: int) -> None:
    print("| raters x items | sets | severity | consistency | quality | spread |\n|---|---|---|---|---|---|")
    for raters, items in DESIGNS:
        rng = np.random.default_rng(7)
        found = np.mean([facets_covered(rng, raters, items) for _ in range(sets)], axis=0)
        shares = " | ".join(f"{100 * share:.1f} %" for share in found[:3])
        print(f"| {raters} x {items} | {sets} | {shares} | {found[3]:.3f} |", flush=True)
    print("\n| items | alpha's interval holds the population's alpha |\n|---|---|")
    for items in (8, 12, 18):
        print(f"| {items} | {100 * alpha_covered(items, sets):.0f} % |")


def facets_covered(rng: np.random.Generator, raters: int, items: int) -> list[float]:
    made = simulate_facets(rng, raters, items)
    found = fit_facets(made.ratings, made.names, errors=True)
    pairs = (
        (found.severity - made.severity, found.severity_se),
        (np.log(found.consistency) - made.log_consistency, found.log_consistency_se),
        (found.quality - made.quality, found.quality_se),
    )
    return [*(float(np.mean(np.abs(off) < 1.96 * se)) for off, se in pairs), found.sigma / 1.5]


def alpha_covered(items: int, sets: int) -> float:
    rng = np.random.default_rng(items)
    population = alpha(rate(rng, 50_000))
    drawn = [bootstrap_alpha(rate(rng, items), samples=500, seed=n) for n in range(sets)]
    return float(np.mean([one.low <= population <= one.high for one in drawn]))


def rate(rng: np.random.Generator, items: int) -> np.ndarray:
    truth = rng.integers(1, 6, items)
    return np.clip(np.round(truth + rng.normal(0, 0.9, (4, items))), 1, 5)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)
