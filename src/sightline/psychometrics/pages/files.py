"""An analysis as files: items.csv, persons.csv, fit.json, raters.csv, workers.csv, plots and the report."""

import math
from collections.abc import Iterable
from dataclasses import asdict
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from sightline.io.json_csv import safe_cell
from sightline.io.ratings import REASONS
from sightline.io.results import ResultFolder
from sightline.psychometrics.analysis import Analysis
from sightline.psychometrics.model.fit import Coefficient
from sightline.psychometrics.model.population import Smooth
from sightline.psychometrics.model.responses import Floats
from sightline.psychometrics.pages.wright import characteristic_curves, wright_map

FIGURES = {
    "wright": "Wright map: people on the left, the items' thresholds on the right, on one axis",
    "curves": "Probability of each level along the ability, for each item",
}

CHECKED = {
    "answers": "known_answers",
    "exact": "known_exact",
    "adjacent": "known_adjacent",
    "score": "known_score",
}
"""What persons.csv calls the parts of a rater's record on items whose answer is known."""


def write_analysis(analysis: Analysis, folder: Path, title: str) -> dict[str, Any]:
    """Write every file of an analysis; returns what fit.json holds."""
    from sightline.psychometrics.pages.page import report  # the report draws on this module's summary

    summary = summarise(analysis)
    sheets = {
        "wright": wright_map(analysis.fit, analysis.persons.wle.ability, analysis.predictions),
        "curves": characteristic_curves(analysis.fit),
    }
    with ResultFolder(folder) as out:
        _write_csv(out, "items.csv", item_table(analysis))
        _write_csv(out, "persons.csv", person_table(analysis))
        if analysis.facets or (analysis.agreement and analysis.agreement.raters):
            _write_csv(out, "raters.csv", rater_table(analysis))
        if analysis.workers:
            rows = [asdict(worker) for worker in analysis.workers.workers]
            _write_csv(
                out, "workers.csv", {key: [row[key] for row in rows] for key in rows[0]} if rows else {}
            )
        for name, sheet in sheets.items():
            out.text(f"{name}.svg", sheet.svg(FIGURES[name]))
            out.bytes(f"{name}.png", sheet.png())
        out.json("fit.json", summary)
        drawn = (sheet.markup(FIGURES[name]) for name, sheet in sheets.items())
        out.text("report.html", report(analysis, summary, title, *drawn))
    return summary


def item_table(analysis: Analysis) -> dict[str, Any]:
    """A row an item; an item that could not be placed has empty cells and a note."""
    found = analysis.fit
    names = [*found.responses.items, *found.responses.left_out]
    most = int(found.design.steps.max())
    blank = [math.nan] * len(found.responses.left_out)
    location, location_se = found.locations()
    columns: dict[str, Any] = {"item": names, "location": [*location, *blank]}
    kinds = {"threshold": found.thresholds(), "thurstone": found.thurstone()}
    for kind, (values, _) in kinds.items():
        columns |= _by_level(found.design.item, found.design.level, values, kind, "", most, len(blank))
    columns["location_se"] = [*location_se, *blank]
    for kind, (_, errors) in kinds.items():
        columns |= _by_level(found.design.item, found.design.level, errors, kind, "_se", most, len(blank))
    for name, values in asdict(analysis.item_fit).items():
        columns[name] = [*values, *blank]
    place = {name: n for n, name in enumerate(analysis.ratings.items)}
    views = analysis.agreement.items if analysis.agreement else []
    if views:
        for name in ("ratings", "mean", "sd", "exact"):
            columns[f"agreement_{name}" if name == "exact" else name] = [
                getattr(views[place[item]], name) for item in names
            ]
    columns["levels"] = [" ".join(map(str, known)) for known in found.responses.labels] + [""] * len(blank)
    columns["note"] = [""] * len(found.responses.items) + list(found.responses.left_out.values())
    return columns


def _by_level(
    item: Any, level: Any, values: Floats, kind: str, suffix: str, most: int, blanks: int
) -> dict[str, Any]:
    table = np.full((int(item.max()) + 1 + blanks, most), math.nan)
    table[item, level - 1] = values
    return {f"{kind}_{k + 1}{suffix}": table[:, k] for k in range(most)}


def person_table(analysis: Analysis) -> dict[str, Any]:
    """A row a person. `ability` is Warm's weighted likelihood estimate: finite for every score, without a
    prior."""
    people = analysis.persons
    columns: dict[str, Any] = {
        "person": analysis.fit.responses.persons,
        "ability": people.wle.ability,
        "se": people.wle.se,
        "eap": people.eap.ability,
        "eap_se": people.eap.se,
        "mle": people.mle.ability,
        "mle_se": people.mle.se,
        "score": people.score.astype(np.int64),
        "most": people.most.astype(np.int64),
        "answers": people.answers.astype(np.int64),
    }
    columns |= asdict(people.fit)
    if analysis.known:
        checked = {one.rater: asdict(one) for one in analysis.known.raters}
        for name, column in CHECKED.items():
            columns[column] = [
                checked[person][name] if person in checked else None for person in columns["person"]
            ]
    for n, name in enumerate(analysis.fit.responses.covariate_names):
        columns[name if name not in columns else f"covariate_{name}"] = analysis.fit.responses.covariates[
            :, n
        ]
    return columns


