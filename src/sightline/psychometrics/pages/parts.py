"""Pieces of markup that the report's sections share."""

from sightline.report.page import Markup

MOST_ROWS = 300
"""Rows of a table that the page shows; the files hold all."""


def cut_note(count: int, file: str) -> Markup:
    if count <= MOST_ROWS:
        return Markup("")
    return Markup('<p class="say quiet">{} of {:,} rows; all are in {}.</p>').format(MOST_ROWS, count, file)
