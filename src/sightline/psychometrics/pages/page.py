"""The analysis as a page for someone who is not a psychometrician: every number with what it means."""

from typing import Any

import numpy as np

from sightline import charts
from sightline.psychometrics.analysis import Analysis
from sightline.psychometrics.pages.agreement import (
    agreement_section,
    facets_section,
    raters_section,
    workers_section,
)
from sightline.psychometrics.pages.parts import MOST_ROWS, cut_note
from sightline.psychometrics.pages.verdicts import (
    competency_verdicts,
    fit_verdict,
    in_short,
    reliability_verdict,
)
from sightline.report.page import Markup, Section, definitions, render, source, table
from sightline.report.parts import bullets, card

STYLE = """
.say { max-width: 72ch; margin: 0.6rem 0; } .card + .say, .say + .card { margin-top: 0.9rem; }
"""


def report(analysis: Analysis, summary: dict[str, Any], title: str, wright: Markup, curves: Markup) -> str:
    """The whole page."""
    makers = (
        _items,
        _people,
        _regression,
        _competency,
        agreement_section,
        raters_section,
        workers_section,
        facets_section,
    )
    made = [section for make in makers if (section := make(analysis, summary)) is not None]
    sections = [
        Section("In short", bullets(in_short(analysis))),
        _wright(wright),
        *made,
        _curves(curves),
        _model(analysis, summary),
    ]
    facts = [
        f"{summary['persons']:,} people",
        f"{summary['items']:,} items",
        f"{summary['answers']:,} answers",
        f"{summary['model'].upper()} by {'marginal' if summary['estimator'] == 'mml' else 'conditional'} ML",
    ]
    lead = "How hard each item is, how able each person is, and how far the ratings can be trusted."
    return render(title, sections, lead=lead, facts=facts, style=source("parts.css") + STYLE)


def _wright(drawn: Markup) -> Section:
    intro = (
        "People and items on one scale. A person level with a dot is as likely as not to reach that level "
        "of the item; a person above it is more likely to reach it than not. Items whose dots lie above all "
        "people are too hard to tell people apart, items below all people too easy. The dashed line is the "
        "median person."
    )
    return Section("Wright map", card(drawn), intro, wide=True)


def _items(analysis: Analysis, summary: dict[str, Any]) -> Section:
    found = analysis.fit
    most = int(found.design.steps.max())
    location, location_se = found.locations()
    steps = np.full((len(location), most), np.nan)
    steps[found.design.item, found.design.level - 1] = found.thresholds()[0]
    rows: list[list[Any]] = []
    for i in np.argsort(-location)[:MOST_ROWS]:
        own = [float(v) for v in steps[i]]
        infit, outfit = float(analysis.item_fit.infit[i]), float(analysis.item_fit.outfit[i])
        rows.append(
            [
                found.responses.items[i],
                float(location[i]),
                float(location_se[i]),
                *own,
                infit,
                outfit,
                fit_verdict(infit, outfit),
            ]
        )
    columns = [
        "item",
        "location",
        "± se",
        *(f"step {k + 1}" for k in range(most)),
        "infit",
        "outfit",
        "reading",
    ]
    body = card(table(columns, rows, digits=2))
    if found.responses.left_out:
        left = "; ".join(f"{name}: {why}" for name, why in found.responses.left_out.items())
        body += Markup('<p class="say">Not placed: {}.</p>').format(left)
    return Section(
        "Items",
        body + cut_note(len(location), "items.csv"),
        "Hardest first. The location is how hard the item is on the whole, in logits; a step is the "
        "ability at which two neighbouring levels are equally likely. Infit and outfit say whether answers "
        "scatter as the model expects: 1 is as expected, above 1.3 noisier (answers that surprise), below "
        "0.7 more regular than chance allows.",
    )


