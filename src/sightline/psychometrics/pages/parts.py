"""Pieces of markup that the report's sections share."""

import base64

from sightline.psychometrics.pages.plots import Plot
from sightline.report.page import Markup

MOST_ROWS = 300
"""Rows of a table that the page shows; the files hold all."""


def picture(plot: Plot, told: str, *, wide: bool) -> Markup:
    """A plot in the page's light and dark colours."""
    dark, light = (
        "data:image/svg+xml;base64," + base64.b64encode(svg).decode() for svg in (plot.dark, plot.light)
    )
    return Markup(
        '<div class="card plot{}" tabindex="0" role="group" aria-label="{}"><picture>'
        '<source media="(prefers-color-scheme: dark)" srcset="{}">'
        '<img src="{}" alt="{}" style="--wide: {:.0f}px">'
        "</picture></div>"
    ).format("" if wide else " small", told, dark, light, told, plot.width)


def cut_note(count: int, file: str) -> Markup:
    if count <= MOST_ROWS:
        return Markup("")
    return Markup('<p class="say quiet">{} of {:,} rows; all are in {}.</p>').format(MOST_ROWS, count, file)
