"""A study in words and cells: what the terminal, Markdown and the page have in common.

A coefficient is never called just "tau"; coefficients of a study are printed as in the papers, times 100.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sightline.items import Failure
from sightline.meta.correlation import ACCURACY, NAMES
from sightline.meta.evaluate import Evaluation, MetaRow, MetricDifference
from sightline.meta.protocols.base import Protocol
from sightline.meta.raters import Preferences
from sightline.report.page import number

TITLES = {
    "kendall_b": "Kendall τ_b",
    "kendall_c": "Kendall τ_c",
    "spearman": "Spearman ρ",
    "pearson": "Pearson r",
}
HEADLINES = {**TITLES, ACCURACY: "accuracy in pairs"}
PEOPLE = "people (leave one out)"
RATED, VOTED = "pairs as rated", "pairs as voted"
"""Columns of pairwise accuracy."""
Value = tuple[str, str]
"""A cell's text and its interval, empty where there is none."""


@dataclass(frozen=True)
class Findings:
    """An evaluation with what a reader must know of it."""

    protocol: Protocol
    evaluation: Evaluation
    signatures: Mapping[str, str]
    failures: Sequence[Failure]
    data: str

    def to_json(self) -> dict[str, Any]:
        about = {
            "name": self.protocol.name,
            "source": self.protocol.source,
            "keeps": self.protocol.keeps,
            "observations": self.protocol.observations,
            "headline": self.protocol.headline,
            "data": self.data,
        }
        found = self.evaluation.to_json()
        for row in found["rows"]:
            row["signature"] = self.signatures[row["metric"]]
            own = f"{row['metric']}: "
            row["notes"] = [n.removeprefix(own) for n in self.evaluation.notes if n.startswith(own)]
        found["bootstrap"]["unit"] = self.protocol.unit
        reasons: dict[str, dict[str, int]] = {}
        for failure in self.failures:
            by_reason = reasons.setdefault(failure.metric, {})
            by_reason[failure.reason] = by_reason.get(failure.reason, 0) + 1
        return {"protocol": about, **found, "failures": reasons}


def percent(value: float | None) -> str:
    """Times 100, one decimal."""
    return number(None if value is None else 100 * value, 1)


def between(ends: tuple[float, float] | None) -> str:
    return f"[{percent(ends[0])}, {percent(ends[1])}]" if ends else ""


def with_interval(row: MetaRow, name: str) -> str:
    return f"{percent(row.correlation.values[name])} {between(row.ci.get(name))}".rstrip()


def criteria(evaluation: Evaluation) -> list[str]:
    return list(dict.fromkeys(row.criterion for row in evaluation.rows))


def table_of(study: Findings, criterion: str, pairwise: bool = True) -> tuple[list[str], list[list[Value]]]:
    """One criterion's table: metrics, then people; pairwise accuracy where any pair was judged unequal."""
    rows = [row for row in study.evaluation.rows if row.criterion == criterion]
    heads = ["metric", *TITLES.values(), "n", "not scored"]
    rated = pairwise and any(row.preferences.pairs for row in rows)
    voted = pairwise and any(row.votes.pairs for row in rows)
    heads += [RATED] * rated + [VOTED] * voted
    cells = []
    for row in rows:
        numbers = [(percent(row.correlation.values[name]), between(row.ci.get(name))) for name in NAMES]
        counts = [(f"{row.correlation.n:,}", ""), (f"{row.missing:,}", "")]
        pairs = [_ordered(row.preferences)] * rated + [_ordered(row.votes)] * voted
        cells.append([(row.metric, ""), *numbers, *counts, *pairs])
    people = study.evaluation.agreement.get(criterion)
    if people is not None:
        numbers = [(percent(people.values[name]), "") for name in NAMES]
        empty = [("", "")] * (1 + rated + voted)
        cells.append([(PEOPLE, ""), *numbers, (f"{people.n:,}", ""), *empty])
    return heads, cells


def pair_lines(evaluation: Evaluation, criterion: str) -> list[str]:
    """Pairwise accuracy as sentences, for a screen that has no room for two more columns."""
    said = []
    for title, column in ((RATED, "preferences"), (VOTED, "votes")):
        found = [(row.metric, getattr(row, column)) for row in evaluation.rows if row.criterion == criterion]
        if any(pairs.pairs for _, pairs in found):
            said.append(
                f"{title}: " + ", ".join(f"{name} {joined(_ordered(pairs))}" for name, pairs in found)
            )
    return said


def numeric(rows: Sequence[Sequence[Value]], place: int) -> bool:
    """Whether a column holds numbers, or nothing in their place."""
    return all(re.match(r"[−–\d]|$", row[place][0]) for row in rows)


def _ordered(found: Preferences) -> Value:
    if found.accuracy is None:
        return "–", ""
    tied = f", {found.ties:,} tied" if found.ties else ""
    return f"{percent(found.accuracy)} %", f"of {found.pairs:,}{tied}"


def reasons(evaluation: Evaluation, criterion: str) -> list[str]:
    """Why a coefficient or an interval is missing, each reason once with the metrics it is true of."""
    found: dict[str, list[str]] = {}
    for row in evaluation.rows:
        if row.criterion == criterion:
            if row.correlation.why:
                found.setdefault(row.correlation.why, []).append(row.metric)
            if row.ci_why:
                found.setdefault(f"no interval, {row.ci_why}", []).append(row.metric)
    people = evaluation.agreement.get(criterion)
    if people is not None and people.why:
        found.setdefault(people.why, []).append("people")
    return [f"{', '.join(names)}: {reason}" for reason, names in found.items()]


def method(study: Findings) -> str:
    """What an observation is, and what was resampled."""
    found = study.evaluation
    unit = "rating" if study.protocol.observations == "each" else "item's mean rating"
    text = f"Each {unit} is one observation. Coefficients are given times 100."
    if found.samples and found.rows:
        counts = dict.fromkeys((min(row.groups for row in found.rows), max(row.groups for row in found.rows)))
        text += (
            f" In brackets, 95 % intervals from {found.samples:,} bootstrap samples of "
            f"{' to '.join(f'{count:,}' for count in counts)} groups ({study.protocol.unit})."
        )
    if any(row.preferences.pairs or row.votes.pairs for row in found.rows):
        text += (
            f" {RATED[:1].upper()}{RATED[1:]}: of two texts for the same pictures, how often the metric prefers "
            "the one that people rate higher (or that gets more votes); ties count half."
        )
    return text


def comparison_table(study: Findings, criterion: str) -> tuple[list[str], list[list[Value]]]:
    """Every two metrics: difference in the headline coefficient, and two tests."""
    name = study.protocol.headline
    heads = ["pair", f"difference in {HEADLINES[name]}", "p (bootstrap)", "Williams t, p (Pearson)"]
    pairs = [pair for pair in study.evaluation.comparisons if pair.criterion == criterion]
    return heads, [_comparison(pair, name) for pair in pairs]


def _comparison(pair: MetricDifference, name: str) -> list[Value]:
    p, test = pair.p[name], pair.williams
    return [
        (f"{pair.metric} − {pair.other}", ""),
        (percent(pair.difference[name]), between(pair.ci[name])),
        ("–" if p is None else f"{p:.3f}", ""),
        ("–" if test is None else f"{number(test.t, 2)}, {test.p:.3g}", ""),
    ]


def joined(value: Value) -> str:
    """A cell as one text."""
    return f"{value[0]} {value[1]}".rstrip()
