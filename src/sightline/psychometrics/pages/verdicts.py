"""What numbers mean, in plain sentences. The limits are the usual ones of the literature and named."""

import numpy as np

from sightline.io.ratings import told
from sightline.psychometrics.agreement.alpha import Interval
from sightline.psychometrics.agreement.competency import KnownAnswers
from sightline.psychometrics.analysis import Analysis

NOISY, REGULAR = 1.3, 0.7
"""Mean squares beyond which answers scatter more, or less, than the model expects (Wright and Linacre
1994)."""


def in_short(analysis: Analysis) -> list[str]:
    """The findings, the most important first."""
    lines = []
    if analysis.agreement:
        scale = analysis.settings.scale
        lines.append(agreement_verdict(analysis.agreement.alpha[scale], scale))
    lines.append(reliability_verdict(analysis.reliability["eap"]))
    odd = [
        name
        for name, infit, outfit in zip(
            analysis.fit.responses.items, analysis.item_fit.infit, analysis.item_fit.outfit, strict=True
        )
        if fit_verdict(float(infit), float(outfit)) == "noisy"
    ]
    count = len(analysis.fit.responses.items)
    lines.append(
        f"{len(odd)} of {count} items get answers that surprise the model: {_some(odd)}."
        if odd
        else f"None of the {count} items gets answers that surprise the model."
    )
    lines += [
        f"One unit of {c.name} goes with {c.estimate:+.2f} logits of ability (± {1.96 * c.se:.2f}), "
        + ("more than chance." if c.p < 0.05 else "which chance could explain.")
        for c in analysis.fit.coefficients[1:]
    ]
    if analysis.competency:
        lines += competency_verdicts(analysis)
    if analysis.known:
        lines.append(known_verdict(analysis.known))
    lines += told(dict(analysis.ratings.left_out))
    if analysis.workers:
        kept = sum(worker.keep for worker in analysis.workers.workers)
        lines.append(
            f"{kept} of {len(analysis.workers.workers)} workers agree enough with the gold annotators."
        )
        lines.append(f"With the {analysis.workers.gate} gate and these gold ratings, {analysis.passing}.")
    if not analysis.fit.converged:
        lines.insert(0, "The estimation did not converge: do not rely on these numbers.")
    return lines


def known_verdict(known: KnownAnswers) -> str:
    """How far the raters can be trusted where the truth is known."""
    poor = [one.rater for one in known.raters if one.score < 1]
    told = f"; {_some(poor)} score below 1" if poor else ""
    return (
        f"On {known.items} items whose answer is known, {len(known.raters)} raters gave {known.answers} answers: "
        f"{100 * known.mean('exact'):.0f} % exact, {100 * known.mean('adjacent'):.0f} % at most one level off, "
        f"competency {known.mean('score'):.2f} of 2{told}."
    )


def agreement_verdict(alpha: Interval, scale: str) -> str:
    """Krippendorff's own limits: 0.8 to rely on, 0.667 for tentative conclusions."""
    if not np.isfinite(alpha.value):
        return "Agreement is not defined: the ratings do not vary."
    level = (
        "good enough to rely on (0.8 or more)"
        if alpha.value >= 0.8
        else "enough for tentative conclusions only (0.667 to 0.8)"
        if alpha.value >= 0.667
        else "too low to rely on single raters (below 0.667); means of several raters may still be sound"
    )
    few = f", a guide only: it rests on {alpha.items} items" if alpha.rough else ""
    interval = f" (95 %: {alpha.low:.2f} to {alpha.high:.2f}{few})" if np.isfinite(alpha.low) else ""
    return f"Raters agree with Krippendorff's alpha {alpha.value:.2f}{interval}, {scale}: {level}."


def reliability_verdict(value: float) -> str:
    """Can people be told apart?"""
    level = "well" if value >= 0.8 else "roughly" if value >= 0.6 else "hardly"
    return (
        f"People can {level} be told apart: {100 * value:.0f} % of the differences between their estimated "
        f"abilities are real (reliability {value:.2f}; 0.8 is wanted to judge single people)."
    )


def fit_verdict(infit: float, outfit: float) -> str:
    """One word for a pair of mean squares."""
    if not np.isfinite(infit):
        return "no basis"
    if infit > NOISY or outfit > NOISY:
        return "noisy"
    return "too regular" if infit < REGULAR and outfit < REGULAR else "as expected"


def competency_verdicts(analysis: Analysis) -> list[str]:
    """The paper's two questions: is the scale teachable, and do people use it consistently?"""
    known = analysis.competency
    assert known is not None
    lines = []
    training = analysis.fit.coefficients[1:2]
    if training:
        c = training[0]
        taught = c.estimate > 0 and c.p < 0.05
        lines.append(
            f"Is the scale teachable? {'Yes' if taught else 'Not shown'}: each point of {c.name} goes with "
            f"{c.estimate:+.2f} logits of competency (standard error {c.se:.2f}, p = {c.p:.3g})."
        )
    lines.append(
        f"Do people use it consistently? {known.above_first_count} of {known.people} people "
        f"({100 * known.above_first:.0f} %) are above every item's first threshold: at least adjacent "
        "agreement is more likely than not for them on all items."
    )
    lines.append(
        f"In {100 * known.ordered:.0f} % of the pairs of items, exact agreement on the one is harder than "
        "adjacent agreement on the other: the levels keep their order across items."
    )
    return lines


def _some(names: list[str]) -> str:
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
