"""One table of metrics by benchmarks: each one's headline coefficient with its interval, and what an item costs."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.errors import UsageError
from sightline.io.paper_tables import latex_table, latex_text
from sightline.io.results import ResultFolder
from sightline.items import Evidence, Failure, Item
from sightline.meta.evaluate import MetaRow, evaluate
from sightline.meta.findings.files import markdown_table
from sightline.meta.findings.page import STYLE, figures
from sightline.meta.findings.words import HEADLINES, Value, between, joined, percent
from sightline.meta.protocols.base import Protocol, make_protocol
from sightline.meta.ratings import OVERALL
from sightline.meta.scoring import Scored, reads_pictures
from sightline.report import page

Score = Callable[[Sequence[Item], Sequence[str]], Scored]
COST = (
    "Seconds an item were measured in this run, one metric after the other, with what the cache held already; tokens "
    "are those of a judge's questions and answers"
)


@dataclass(frozen=True)
class Benchmark:
    """A column: a protocol, and which of its criteria and coefficients stands for it."""

    spec: str
    protocol: Protocol
    criterion: str

    @property
    def title(self) -> str:
        return f"{self.spec}, {HEADLINES[self.protocol.headline]}"


@dataclass
class MetricRow:
    """A row: one metric on every benchmark."""

    metric: str
    rows: dict[str, MetaRow] = field(default_factory=dict)
    """By benchmark."""
    signatures: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    items: int = 0
    tokens: float = 0.0

    @property
    def seconds_an_item(self) -> float | None:
        return self.seconds / self.items if self.items else None

    @property
    def tokens_an_item(self) -> float | None:
        return self.tokens / self.items if self.items and self.tokens else None


@dataclass(frozen=True)
class Leaderboard:
    """Metrics by benchmarks."""

    benchmarks: tuple[Benchmark, ...]
    entries: tuple[MetricRow, ...]
    failures: tuple[Failure, ...]
    notes: tuple[str, ...]

    def value(self, entry: MetricRow, benchmark: Benchmark) -> float | None:
        row = entry.rows.get(benchmark.spec)
        return row.values[benchmark.protocol.headline] if row else None

    def best(self, benchmark: Benchmark) -> float | None:
        found = [value for entry in self.entries if (value := self.value(entry, benchmark)) is not None]
        return max(found, default=None)

    def to_json(self) -> dict[str, Any]:
        return {
            "benchmarks": [
                {
                    "protocol": one.spec,
                    "criterion": one.criterion,
                    "coefficient": one.protocol.headline,
                    "source": one.protocol.source,
                    "keeps": one.protocol.keeps,
                }
                for one in self.benchmarks
            ],
            "rows": [
                {
                    "metric": entry.metric,
                    "seconds_an_item": entry.seconds_an_item,
                    "tokens_an_item": entry.tokens_an_item,
                    "values": {
                        one.spec: _cell(entry.rows[one.spec], one.protocol.headline)
                        for one in self.benchmarks
                        if one.spec in entry.rows
                    },
                    "signatures": entry.signatures,
                }
                for entry in self.entries
            ],
            "notes": list(self.notes),
        }


def _cell(row: MetaRow, name: str) -> dict[str, Any]:
    ends = row.ci.get(name)
    n = row.preferences.pairs if name not in row.correlation.values else row.correlation.n
    about = {"n": n, "missing": row.missing, "ties": row.preferences.ties}
    return {"value": row.values[name], "ci": list(ends) if ends else None, **about}


def made(
    specs: Sequence[str],
    folders: Sequence[Path],
    metrics: Sequence[str],
    score: Score,
    samples: int,
    seed: int,
) -> Leaderboard:
    """Score every benchmark's items with every metric. A metric that a benchmark cannot use has an empty cell."""
    if not metrics:
        raise UsageError("no metric is named; give -m NAME ('sightline metrics' lists them)")
    entries = {metric: MetricRow(metric) for metric in metrics}
    benchmarks: list[Benchmark] = []
    failures: list[Failure] = []
    notes: dict[str, None] = {}
    for spec, folder in zip(specs, folders, strict=True):
        protocol = make_protocol(spec)
        items = protocol.items(folder, pictures=reads_pictures(metrics))
        scores: dict[str, Mapping[Any, float]] = {}
        for metric, entry in entries.items():
            started = time.perf_counter()
            scored = score(items, [metric])
            entry.seconds += time.perf_counter() - started
            entry.items += len(items)
            entry.tokens += _tokens(scored.evidence[metric].values())
            entry.signatures[spec] = scored.signatures[metric]
            scores[metric] = scored.scores[metric]
            failures += scored.failures
            notes.update(dict.fromkeys(f"{spec}: {note}" for note in scored.notes))
        found = evaluate(items, scores, **protocol.rules(), samples=samples, seed=seed)
        criteria = list(dict.fromkeys(row.criterion for row in found.rows))
        benchmark = Benchmark(spec, protocol, OVERALL if OVERALL in criteria else criteria[0])
        benchmarks.append(benchmark)
        for metric, entry in entries.items():
            entry.rows[spec] = row = found.row(metric, benchmark.criterion)
            if row.values[protocol.headline] is None:
                notes[f"{spec}, {metric}: {row.correlation.why or 'no two texts are rated differently'}"] = (
                    None
                )
    return Leaderboard(tuple(benchmarks), tuple(entries.values()), tuple(failures), tuple(notes))


