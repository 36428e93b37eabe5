"""What training leaves for people to read: training.json and a page with the paper's Figures 5, 6 and 7."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sightline.charts import grouped
from sightline.encoders.rater import half_width_at
from sightline.io.results import ResultFolder
from sightline.meta.correlation import interval, resample
from sightline.meta.evaluate import Evaluation
from sightline.report import page
from sightline.train.rater.distribution import bins_of, distribution, figure
from sightline.train.rater.errors import EDGES, FEWEST, Range
from sightline.train.rater.intervals import half_widths, observed
from sightline.train.rater.pairs import RatedSet
from sightline.train.rater.run import Tested

VICR, CLIP = "vicr", "clipscore, rescaled"


@dataclass(frozen=True)
class RaterFindings:
    """Everything measured on pictures the rater had not seen."""

    tested: Tested
    evaluation: Evaluation
    ranges: list[Range]
    coverage: float
    coverage_ci: tuple[float, float] | None
    error_ci: tuple[float, float] | None
    """Of rescaled clipscore's mean absolute error minus the rater's."""
    width: float

    def to_json(self) -> dict[str, Any]:
        (pair,) = self.evaluation.comparisons
        return {
            "pairs": len(self.tested.pairs),
            "ratings": sum(map(len, self.tested.pairs.ratings)),
            "pictures": len(set(self.tested.pairs.groups.tolist())),
            "rows": [row.to_json() for row in self.evaluation.rows],
            "difference": pair.to_json(),
            "absolute_error": [{"range": r.name, "n": r.n, **_finite(r.error)} for r in self.ranges],
            "absolute_error_saved_ci": self.error_ci,
            "interval": {
                "wanted": 0.8,
                "held": self.coverage,
                "ci": self.coverage_ci,
                "mean_half_width": self.width,
            },
            "chosen": [json.loads(text) for text in self.tested.chosen],
        }


def _finite(error: Mapping[str, float]) -> dict[str, float | None]:
    return {name: value if np.isfinite(value) else None for name, value in error.items()}


def find(tested: Tested, scale: tuple[float, float], samples: int = 1000, seed: int = 0) -> RaterFindings:
    """Correlations, absolute errors by range, and coverage, each with an interval from resampled pictures."""
    pairs = tested.pairs
    _, place = np.unique(pairs.groups, return_inverse=True)
    weights = resample(int(place.max()) + 1, samples, seed)
    times = [len(values) for values in pairs.ratings]
    per_rating = np.repeat(place, times)
    length = scale[1] - scale[0]
    saved = (
        np.abs(np.clip(tested.rescaled, *scale) - pairs.mean)
        - np.abs(np.clip(tested.prediction, *scale) - pairs.mean)
    ) / length
    edges, half = half_widths(tested.prediction, pairs.ratings)
    x, _ = observed(tested.prediction, pairs.ratings)
    return RaterFindings(
        tested,
        tested.evaluation(samples, seed),
        tested.ranges(scale),
        float(tested.covered.mean()),
        _ci(tested.covered, per_rating, weights),
        _ci(saved, place, weights),
        float(half_width_at(x, edges, half).mean()),
    )


def _ci(values: Any, cluster: Any, weights: Any) -> tuple[float, float] | None:
    """The 95 % interval of a mean when clusters are resampled."""
    sums, counts = (np.bincount(cluster, part, weights.shape[1]) for part in (values, np.ones(len(values))))
    with np.errstate(divide="ignore", invalid="ignore"):
        return interval((weights @ sums) / (weights @ counts))


def write(out: ResultFolder, found: RaterFindings, sets: list[RatedSet], about: Mapping[str, Any]) -> None:
    """training.json, report.html, and failures.jsonl as `sightline score` writes it."""
    bins, failures = bins_of(sets, about["scale"]), [failure for one in sets for failure in one.failures]
    told = {
        **about,
        "tested": found.to_json(),
        "distribution": {one.name: distribution(one, bins) for one in sets},
        "left_out": [{"id": one.id, "reason": one.reason, "source": one.source} for one in failures],
    }
    out.failures(failures)
    out.json("training.json", told)
    out.text(
        "report.html",
        page.render(
            "A caption rater",
            sections(found, sets, about),
            lead=_lead(found),
            style=page.source("parts.css"),
        ),
    )


def lines(found: RaterFindings) -> list[str]:
    """The findings in a few lines for the screen."""
    ((first, second), (pair,)) = found.evaluation.rows, found.evaluation.comparisons
    told = [
        f"{row.metric}: Kendall tau_c {_with_ci(row.correlation.values['kendall_c'], row.ci['kendall_c'])}, "
        f"tau_b {_with_ci(row.correlation.values['kendall_b'], row.ci['kendall_b'])}, n = {row.correlation.n:,}"
        + (f" ({row.correlation.why})" if row.correlation.why else "")
        for row in (first, second)
    ]
    told.append(f"difference in tau_c: {_with_ci(pair.difference['kendall_c'], pair.ci['kendall_c'])}")
    whole, better = (
        found.ranges[0],
        [r.error[VICR] < r.error[CLIP] for r in found.ranges[1:] if r.n >= FEWEST],
    )
    told.append(
        f"mean absolute error (scale of length 1): {whole.error[VICR]:.4f}, rescaled clipscore "
        f"{whole.error[CLIP]:.4f}; lower in {sum(better)} of {len(better)} parts of the scale"
    )
    told.append(
        f"80 % intervals hold {100 * found.coverage:.1f} % of the ratings, on pictures not learned from"
    )
    return told


def _lead(found: RaterFindings) -> str:
    rater, clip = (row.correlation.values["kendall_c"] for row in found.evaluation.rows)
    if rater is None or clip is None:
        return f"Tested on {len(found.tested.pairs):,} pairs of pictures it had not seen."
    return (
        f"On pictures it had not seen, Kendall τ_c {100 * rater:.1f} with single ratings; clipscore with the same "
        f"features {100 * clip:.1f}."
    )


def sections(found: RaterFindings, sets: list[RatedSet], about: Mapping[str, Any]) -> list[page.Section]:
    rows = []
    for row in found.evaluation.rows:
        numbers = [
            _with_ci(row.correlation.values[name], row.ci[name]) for name in ("kendall_c", "kendall_b")
        ]
        rows.append([row.metric, *numbers, row.correlation.n])
    (pair,) = found.evaluation.comparisons
    gap = [_with_ci(pair.difference[name], pair.ci[name]) for name in ("kendall_c", "kendall_b")]
    rows.append(["vicr − clipscore", *gap, found.evaluation.rows[0].correlation.n])
    bins = [f"{low:.2f}" for low in EDGES[:-1]]
    by_range = [
        [r.name, r.n, r.error[VICR], r.error[CLIP], r.error[CLIP] - r.error[VICR]]
        for r in found.ranges
        if r.n
    ]
    drawn = page.Markup("").join(
        page.Markup("<h3>Mean rating {}</h3>{}").format(
            r.name, grouped(_counts(r), bins, label=f"Absolute errors, mean rating {r.name}")
        )
        for r in found.ranges[1:]
        if r.n >= FEWEST
    )
    inside = (
        f"{100 * found.coverage:.1f} % of single ratings lie within their 80 % interval"
        + (
            f" [{100 * found.coverage_ci[0]:.1f}, {100 * found.coverage_ci[1]:.1f}]"
            if found.coverage_ci
            else ""
        )
        + f"; the mean half width is {found.width:.2f} levels."
    )
    return [
        page.Section(
            "Ratings",
            figure(sets, bins_of(sets, about["scale"])),
            intro="The share of pairs by their mean rating (the paper's Figure 5), in brackets how many. A level takes "
            "what is rounded to it; levels are as they were given.",
        ),
        page.Section(
            "Agreement with people",
            page.table(["", "Kendall τ_c", "Kendall τ_b", "ratings"], rows),
            intro="Times 100; in brackets 95 % intervals when pictures are resampled. " + inside,
        ),
        page.Section(
            "Absolute errors",
            grouped(_counts(found.ranges[0]), bins, label="Absolute errors")
            + page.table(["mean rating", "pairs", VICR, CLIP, "saved"], by_range),
            intro="The paper's Figure 6. The scale's length is 1; clipscore is rescaled by a straight line fitted on "
            "the pictures that the rater learned from.",
        ),
        page.Section("Absolute errors by range", drawn, intro="The paper's Figure 7."),
        page.Section("How this was made", page.definitions(_about(about))),
    ]


def _about(about: Mapping[str, Any]) -> list[tuple[str, str]]:
    sets = "; ".join(
        f"{one['name']} ({one['pairs']:,} pairs, {one['pictures']:,} pictures)"
        for one in about["learned_from"]
    )
    low, high = about["scale"]
    plain = {**about, "scale": f"{low:g} to {high:g}", "learned_from": sets}
    return [(name.replace("_", " "), str(value)) for name, value in plain.items()]


def _counts(one: Range) -> dict[str, list[float]]:
    return {name: [float(value) for value in values] for name, values in one.histogram.items()}


def _with_ci(value: float | None, ends: tuple[float, float] | None) -> str:
    if value is None:
        return "–"
    text = f"{100 * value:.1f}"
    return f"{text} [{100 * ends[0]:.1f}, {100 * ends[1]:.1f}]" if ends else text
