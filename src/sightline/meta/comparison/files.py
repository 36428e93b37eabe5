"""A comparison as files: compare.json for programs, and tables for a paper in Markdown, LaTeX (booktabs) and CSV."""

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.io.paper_tables import latex_table, latex_text, markdown_table, markdown_text
from sightline.io.results import ResultFolder
from sightline.meta.comparison.distance import Distance
from sightline.meta.comparison.verdict import Comparison, Pair

COLUMNS = (
    "metric", "a", "b", "difference", "low", "high", "p", "p_holm", "wins", "ties", "losses", "n", "detectable",
    "level", "value_a", "value_b", "groups",
)  # fmt: skip

Systems = Mapping[str, Mapping[str, Mapping[str, Any]]]
"""By system and metric, as in a run's summary."""


def write_comparison(
    out: ResultFolder, found: Comparison, systems: Systems, about: Mapping[str, Any]
) -> None:
    """Everything but the report. `about` says how the comparison came about (command, date, versions)."""
    rows = [pair_row(pair) for pair in found.pairs]
    out.json("compare.json", told(found, systems) | dict(about))
    out.csv("compare.csv", COLUMNS, ([row[name] for name in COLUMNS] for row in rows))
    out.text("compare.md", markdown(found, systems, [one["why"] for one in about.get("why", ())]))
    out.text("compare.tex", latex(found, systems))


def told(found: Comparison, systems: Systems) -> dict[str, Any]:
    """The contents of compare.json."""
    single = next(iter(found.distances.values()), None) if len(found.distances) == 1 else None
    by_system = {name: _distance(one) for name, one in found.distances.items()}
    return {
        "systems": systems,
        "pairs": [pair_row(pair) for pair in found.pairs],
        "d_hm": single.d_hm if single else {n: d["d_hm"] for n, d in by_system.items()} or None,
        "distances": by_system or None,
        **({"parts": next(iter(by_system.values()))["parts"]} if single else {}),
        "human": found.human,
        "against": found.against,
        "left_out": [
            {"metric": pair.metric, "a": pair.a, "b": pair.b, "only_a": pair.only_a, "only_b": pair.only_b}
            for pair in found.pairs
            if pair.only_a or pair.only_b
        ],
        "lower_is_better": sorted({pair.metric for pair in found.pairs if pair.faults}),
        "notes": found.notes,
    }


def pair_row(pair: Pair) -> dict[str, Any]:
    one = pair.contest
    return {
        "metric": pair.metric,
        "a": pair.a,
        "b": pair.b,
        "difference": one.difference,
        "low": one.low,
        "high": one.high,
        "p": one.p,
        "p_holm": one.p_holm,
        "wins": one.wins,
        "ties": one.ties,
        "losses": one.losses,
        "n": one.n,
        "detectable": one.detectable,
        "level": pair.level,
        "value_a": one.a,
        "value_b": one.b,
        "groups": one.groups,
    }


def _distance(found: Distance) -> dict[str, Any]:
    parts = {
        metric: {
            "n": part.n,
            "human": part.human,
            "generated": part.generated,
            "deviation": part.deviation,
            "generated_higher": part.higher,
        }
        for metric, part in found.parts.items()
    }
    return {"d_hm": found.d_hm, "parts": parts}


def headline(row: Mapping[str, Any] | None) -> float | None:
    """The number that is published of a metric: the corpus-level value where there is one, else the mean."""
    return published(row)[0]


def published(row: Mapping[str, Any] | None) -> tuple[float | None, float | None, float | None]:
    """That number of a summary's row, and the ends of its interval."""
    if row is None:
        return None, None, None
    if row.get("corpus") is not None:
        return row["corpus"], row.get("corpus_low"), row.get("corpus_high")
    return row["mean"], row.get("low"), row.get("high")


