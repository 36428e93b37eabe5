"""How far a study's answers can be trusted, as it runs: agreement with intervals, raters on the facets model."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from sightline.errors import UsageError
from sightline.psychometrics.agreement.alpha import Interval, bootstrap_alpha
from sightline.psychometrics.model.facets import Facets, fit_facets
from sightline.server.storage import schema as t
from sightline.server.storage.judgements import Judgement, by_question, judgements, table
from sightline.server.storage.studies import StoredStudy

ONLY_BUSIEST = "Only the raters with most answers are shown."
MOST_RATERS = 150
"""So many get intervals: their cost grows with the square of the number of raters."""
NORMAL = 1.96


@dataclass(frozen=True, slots=True)
class RaterFit:
    """One rater on the facets model: above 0 is more severe than most; reliability 1 is as consistent as usual."""

    code: str
    name: str
    judgements: int
    severity: float
    severity_low: float
    severity_high: float
    reliability: float
    reliability_low: float
    reliability_high: float


@dataclass(frozen=True, slots=True)
class Question:
    """What is known of the answers to one question."""

    name: str
    judgements: int
    raters: int
    units: int
    """Things that two or more people judged."""
    alpha: Interval
    measure: str
    fits: tuple[RaterFit, ...]
    note: str
    """Why there are no fits, or not for everybody."""


def trust(connection: Connection, stored: StoredStudy) -> list[Question]:
    """Every question of a study. Remembered until there is another answer or verdict."""
    counted = t.Answer.state != "excluded"
    query = select(func.count(), func.max(t.Answer.id), func.count().filter(counted))
    state = tuple(connection.execute(query.where(t.Answer.study_id == stored.id)).one())
    known = _held.get(stored.id)
    if known is None or known[0] != state:
        names = select(t.Rater.id, t.Rater.code, t.Rater.name).where(t.Rater.study_id == stored.id)
        people = {row.id: (row.code, row.name) for row in connection.execute(names)}
        found = [
            _question(name, given, people)
            for name, given in by_question(judgements(connection, stored)).items()
        ]
        if len(_held) > MOST_HELD:
            _held.clear()
        known = _held[stored.id] = (state, found)
    return known[1]


MOST_HELD = 64
_held: dict[int, tuple[Any, list[Question]]] = {}


def _question(name: str, given: list[Judgement], people: dict[int, tuple[str, str]]) -> Question:
    values, raters, _ = table(given)
    measure = given[0].measure
    texts = {one.unit: one.item for one in given}
    alpha = bootstrap_alpha(values, measure, clusters=np.array(list(texts.values())), samples=400)
    shared = int(((~np.isnan(values)).sum(axis=0) >= 2).sum())
    fits, note = _fits(values, raters, people) if measure == "ordinal" else ((), "")
    return Question(name, len(given), len(raters), shared, alpha, measure, fits, note)


def _fits(
    values: Any, raters: list[int], people: dict[int, tuple[str, str]]
) -> tuple[tuple[RaterFit, ...], str]:
    given = (~np.isnan(values)).sum(axis=1)
    busiest = np.sort(np.argsort(-given, kind="stable")[:MOST_RATERS])
    note = ONLY_BUSIEST if len(raters) > MOST_RATERS else ""
    values = values[busiest]
    values = values[:, ~np.isnan(values).all(axis=0)]
    try:
        found = fit_facets(values, [people[raters[at]][0] for at in busiest], errors=True)
    except UsageError as fault:
        return (), str(fault)
    rows = [_fit(found, row, *people[raters[at]], int(given[at])) for row, at in enumerate(busiest)]
    return tuple(sorted(rows, key=lambda one: one.reliability)), note


def _fit(found: Facets, row: int, code: str, name: str, given: int) -> RaterFit:
    """Severity on the items' scale; consistency beside the median rater's, its interval on the log scale."""
    usual = float(np.median(found.consistency))
    own, spread = float(found.consistency[row]) / usual, float(np.exp(NORMAL * found.log_consistency_se[row]))
    severity, error = float(found.severity[row]), NORMAL * float(found.severity_se[row])
    return RaterFit(
        code, name, given, severity, severity - error, severity + error, own, own / spread, own * spread
    )
