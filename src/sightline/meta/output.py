"""What `sightline meta` leaves: meta.json, meta.md and a report. A coefficient is never called just "tau"."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from markupsafe import Markup

from sightline.items import Failure
from sightline.meta.correlation import NAMES
from sightline.meta.evaluate import Comparison, Evaluation, Row
from sightline.meta.experiments import Plot
from sightline.meta.experiments import Table as Experimented
from sightline.meta.protocols.base import Protocol
from sightline.pipeline.files import write_whole
from sightline.report import charts, page
from sightline.report.lines import lines

TITLES = {
    "kendall_b": "Kendall τ_b",
    "kendall_c": "Kendall τ_c",
    "spearman": "Spearman ρ",
    "pearson": "Pearson r",
}
COLUMNS = ("metric", *TITLES.values(), "n", "not scored")


@dataclass(frozen=True)
class Study:
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


def write_study(study: Study, folder: Path) -> None:
    """meta.json, meta.md, report.html and, where items failed, failures.jsonl."""
    text = json.dumps(study.to_json(), indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / "meta.json", text + "\n")
    write_whole(folder / "meta.md", markdown(study))
    write_whole(folder / "report.html", page.render(*_page(study)))
    write_failures(study.failures, folder)


def write_failures(failures: Sequence[Failure], folder: Path) -> None:
    """failures.jsonl, empty where everything could be scored."""
    rows = [{"id": f.id, "metric": f.metric, "reason": f.reason, "source": f.source} for f in failures]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_whole(folder / "failures.jsonl", text)


def percent(value: float | None) -> str:
    """Correlations are printed as in the papers: times 100, one decimal."""
    return "–" if value is None else f"{100 * value:.1f}"


def with_interval(row: Row, name: str) -> str:
    ends = row.ci.get(name)
    text = percent(row.correlation.values[name])
    return f"{text} [{percent(ends[0])}, {percent(ends[1])}]" if ends else text


def _cells(row: Row) -> list[str]:
    numbers = [with_interval(row, name) for name in NAMES]
    return [row.metric, *numbers, f"{row.correlation.n:,}", f"{row.missing:,}"]


def criteria(evaluation: Evaluation) -> list[str]:
    return list(dict.fromkeys(row.criterion for row in evaluation.rows))


def markdown(study: Study) -> str:
    """The tables as Markdown."""
    found = study.evaluation
    parts = [f"# Metrics against people: {study.protocol.name}", study.protocol.keeps + "."]
    parts.append(_method(study))
    for criterion in criteria(found):
        rows = [row for row in found.rows if row.criterion == criterion]
        parts.append(f"## {criterion}")
        parts.append(_markdown_table(COLUMNS, [_cells(row) for row in rows]))
        parts.extend(f"{row.metric}: {row.correlation.why}" for row in rows if row.correlation.why)
        agreement = found.agreement.get(criterion)
        if agreement is not None:
            values = ", ".join(f"{TITLES[name]} {percent(agreement.values[name])}" for name in NAMES)
            parts.append(f"People, each rating against the mean of the item's others: {values}.")
        pairs = [pair for pair in found.comparisons if pair.criterion == criterion]
        if pairs:
            title = TITLES[study.protocol.headline]
            header = ("", f"difference in {title}", "p (bootstrap)", "Williams t, p (Pearson)")
            parts.append(
                _markdown_table(header, [_comparison(pair, study.protocol.headline) for pair in pairs])
            )
    parts.extend(found.notes)
    parts.append("Signatures: " + ", ".join(f"`{signature}`" for signature in study.signatures.values()))
    return "\n\n".join(parts) + "\n"


def _method(study: Study) -> str:
    found = study.evaluation
    unit = "rating" if study.protocol.observations == "each" else "item's mean rating"
    text = f"Each {unit} is one observation. Coefficients are given times 100."
    if found.samples:
        text += (
            f" In brackets, 95 % intervals from {found.samples:,} bootstrap samples of {found.groups:,} "
            f"groups ({study.protocol.unit})."
        )
    return text


def _comparison(pair: Comparison, name: str) -> list[str]:
    ends, p, test = pair.ci[name], pair.p[name], pair.williams
    difference = percent(pair.difference[name])
    return [
        f"{pair.metric} − {pair.other}",
        f"{difference} [{percent(ends[0])}, {percent(ends[1])}]" if ends else difference,
        "–" if p is None else f"{p:.3f}",
        "–" if test is None else f"{test.t:.2f}, {test.p:.3g}",
    ]


def _markdown_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(columns) + " |", "|" + "|".join("---" for _ in columns) + "|"]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines)


def _page(study: Study) -> tuple[str, list[page.Section]]:
    found, name = study.evaluation, study.protocol.headline
    sections = []
    for criterion in criteria(found):
        rows = [row for row in found.rows if row.criterion == criterion]
        body = charts.bars(
            _bars(rows, name, found, criterion), label=f"{TITLES[name]} with {criterion}", digits=3
        )
        body += page.table(COLUMNS, [_cells(row) for row in rows])
        pairs = [pair for pair in found.comparisons if pair.criterion == criterion]
        if pairs:
            header = ["pair", f"difference in {TITLES[name]}", "p (bootstrap)", "Williams t, p (Pearson)"]
            body += page.table(header, [_comparison(pair, name) for pair in pairs])
        why = " ".join(f"{row.metric}: {row.correlation.why}." for row in rows if row.correlation.why)
        sections.append(page.Section(f"Against people: {criterion}", body, intro=why))
    about = [
        ("protocol", study.protocol.name),
        ("source", study.protocol.source),
        ("rows kept", study.protocol.keeps),
        ("intervals", _method(study)),
        *((f"note {number}", note) for number, note in enumerate(found.notes, 1)),
        *study.signatures.items(),
    ]
    sections.append(page.Section("How this was measured", page.definitions(about)))
    return f"Metrics against people: {study.protocol.name}", sections


def _bars(rows: Sequence[Row], name: str, found: Evaluation, criterion: str) -> list[charts.Bar]:
    bars = []
    for row in rows:
        value, ends = row.correlation.values[name], row.ci.get(name)
        if value is not None:
            low, high = ends or (None, None)
            bars.append(charts.Bar(row.metric, value, low, high))
    agreement = found.agreement.get(criterion)
    if agreement is not None and (value := agreement.values[name]) is not None:
        bars.append(charts.Bar("people (leave one out)", value, series=2))
    return bars


def cell(value: str | float | int | None) -> str:
    """A table's cell as text."""
    if value is None:
        return "–"
    return f"{value:.4f}" if isinstance(value, float) else str(value)