def _people(analysis: Analysis, summary: dict[str, Any]) -> Section:
    people = analysis.persons
    population, reliability = summary["population"], analysis.reliability
    chart = charts.histogram([float(v) for v in people.wle.ability], label="ability in logits")
    numbers = definitions(
        [
            ("mean of the population", population["mean"]),
            ("its spread (sd)", population["sd"]),
            ("EAP reliability", reliability["eap"]),
            ("separation reliability", reliability["wle"]),
            ("highest or lowest possible score", summary["extreme_scores"]),
        ]
    )
    order = np.argsort(-people.wle.ability, kind="stable")[:MOST_ROWS]
    rows = [
        [
            analysis.fit.responses.persons[n],
            float(people.wle.ability[n]),
            float(people.wle.se[n]),
            f"{people.score[n]:.0f} of {people.most[n]:.0f}",
            float(people.fit.infit[n]),
            fit_verdict(float(people.fit.infit[n]), float(people.fit.outfit[n])),
        ]
        for n in order
    ]
    listed = table(["person", "ability", "± se", "score", "infit", "reading"], rows, digits=2)
    body = card(chart + numbers) + Markup("<details><summary>Every person</summary>{}{}</details>").format(
        listed, cut_note(len(people.score), "persons.csv")
    )
    return Section("People", body, reliability_verdict(reliability["eap"]))


def _regression(analysis: Analysis, summary: dict[str, Any]) -> Section | None:
    if "regression" not in summary:
        return None
    found = summary["regression"]
    rows = [
        [own["name"], own["estimate"], own["se"], own["z"], own["p"], step["estimate"], step["se"]]
        for own, step in zip(found["coefficients"], found["two_step"], strict=True)
    ]
    columns = ["covariate", "logits per unit", "± se", "z", "p", "two-step", "± se"]
    body = card(table(columns, rows)) + card(
        charts.bars(
            [
                charts.Bar(
                    f"{p['covariate']} = {p['value']:g}",
                    p["mean"],
                    p["mean"] - 1.96 * p["se"],
                    p["mean"] + 1.96 * p["se"],
                )
                for p in found["predicted"]
            ],
            label="Predicted mean ability with 95 % intervals",
            digits=2,
        )
    )
    return Section(
        "What goes with ability",
        body,
        "Latent regression: abilities depend on what is known of people, estimated together with the "
        "items. The bars are predicted mean abilities. The covariates explain "
        f"{100 * found['explained']:.0f} % of the differences between people. The two-step columns regress "
        "estimated abilities afterwards: simpler, but blind to the estimates' errors.",
    )


def _competency(analysis: Analysis, summary: dict[str, Any]) -> Section | None:
    known = analysis.competency
    if known is None:
        return None
    rows = [[at.label, at.ability, at.exact, at.items_exact, at.items_adjacent] for at in known.at]
    columns = [
        "people with",
        "mean ability",
        "chance of exact agreement",
        "items exact",
        "items at least adjacent",
    ]
    body = (
        bullets(competency_verdicts(analysis))
        + Markup('<p class="say"></p>')
        + card(table(columns, rows, digits=2))
    )
    if analysis.design:
        place = {name: n for n, name in enumerate(analysis.fit.responses.items)}
        location, _ = analysis.fit.locations()
        grid = [
            [image, *(float(location[place[item]]) if item in place else None for item in row)]
            for image, row in zip(analysis.design.images, analysis.design.items, strict=True)
        ]
        heads = ["picture", *(f"level {level:g}" for level in analysis.design.levels)]
        body += card(
            table(heads, grid, digits=2, caption="How hard to rate right: location by picture and level")
        )
    return Section(
        "Competency",
        body,
        "Each rating scores 2 where it equals the expert's, 1 where it is one level off, 0 otherwise; "
        "ability is therefore agreement with the expert. Items count as exact (or at least adjacent) where "
        "that is more likely than not.",
    )


def _curves(drawn: Markup) -> Section:
    return Section(
        "Characteristic curves",
        card(drawn),
        "How likely each level is along the ability. A level that is nowhere the likeliest is hardly used "
        "as a step of its own: its neighbours could be merged.",
    )


def _model(analysis: Analysis, summary: dict[str, Any]) -> Section:
    numbers = definitions(
        [
            (name.replace("_", " "), summary[name])
            for name in ("log_likelihood", "parameters", "aic", "bic", "iterations")
        ]
        + [("converged", "yes" if summary["converged"] else "no"), ("centring", summary["centring"])]
    )
    notes = bullets(summary["notes"]) if summary["notes"] else Markup("")
    return Section(
        "The model",
        card(numbers) + notes,
        "Lower AIC or BIC is better between models of the same answers. Thresholds are relative: only "
        "differences between items, and between people and items, have meaning.",
    )
