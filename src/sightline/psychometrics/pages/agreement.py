"""The report's sections on agreement, single raters and worker selection."""

from typing import Any

import numpy as np

from sightline import charts
from sightline.psychometrics.analysis import Analysis
from sightline.psychometrics.pages.parts import MOST_ROWS, cut_note
from sightline.psychometrics.pages.verdicts import agreement_verdict
from sightline.report.page import Section, table
from sightline.report.parts import card


def agreement_section(analysis: Analysis, summary: dict[str, Any]) -> Section | None:
    known = analysis.agreement
    if known is None:
        return None
    bars = [
        charts.Bar(f"alpha, {scale}", i.value, i.low, i.high)
        for scale, i in known.alpha.items()
        if np.isfinite(i.value) and np.isfinite(i.low)
    ]
    both = known.icc
    rows: list[list[Any]] = [
        ["Fleiss' kappa", known.kappa, "same category, beyond chance"],
        [
            "Kendall's W",
            known.concordance.w,
            f"same order; {known.concordance.items} items that all raters rated",
        ],
        ["ICC(1)", both.icc1, "one rating by anybody: share of its variance that is the item's"],
        ["ICC(2,1)", both.icc2, f"one rating, raters' severity counted; {both.items_two_way} complete items"],
        ["ICC(2,k)", both.icc2k, "the mean of all raters"],
        ["equal pairs", known.pairs.exact, f"share of {known.pairs.pairs:,} pairs of ratings that are equal"],
        ["near pairs", known.pairs.adjacent, "… at most one level apart"],
    ]
    lowest = min([0.0, *(bar.low for bar in bars if bar.low is not None)])
    chart = charts.bars(bars, label="Krippendorff's alpha with 95 % intervals", domain=(lowest, 1.0))
    return Section(
        "Agreement",
        card(chart) + card(table(["coefficient", "value", "what it says"], rows)),
        agreement_verdict(known.alpha[analysis.settings.scale], analysis.settings.scale),
    )


def raters_section(analysis: Analysis, summary: dict[str, Any]) -> Section | None:
    known = analysis.agreement
    if known is None or not known.raters:
        return None
    overall = known.alpha[analysis.settings.scale].value
    order = sorted(
        range(len(known.raters)), key=lambda n: -np.nan_to_num(known.raters[n].alpha_without, nan=-9)
    )
    rows = [
        [
            analysis.ratings.persons[n],
            view.ratings,
            view.exact,
            view.bias,
            view.correlation,
            view.alpha_without,
            view.alpha_without - overall,
        ]
        for n in order[:MOST_ROWS]
        if (view := known.raters[n])
    ]
    columns = ["rater", "ratings", "equal", "bias", "correlation", "alpha without", "gain"]
    return Section(
        "Raters one by one",
        card(table(columns, rows)) + cut_note(len(order), "raters.csv"),
        "Those who disturb agreement most come first: without them alpha would be higher by the gain. Bias "
        "is how much higher the rater's ratings are than the others' on the same items; a rater with a "
        "bias but a high correlation is severe or lenient, one with a low correlation is inconsistent.",
    )


def workers_section(analysis: Analysis, summary: dict[str, Any]) -> Section | None:
    chosen = analysis.workers
    if chosen is None:
        return None
    rows = [
        [worker.name, worker.shared, worker.alpha, worker.ratio, "keep" if worker.keep else "leave out"]
        for worker in sorted(chosen.workers, key=lambda worker: -np.nan_to_num(worker.ratio, nan=-9))
    ]
    return Section(
        "Worker selection",
        card(table(["worker", "gold items rated", "alpha with gold", "ratio", "verdict"], rows)),
        (
            f"The gold annotators' own alpha is {chosen.alpha_gold:.3f}. A worker is kept if alpha with the "
            f"worker among them is more than {chosen.threshold:g} of that."
            if chosen.gate == "pooled"
            else f"A gold annotator's alpha with the mean of the others is {chosen.alpha_gold:.3f} on average. A "
            f"worker is kept if alpha with the gold annotators' mean is more than {chosen.threshold:g} of that."
        )
        + f" Which workers this would let through: {analysis.passing}.",
    )


def facets_section(analysis: Analysis, summary: dict[str, Any]) -> Section | None:
    """Severity and consistency of each rater."""
    known = analysis.facets
    if known is None:
        return None
    rows = [
        [
            known.raters[n],
            float(known.severity[n]),
            float(known.severity_se[n]),
            float(known.consistency[n]),
            "consistent" if known.keep[n] else "inconsistent",
        ]
        for n in np.argsort(known.consistency)[:MOST_ROWS]
    ]
    return Section(
        "Severity and consistency",
        card(table(["rater", "severity", "± se", "consistency", "reading"], rows, digits=2))
        + cut_note(len(known.raters), "raters.csv"),
        "From a many-facet model that tells raters' ways from the items' quality; the least consistent come "
        "first. A severe rater (above 0) gives lower levels than others would, which can be corrected for. "
        "Consistency is how much a rater's levels follow the items' quality; below 0.4 of the median rater's "
        "they are mostly noise, which cannot.",
    )