def write_experiment(found: Experimented, folder: Path, name: str) -> None:
    """A table as Markdown and JSON, a page that draws it, and failures.jsonl."""
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    about = {"title": found.title, "notes": list(found.notes), "rows": rows}
    text = json.dumps(about, indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / f"{name}.json", text + "\n")
    cells = [[cell(value) for value in row] for row in found.rows]
    notes = "".join(f"{note}.\n\n" for note in found.notes)
    write_whole(folder / f"{name}.md", f"# {found.title}\n\n{notes}{_markdown_table(found.columns, cells)}\n")
    sections = [
        page.Section(_titled(plot.column), _drawn(plot, rows, found.columns[0])) for plot in found.plots
    ]
    heads = ["difference" if column == "difference" else _titled(column) for column in found.columns]
    table = page.table(heads, found.rows)
    sections.append(page.Section("Table", table, intro=" ".join(f"{note}." for note in found.notes)))
    write_whole(folder / f"{name}.html", page.render(found.title, sections))
    write_failures(found.failures, folder)


def _drawn(plot: Plot, rows: Sequence[Mapping[str, Any]], first: str) -> Markup:
    """Bars with intervals, or lines over a column of numbers."""
    title = _titled(plot.column)
    several = len({row.get("criterion") for row in rows}) > 1 and not plot.once and first != "criterion"
    if plot.across and plot.colour:
        series: dict[str, list[tuple[float, float]]] = {}
        for row in rows:
            if (value := row[plot.column]) is not None:
                name = _named(row, plot.colour, several)
                series.setdefault(name, []).append((float(row[plot.across]), float(value)))
        return lines(series, label=title, x_label=plot.across, y_label=title)
    colours = list(dict.fromkeys(row[plot.colour] for row in rows)) if plot.colour else []
    bars: dict[str, charts.Bar] = {}
    for row in rows:
        if (value := row[plot.column]) is not None:
            low, high = (row[name] for name in plot.interval) if plot.interval else (None, None)
            said = _named(row, first, several) + (f", {row[plot.colour]}" if plot.colour else "")
            colour = colours.index(row[plot.colour]) % 6 + 1 if plot.colour else 1
            bars[said] = charts.Bar(said, float(value), low, high, series=colour)
    return charts.bars(list(bars.values()), label=title)


def _named(row: Mapping[str, Any], column: str, several: bool) -> str:
    """A row's name, with the criterion where there are several."""
    return f"{row[column]} ({row['criterion']})" if several else str(row[column])


def _titled(column: str) -> str:
    """A column's name as people read it."""
    if column == "difference":
        return "Original less best random"
    name = next((name for name in TITLES if column == name or column.startswith(f"{name} ")), None)
    return column.replace(name, TITLES[name]) if name else column
