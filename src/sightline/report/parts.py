"""Pieces of markup that several reports share: cards and bullet points."""

from collections.abc import Sequence

from sightline.report.page import Markup, clean


def card(body: Markup, title: str = "") -> Markup:
    head = Markup("<header><h3>{}</h3></header>").format(clean(title)) if title else Markup("")
    return Markup('<div class="card">{}{}</div>').format(head, body)


def cards(bodies: Sequence[Markup]) -> Markup:
    """Cards beside each other, as many as fit."""
    return Markup('<div class="cards">{}</div>').format(Markup("").join(bodies))


def bullets(lines: Sequence[str]) -> Markup:
    return Markup('<ul class="verdicts">{}</ul>').format(
        Markup("").join(Markup("<li>{}</li>").format(clean(line)) for line in lines)
    )