def rater_table(analysis: Analysis) -> dict[str, Any]:
    """A row a rater: agreement with the others, and severity and consistency where they were modelled."""
    columns: dict[str, Any] = {"rater": analysis.ratings.persons}
    if analysis.agreement and analysis.agreement.raters:
        views = [asdict(view) for view in analysis.agreement.raters]
        columns |= {name: [view[name] for view in views] for name in views[0]}
    if analysis.facets:
        for name in ("severity", "severity_se", "consistency", "log_consistency_se"):
            columns[name] = getattr(analysis.facets, name)
        columns["consistent"] = analysis.facets.keep
    return columns


def summarise(analysis: Analysis) -> dict[str, Any]:
    """Everything that is not a table."""
    found = analysis.fit
    mean, sd = found.spread
    extreme = int(np.isnan(analysis.persons.mle.ability).sum())
    summary: dict[str, Any] = {
        "model": found.model,
        "estimator": found.estimator,
        "criterion": analysis.ratings.criterion,
        "persons": len(found.responses.persons),
        "items": len(found.responses.items),
        "answers": int(analysis.persons.answers.sum()),
        "extreme_scores": extreme,
        "log_likelihood": found.log_likelihood,
        "parameters": found.parameters,
        "aic": found.aic,
        "bic": found.bic,
        "iterations": found.items.iterations,
        "converged": found.converged,
        "centring": "category parameters of all items sum to zero (eRm)",
        "population": {
            "shape": "smooth" if isinstance(found.marginal.population, Smooth) else "normal",
            "mean": mean.estimate,
            "mean_se": mean.se,
            "sd": sd.estimate,
            "sd_se": sd.se,
        },
        "reliability": analysis.reliability,
    }
    if found.responses.covariate_names:
        summary["regression"] = {
            "coefficients": [_coefficient(c) for c in found.coefficients],
            "residual_sd": sd.estimate,
            "explained": analysis.explained,
            "predicted": [asdict(p) for p in analysis.predictions],
            "two_step": [_coefficient(c) for c in analysis.two_step],
        }
    if analysis.competency:
        summary["competency"] = asdict(analysis.competency)
    if analysis.design:
        summary["design"] = asdict(analysis.design) | {"missing": analysis.design.missing}
    if analysis.agreement:
        summary["agreement"] = _agreement(analysis)
    if analysis.workers:
        summary["workers"] = {
            "alpha_gold": analysis.workers.alpha_gold,
            "threshold": analysis.workers.threshold,
            "gate": analysis.workers.gate,
            "passing": asdict(analysis.passing) if analysis.passing else None,
            "gold": list(analysis.settings.gold),
            "kept": [worker.name for worker in analysis.workers.workers if worker.keep],
        }
    if analysis.facets:
        summary["facets"] = {
            "log_likelihood": analysis.facets.log_likelihood,
            "converged": analysis.facets.converged,
            "quality_sd": analysis.facets.sigma,
            "thresholds": [float(step) for step in analysis.facets.thresholds],
            "inconsistent": [
                name
                for name, keep in zip(analysis.facets.raters, analysis.facets.keep, strict=True)
                if not keep
            ],
        }
    if analysis.known:
        known = analysis.known
        summary["known_answers"] = {
            "raters": len(known.raters),
            "items": known.items,
            "answers": known.answers,
            **{name: known.mean(name) for name in ("exact", "adjacent", "score")},
            "competency": asdict(known.competency) if known.competency else None,
            "why": known.why,
        }
    summary["left_out"] = found.responses.left_out
    summary["ratings_left_out"] = [
        {"reason": name, "n": count, "why": REASONS[name]}
        for name, count in analysis.ratings.left_out.items()
    ]
    summary["notes"] = [*analysis.ratings.notes, *found.responses.notes]
    return summary


def _agreement(analysis: Analysis) -> dict[str, Any]:
    known = analysis.agreement
    assert known is not None
    return {
        "alpha": {scale: asdict(one) | {"rough": one.rough} for scale, one in known.alpha.items()},
        "fleiss_kappa": known.kappa,
        "kendall_w": asdict(known.concordance),
        "icc": asdict(known.icc),
        "pairwise": asdict(known.pairs),
    }


def _coefficient(c: Coefficient) -> dict[str, Any]:
    return {"name": c.name, "estimate": c.estimate, "se": c.se, "z": c.z, "p": c.p}


def _write_csv(out: ResultFolder, name: str, columns: dict[str, Any]) -> None:
    """By column: a million people take seconds."""
    file = BytesIO()
    table = pa.table({safe_cell(name): _column(values) for name, values in columns.items()})
    pacsv.write_csv(table, file, pacsv.WriteOptions(quoting_style="needed"))
    out.bytes(name, file.getvalue())


def _column(values: Iterable[Any]) -> pa.Array:
    listed = values if isinstance(values, np.ndarray) else list(values)
    if len(listed) and isinstance(listed[0], float | np.floating):
        numbers = np.asarray(listed, np.float64)
        return pa.array(numbers, mask=~np.isfinite(numbers))
    return pa.array([safe_cell(value) for value in listed] if isinstance(listed, list) else listed)
