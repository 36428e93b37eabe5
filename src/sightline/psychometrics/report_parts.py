"""Pieces of markup that the report's sections share."""

import base64
import io
from collections.abc import Callable, Sequence

from matplotlib.figure import Figure

from sightline.psychometrics.wright import DARK, LIGHT, Palette, save_svg
from sightline.report.page import Markup

MOST_ROWS = 300
"""Rows of a table that the page shows; the files hold all."""


def picture(draw: Callable[[Palette], Figure], told: str, *, wide: bool) -> Markup:
    """A plot in the page's light and dark colours."""
    sources, width = {}, 0.0
    for name, palette in (("light", LIGHT), ("dark", DARK)):
        figure = draw(palette)
        buffer = io.BytesIO()
        save_svg(figure, buffer)
        width = figure.get_size_inches()[0] * 80
        sources[name] = "data:image/svg+xml;base64," + base64.b64encode(buffer.getvalue()).decode()
    return Markup(
        '<div class="card plot{}" tabindex="0" role="group" aria-label="{}"><picture>'
        '<source media="(prefers-color-scheme: dark)" srcset="{}">'
        '<img src="{}" alt="{}" style="--wide: {:.0f}px">'
        "</picture></div>"
    ).format("" if wide else " small", told, sources["dark"], sources["light"], told, width)


def card(body: Markup) -> Markup:
    return Markup('<div class="card">{}</div>').format(body)


def bullets(lines: Sequence[str]) -> Markup:
    return Markup('<ul class="verdicts">{}</ul>').format(
        Markup("").join(Markup("<li>{}</li>").format(line) for line in lines)
    )


def cut_note(count: int, file: str) -> Markup:
    if count <= MOST_ROWS:
        return Markup("")
    return Markup('<p class="say quiet">{} of {:,} rows; all are in {}.</p>').format(MOST_ROWS, count, file)
