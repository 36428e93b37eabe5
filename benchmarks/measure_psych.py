"""Does the model find what was put in? Recovery of known parameters, and worker selection on simulated
raters.

python benchmarks/measure_psych.py [--sets 200]
"""

import argparse

import numpy as np

from sightline.psychometrics import fit, from_values
from sightline.psychometrics.agreement.workers import select_workers
from sightline.psychometrics.model.facets import fit_facets
from sightline.psychometrics.model.simulate import erm_centred, simulate, simulate_raters

SLOPE = 0.5


def recovery(sets: int, people: int = 500, items: int = 25) -> None:
    """Thresholds and the regression coefficient over many data sets: bias, and how often 95 % intervals
    cover."""
    rng = np.random.default_rng(2026)
    taus = erm_centred([d + np.array([-0.6, 0.6]) for d in rng.normal(scale=0.8, size=items)])
    truth = np.concatenate(taus)
    rows: dict[str, list[np.ndarray]] = {"mml": [], "cml": []}
    slopes: dict[str, list[tuple[float, float]]] = {"mml": [], "cml": []}
    for _ in range(sets):
        z = rng.normal(size=people)
        values = simulate(0.2 + SLOPE * z + rng.normal(size=people), taus, rng)
        responses = from_values(values, covariates=z[:, None], covariate_names=["z"])
        for estimator in rows:
            found = fit(responses, estimator=estimator)
            tau, se = found.thresholds()
            rows[estimator].append(np.stack([tau - truth, np.abs(tau - truth) <= 1.96 * se]))
            slopes[estimator].append((found.coefficients[1].estimate, found.coefficients[1].se))
    print(f"{sets} data sets, {people} people, {items} items, 3 levels, one covariate (slope {SLOPE})\n")
    print("| estimator | parameter | mean bias | largest bias | 95 % intervals cover |")
    print("|---|---|---|---|---|")
    for estimator, found_rows in rows.items():
        table = np.array(found_rows)
        bias = table[:, 0].mean(axis=0)
        cover = 100 * table[:, 1].mean()
        print(f"| {estimator} | thresholds | {bias.mean():+.4f} | {np.abs(bias).max():.4f} | {cover:.1f} % |")
        slope = np.array(slopes[estimator])
        off = slope[:, 0] - SLOPE
        cover = 100 * float((np.abs(off) <= 1.96 * slope[:, 1]).mean())
        print(f"| {estimator} | slope | {off.mean():+.4f} | {abs(off.mean()):.4f} | {cover:.1f} % |")


def workers(sets: int) -> None:
    """Random clickers among consistent and severe raters: who finds them, and what are the kept ratings
    worth?"""
    ratio, model, error = [], [], {"alpha ratio > 0.5": [], "many-facet model": [], "everybody": []}
    for seed in range(sets):
        made = simulate_raters(np.random.default_rng(seed))
        chosen = select_workers(made.ratings, made.names, made.gold)
        facets = fit_facets(made.ratings, made.names)
        place = [made.names.index(worker.name) for worker in chosen.workers]
        random = made.random[place]
        ratio.append(_auc(np.array([worker.ratio for worker in chosen.workers]), random))
        model.append(_auc(facets.consistency[place], random))
        gold = [made.names.index(name) for name in made.gold]
        kept = {
            "alpha ratio > 0.5": gold + [n for n, w in zip(place, chosen.workers, strict=True) if w.keep],
            "many-facet model": gold + [n for n in place if facets.keep[n]],
            "everybody": gold + place,
        }
        for name, raters in kept.items():
            if name == "many-facet model":
                quality = fit_facets(made.ratings[raters], [made.names[n] for n in raters]).quality
            else:
                quality = np.nanmean(made.ratings[raters], axis=0)
            error[name].append(float(np.corrcoef(quality, made.quality)[0, 1]))
    print(f"\n{sets} simulated studies: 4 gold annotators and 30 workers,")
    print("10 of them careful, 10 severe or lenient, 10 clicking at random\n")
    print("| selection | area under ROC for random workers | correlation of kept ratings with true quality |")
    print("|---|---|---|")
    for name, areas in (("alpha ratio > 0.5", ratio), ("many-facet model", model), ("everybody", None)):
        area = f"{np.mean(areas):.3f}" if areas else "–"
        print(f"| {name} | {area} | {np.mean(error[name]):.3f} |")


def _auc(value: np.ndarray, random: np.ndarray) -> float:
    """Probability that a random worker has a lower value than an honest one."""
    gap = value[~random][:, None] - value[random][None, :]
    return float((gap > 0).mean() + (gap == 0).mean() / 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200)
    sets = parser.parse_args().sets
    recovery(sets)
    workers(max(1, sets // 10))
