"""The page every report is built on: one self-contained HTML file that asks the network for nothing.

>>> from sightline import charts
>>> from sightline.report import page
>>> html = page.render(
...     "Metrics against people",
...     [
...         page.Section("Correlation", page.table(["metric", "tau_c"], [["groovist", 0.414]])),
...         page.Section("Scores", charts.histogram([0.1, 0.4, 0.5], label="groovist")),
...     ],
...     facts=["5,664 pairs", "3 raters"],
... )

Text that is not `Markup` is escaped wherever it goes in, so hostile text stays text. Scripts run only if
their hash is in the page's Content-Security-Policy, which `stream` writes.
"""

import base64
import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape

from sightline import charts
from sightline.charts import clean, number
from sightline.io.provenance import provenance, without_places

__all__ = ["Markup", "Section", "clean", "definitions", "number", "render", "source", "stream", "table"]


@dataclass(frozen=True)
class Section:
    """One part of a page. `body` is finished markup; title and intro are plain text."""

    title: str
    body: Markup
    intro: str = ""
    id: str = ""
    """Anchor in the page's address; made from the title where empty."""
    wide: bool = False
    """Whether it may use the whole width of the window."""

    @property
    def anchor(self) -> str:
        return self.id or re.sub(r"[^a-z0-9]+", "-", self.title.lower()).strip("-") or "section"


def render(title: str, sections: Sequence[Section], **options: Any) -> str:
    """The whole page as text; options as in `stream`."""
    return "".join(stream(title, sections, **options))


def stream(
    title: str,
    sections: Sequence[Section],
    *,
    lead: str = "",
    facts: Sequence[str] = (),
    style: str = "",
    script: str = "",
    blocks: Iterable[Markup] = (),
    made: Mapping[str, Any] | None = None,
) -> Iterator[str]:
    """The page piece by piece.

    `lead` is a sentence under the title, `facts` are short remarks below it ("5,000 stories"). `style` and
    `script` are added to the page's own. `blocks` are written last, one by one, however many there are. `made` is the
    provenance at the foot: of this process, where none is given.
    """
    yield from (
        _environment()
        .get_template("page.html")
        .generate(
            title=clean(title),
            lead=clean(lead),
            facts=[clean(fact) for fact in facts],
            sections=sections,
            style=Markup(charts.look() + source("page.css") + style),
            script=Markup(script),
            script_hash=_hash(script) if script else "",
            blocks=blocks,
            made=_foot(made or provenance()),
        )
    )


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    caption: str = "",
    digits: int = 3,
    head: bool = True,
) -> Markup:
    """A table. Numbers are right-aligned and rounded, None is a dash; `head`: the first column names rows."""
    body = [[_cell(value, digits) for value in row] for row in rows]
    numeric = [bool(body) and all(row[place][1] for row in body) for place in range(len(columns))]
    return Markup(
        _environment()
        .get_template("table.html")
        .render(
            columns=[clean(name) for name in columns], rows=body, numeric=numeric, caption=caption, head=head
        )
    )


def definitions(pairs: Iterable[tuple[str, Any]], digits: int = 3) -> Markup:
    """Names and their values as a compact list."""
    entries = Markup("").join(
        Markup("<div><dt>{}</dt><dd>{}</dd></div>").format(clean(name), _cell(value, digits)[0])
        for name, value in pairs
    )
    return Markup('<dl class="definitions">{}</dl>').format(entries)


def _foot(made: Mapping[str, Any]) -> dict[str, str]:
    """Command, date and versions as they stand at the foot of a page."""
    versions = dict(made.get("versions", {}))
    own = versions.pop("sightline", "")
    others = ", ".join(f"{name} {value}" for name, value in versions.items())
    date = str(made.get("date", "")).replace("T", " ").replace("+00:00", "")
    return {
        "command": clean(without_places(str(made.get("command", "")))),
        "date": clean(f"{date[:16]} UTC" if date else ""),
        "versions": clean(f"Sightline {own}".strip() + (f" ({others})" if others else "")),
    }


@cache
def source(name: str) -> str:
    """A style sheet or script of this room."""
    return (files("sightline.report") / "web" / name).read_text("utf-8")


def _cell(value: Any, digits: int) -> tuple[Markup, bool]:
    """A cell's markup, and whether it is a number (or the absence of one)."""
    if isinstance(value, Markup):
        return value, False
    if value is None:
        return Markup("–"), True
    if isinstance(value, bool):
        return Markup("yes" if value else "no"), False
    if isinstance(value, int | float):
        return escape(number(value, digits)), True
    return escape(clean(str(value))), False


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("sightline.report", "web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