def four_digits(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def spanned(row: Mapping[str, Any] | None) -> str:
    """The published number with its interval, as a cell."""
    value, low, high = published(row)
    return (
        four_digits(value) if low is None or high is None else f"{four_digits(value)} [{low:.4f}, {high:.4f}]"
    )


def markdown(found: Comparison, systems: Systems, why: Sequence[str] = ()) -> str:
    """Two tables, each system's values and each pair; why systems are worse; what a reader must keep in mind."""
    head = ["system", *found.metrics]
    values = [
        [name, *(spanned(systems.get(name, {}).get(metric)) for metric in found.metrics)]
        for name in found.systems
    ]
    lines = [*markdown_table(head, values), ""]
    lines += markdown_table(
        [
            "metric",
            "a",
            "b",
            "a − b",
            "95 % interval",
            "p",
            "p (Holm)",
            "wins / ties / losses",
            "n",
            "detectable",
        ],
        [_pair_cells(pair) for pair in found.pairs],
    )
    for name, one in found.distances.items():
        parts = ", ".join(f"{metric} {part.deviation:.4f}" for metric, part in one.parts.items())
        lines += ["", f"d_HM of {markdown_text(name)}: {four_digits(one.d_hm)} ({markdown_text(parts)})"]
    for some in (why, found.notes):
        lines += ["", *(f"- {markdown_text(line)}" for line in some)] if some else []
    return "\n".join(lines) + "\n"


def _pair_cells(pair: Pair) -> list[str]:
    one = pair.contest
    interval = "–" if one.low is None or one.high is None else f"[{one.low:.4f}, {one.high:.4f}]"
    return [
        pair.metric, pair.a, pair.b, f"{one.difference:+.4f}", interval, chance(one.p), chance(one.p_holm),
        f"{one.wins} / {one.ties} / {one.losses}", str(one.n), four_digits(one.detectable),
    ]  # fmt: skip


def chance(p: float | None) -> str:
    """A p as it stands in tables."""
    return "–" if p is None else "< .001" if p < 0.001 else f"{p:.3f}".removeprefix("0") if p < 1 else "1"


def latex(found: Comparison, systems: Systems) -> str:
    """Two booktabs tables: the best of a column is bold, a dagger marks what is below it beyond chance."""
    values = [
        [latex_text(name), *(_tex_value(found, systems, name, metric) for metric in found.metrics)]
        for name in found.systems
    ]
    pairs = [list(map(latex_text, _pair_cells(pair))) for pair in found.pairs]
    head = [
        "metric",
        "$a$",
        "$b$",
        "$a-b$",
        "95\\,\\% interval",
        "$p$",
        "$p$ (Holm)",
        "w / t / l",
        "$n$",
        "detectable",
    ]
    return "\n".join(
        [
            "% \\usepackage{booktabs}",
            *latex_table(["system", *map(latex_text, found.metrics)], values, "l" + "r" * len(found.metrics)),
            f"% bold: best of the column; $\\dagger$: differs from it, p < .05 after Holm's correction over"
            f" {len(found.pairs)} comparisons",
            "",
            *latex_table(head, pairs, "lllrrrrrrr"),
            "",
        ]
    )


def _tex_value(found: Comparison, systems: Systems, name: str, metric: str) -> str:
    value = headline(systems.get(name, {}).get(metric))
    if value is None:
        return "--"
    others = {s: v for s in found.systems if (v := headline(systems.get(s, {}).get(metric))) is not None}
    faults = any(pair.faults for pair in found.pairs if pair.metric == metric)
    best = min(others.values()) if faults else max(others.values())
    text = f"{value:.4f}".replace("-", "$-$")
    if value == best:
        return rf"\textbf{{{text}}}"
    beaten = any(
        pair.metric == metric and pair.winner is not None and pair.winner != name
        and name in (pair.a, pair.b) and others[pair.winner] == best
        for pair in found.pairs
    )  # fmt: skip
    return text + (r"$^\dagger$" if beaten else "")
