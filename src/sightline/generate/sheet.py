"""A contact sheet: pictures with what is said of them beneath, captioners and axes side by side, for reading by eye."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sightline import charts
from sightline.charts import clean, counted
from sightline.report import page
from sightline.report.page import Markup, Section
from sightline.report.thumbnails import Thumbnails

SHOWN: Final = 400
"""Pictures on one sheet; more make it slow to open."""


@dataclass(frozen=True)
class Line:
    """One thing that is said of a picture."""

    label: str
    """Who says it."""
    text: str
    axis: str = ""
    note: str = ""
    kind: str = ""
    """`people` for what people said, `bad` for what went wrong."""


@dataclass(frozen=True)
class Shot:
    """A picture (or the pictures of a story) with its lines."""

    id: str
    images: tuple[Path, ...]
    lines: tuple[Line, ...]


def sheet(
    title: str,
    shots: Sequence[Shot],
    *,
    lead: str = "",
    facts: Sequence[str] = (),
    before: Sequence[Section] = (),
    after: Sequence[Section | None] = (),
    noun: str = "picture",
) -> Iterator[str]:
    """The page piece by piece; the first 400 pictures are shown."""
    shown = shots[:SHOWN]
    intro = f"The first {SHOWN} of {counted(len(shots), noun)}; the results' file has all." * (
        len(shots) > SHOWN
    )
    body = Markup('<div class="sheet">{}</div>').format(Markup("").join(_shots(shown)))
    sections = [*before, Section("Pictures", body, intro, wide=True), *(one for one in after if one)]
    return page.stream(title, sections, lead=lead, facts=facts, style=page.source("sheet.css"))


def _shots(shots: Sequence[Shot]) -> Iterator[Markup]:
    pictures = Thumbnails(sum(len(shot.images) for shot in shots))
    for shot in shots:
        data = dict(pictures.add(shot.images))
        shown = Markup("").join(_picture(pictures, path, data) for path in shot.images)
        axes = list(dict.fromkeys(line.axis for line in shot.lines))
        columns = Markup("").join(_column(shot.lines, axis, len(axes) > 1) for axis in axes)
        wide = " wide" if len(axes) > 1 else ""
        yield Markup(
            '<article class="card shot{}"><div class="pictures">{}</div><div><h3>{}</h3>'
            '<div class="columns">{}</div></div></article>'
        ).format(wide, shown, clean(shot.id), columns)


def _column(lines: Sequence[Line], axis: str, named: bool) -> Markup:
    """All that is said on one axis; with others beside it, under its name."""
    head = Markup("<h4>{}</h4>").format(clean(axis)) if named and axis else Markup("")
    body = Markup("").join(_line(line) for line in lines if line.axis == axis)
    return Markup("<div>{}<dl>{}</dl></div>").format(head, body)


def _picture(pictures: Thumbnails, path: Path, data: dict[int, str]) -> Markup:
    number, small = pictures[path]
    if number in data:
        return Markup('<img src="data:image/webp;base64,{}" alt="{}" loading="lazy">').format(
            data[number], clean(path.name)
        )
    return Markup('<span class="missing">{}</span>').format(
        clean(small.trouble.replace(str(path), path.name) or "shown above")
    )


def _line(line: Line) -> Markup:
    parts = [Markup("<b>{}</b>").format(clean(line.label))]
    parts += [Markup("<span>{}</span>").format(clean(line.note))] if line.note else []
    css = Markup(' class="{}"').format(line.kind) if line.kind else Markup("")
    return Markup("<div{}><dt>{}</dt><dd>{}</dd></div>").format(
        css, Markup(" ").join(parts), clean(line.text) or charts.clean("–")
    )


def failed(reasons: Iterable[tuple[str, str]]) -> Section | None:
    """What could not be made: id and reason."""
    rows = [[id, reason] for id, reason in reasons]
    if not rows:
        return None
    more = f" The first 200 of {len(rows):,}." if len(rows) > 200 else ""
    body = Markup('<div class="card">{}</div>').format(page.table(["which", "why"], rows[:200]))
    return Section("Failures", body, f"failures.jsonl has each with its place.{more}")