def _tokens(evidence: Any) -> float:
    found: list[Evidence] = list(evidence)
    return sum(one.parts.get("tokens", 0.0) for one in found)


def folders_for(specs: Sequence[str], data: Sequence[Path]) -> list[Path]:
    """The folder of each protocol: as many as protocols, or one that holds all, maybe each in a folder of its name."""
    if len(data) == len(specs):
        return list(data)
    if len(data) != 1:
        raise UsageError(
            f"{len(specs)} protocols and {len(data)} folders: give --data once, or once for each"
        )
    names = [spec.partition(":")[0] for spec in specs]
    return [data[0] / name if (data[0] / name).is_dir() else data[0] for name in names]


def table_of(board: Leaderboard) -> tuple[list[str], list[list[Value]]]:
    """A row a metric: each benchmark's coefficient with its interval, then what an item costs."""
    tokens = any(entry.tokens for entry in board.entries)
    heads = [
        "metric",
        *(one.title for one in board.benchmarks),
        "s an item",
        *(["tokens an item"] if tokens else []),
    ]
    rows = []
    for entry in board.entries:
        cells: list[Value] = [(entry.metric, "")]
        for one in board.benchmarks:
            row = entry.rows[one.spec]
            cells.append((percent(board.value(entry, one)), between(row.ci.get(one.protocol.headline))))
        cost = [(_number(entry.seconds_an_item, 4), "")]
        cells += [*cost, *([(_number(entry.tokens_an_item, 0), "")] if tokens else [])]
        rows.append(cells)
    return heads, rows


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def write_leaderboard(board: Leaderboard, out: ResultFolder) -> None:
    """leaderboard.json, .md and .tex, report.html and failures.jsonl."""
    out.json("leaderboard.json", board.to_json())
    out.text("leaderboard.md", markdown(board))
    out.text("leaderboard.tex", latex(board))
    out.text("report.html", leaderboard_page(board))
    out.failures(board.failures)


def markdown(board: Leaderboard) -> str:
    about = [
        f"- {one.spec}, {one.criterion}: {one.protocol.source}; {one.protocol.keeps}."
        for one in board.benchmarks
    ]
    notes = [*board.notes, COST]
    parts = ["# Metrics by benchmarks", _told(), markdown_table(*table_of(board)), "\n".join(about)]
    return "\n\n".join([*parts, *(f"{note}." for note in notes)]) + "\n"


def _told() -> str:
    return "Agreement with people, times 100; in brackets 95 % intervals from resampled pictures."


def latex(board: Leaderboard) -> str:
    """A booktabs table, the highest of each column bold, intervals as small print."""
    heads, rows = table_of(board)
    lines = []
    for entry, cells in zip(board.entries, rows, strict=True):
        line = [latex_text(cells[0][0])]
        for one, (text, ends) in zip(board.benchmarks, cells[1:], strict=False):
            value = board.value(entry, one)
            shown = latex_text(text)
            shown = rf"\textbf{{{shown}}}" if value is not None and value == board.best(one) else shown
            line.append(f"{shown} {{\\scriptsize {latex_text(ends)}}}" if ends else shown)
        line += [latex_text(joined(cell)) for cell in cells[1 + len(board.benchmarks) :]]
        lines.append(line)
    table = latex_table(list(map(latex_text, heads)), lines, "l" + "r" * (len(heads) - 1))
    return "\n".join(["% \\usepackage{booktabs}", *table, f"% {_told()}", ""])


PROSE = """
.definitions { display: block; }
.definitions > div { display: block; margin-bottom: 0.7rem; }
.definitions dd { margin: 0; font-weight: 400; overflow-wrap: anywhere; }
"""
"""What the benchmarks are is told in sentences, and signatures are long."""


def leaderboard_page(board: Leaderboard) -> str:
    """The table, what each benchmark is, and how it was measured."""
    notes = "".join(f"{note}. " for note in (*board.notes, COST))
    about = [
        (f"{one.spec} ({one.criterion})", f"{one.protocol.source}: {one.protocol.keeps}")
        for one in board.benchmarks
    ]
    signatures = [
        (f"{entry.metric}, {spec}", signature)
        for entry in board.entries
        for spec, signature in entry.signatures.items()
    ]
    sections = [
        page.Section(
            "Agreement with people", figures(*table_of(board)), intro=f"{_told()} {notes}", wide=True
        ),
        page.Section("Benchmarks", page.definitions(about)),
        page.Section("Signatures", page.definitions(signatures)),
    ]
    return page.render("Metrics by benchmarks", sections, style=STYLE + PROSE)
