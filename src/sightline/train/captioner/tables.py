"""The paper's tables of what was measured, as text, Markdown, LaTeX and on a page with the captions themselves."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any, Final

from sightline.charts import counted
from sightline.generate.files import item_row
from sightline.generate.sheet import Line, Shot, failed, sheet
from sightline.io.results import ResultFolder
from sightline.report import page
from sightline.report.page import Markup, Section
from sightline.train.captioner.evaluation import METRICS, Evaluated, Row, Value
from sightline.version import package_version

TABLE_3: Final = ("cider", "sacrebleu", "rouge-l")
TABLE_4: Final = ("sacrebleu", "rouge-l", "cider")
FILES: Final = (
    "table.json",
    "table.md",
    "table.tex",
    "table.csv",
    "captions.jsonl",
    "failures.jsonl",
    "report.html",
)
PEOPLE: Final = 3
"""People's captions of an axis that are shown."""


def form(rows: Sequence[Row]) -> tuple[tuple[str, ...], bool]:
    """The columns in the order of the paper's table, and whether it has one for the axis: Table 4 is of narratives."""
    narratives = {row.axis for row in rows} == {"narrative"}
    return (TABLE_4, False) if narratives else (TABLE_3, True)


def told(value: Value, interval: bool = True) -> str:
    if not interval or value.low is None or value.high is None:
        return f"{value.mean:.2f}"
    return f"{value.mean:.2f} [{value.low:.2f}, {value.high:.2f}]"


def head(rows: Sequence[Row]) -> list[str]:
    columns, with_axis = form(rows)
    return ["Model", *(["Axis"] if with_axis else []), *(METRICS[name][0] for name in columns)]


def note(rows: Sequence[Row]) -> str:
    """How it was measured, in one sentence or two."""
    first = rows[0]
    decoding = re.sub(r"seed=\d+,", "", first.signature.rpartition("|")[2]).replace(",", ", ")
    runs = f"the average of {first.runs} runs with the same decoding ({decoding})"
    if first.runs == 1:
        why = "" if "samples=" in decoding else ", as beam search has one outcome"
        runs = f"of one run{why}, with the decoding {decoding}"
    short = [f"{row.model} ({row.axis}): {row.failed}" for row in rows if row.failed]
    more = f" Captions that could not be made, and count in nothing: {'; '.join(short)}." if short else ""
    return (
        f"Each number is {runs}, and its 95 % interval over pictures "
        f"({', '.join(f'{row.pictures:,} for {row.axis}' for row in {r.axis: r for r in rows}.values())}).{more}"
    )


def markdown(rows: Sequence[Row]) -> str:
    names = head(rows)
    lines = [names, ["---"] * len(names), *(full(row, rows) for row in rows)]
    table = "".join(f"| {' | '.join(cell.replace('|', '¦') for cell in line)} |\n" for line in lines)
    return f"{table}\n{note(rows)}\n"


def latex(rows: Sequence[Row]) -> str:
    """A booktabs table in the paper's form, without intervals, as the paper prints it."""
    names = head(rows)
    body = "".join(f"{' & '.join(map(_escaped, full(row, rows, False)))} \\\\\n" for row in rows)
    columns = "l" * (len(names) - 3) + "rrr"
    return (
        f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{' & '.join(names)} \\\\\n\\midrule\n{body}\\bottomrule\n"
        f"\\end{{tabular}}\n% {note(rows)}\n"
    )


def full(row: Row, rows: Sequence[Row], intervals: bool = True) -> list[str]:
    columns, with_axis = form(rows)
    values = (told(row.values[name], intervals) for name in columns)
    return [row.model, *([row.axis] if with_axis else []), *values]


def _escaped(text: str) -> str:
    for sign in "&%#_$":
        text = text.replace(sign, f"\\{sign}")
    return text


def write(out: ResultFolder, found: Evaluated, title: str) -> None:
    """The table in every form, the captions of all runs, and a contact sheet of the first with models side by side."""
    rows = found.rows
    out.json(
        "table.json",
        {"version": package_version(), "note": note(rows), "rows": [asdict(row) for row in rows]},
    )
    out.text("table.md", markdown(rows))
    out.text("table.tex", latex(rows))
    out.csv(
        "table.csv",
        ("model", "axis", "metric", "mean", "low", "high", "runs", "pictures", "failed"),
        _long(rows),
    )
    out.jsonl("captions.jsonl", (item_row(item, out.path) for item in found.items))
    out.failures(found.failures)
    out.text("report.html", _page(found, title))


def _long(rows: Sequence[Row]) -> Iterator[tuple[Any, ...]]:
    for row in rows:
        for metric, value in row.values.items():
            yield (
                row.model, row.axis, metric, value.mean, value.low, value.high, row.runs, row.pictures, row.failed,
            )  # fmt: skip


def _page(found: Evaluated, title: str) -> Iterator[str]:
    rows = found.rows
    body = page.table(head(rows), [full(row, rows) for row in rows])
    models = dict.fromkeys(f"{row.model}: {row.signature.partition('|')[0]}" for row in rows)
    before = Section("Table", Markup('<div class="card">{}</div>').format(body), note(rows))
    return sheet(
        title,
        _shots(found),
        facts=[counted(len({row.model for row in rows}), "captioner"), *models],
        before=[before],
        after=[failed((one.id or one.source, f"{one.system}: {one.reason}") for one in found.failures)],
    )


def _shots(found: Evaluated) -> list[Shot]:
    """Each picture with what every captioner says on every axis, and people beneath."""
    shots: dict[str, list[tuple[str, str, Any]]] = {}
    for (model, axis), described in found.described.items():
        for one in described:
            shots.setdefault(one.subject.id, []).append((axis, model, one))
    made = []
    for id, own in shots.items():
        lines: list[Line] = []
        for told_of in dict.fromkeys(axis for axis, _, _ in own):
            here = [(model, one) for axis, model, one in own if axis == told_of]
            for model, one in here:
                if one.item is None:
                    lines.append(Line(model, one.failure.reason if one.failure else "", told_of, kind="bad"))
                else:
                    lines.append(Line(model, one.item.whole_text, told_of))
            people = dict.fromkeys(caption.text for caption in here[0][1].subject.told(told_of))
            lines += [Line("people", text, told_of, kind="people") for text in list(people)[:PEOPLE]]
        made.append(Shot(id, own[0][2].subject.images, tuple(lines)))
    return made
