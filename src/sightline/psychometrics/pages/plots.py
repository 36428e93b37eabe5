"""The plots of an analysis, each drawn once in the colours of day and of night."""

import io
from collections.abc import Callable
from dataclasses import dataclass

import matplotlib as mpl
from matplotlib.figure import Figure

from sightline.psychometrics.analysis import Analysis
from sightline.psychometrics.pages.wright import DARK, LIGHT, Palette, characteristic_curves, wright_map

PIXELS_PER_INCH = 80


@dataclass(frozen=True)
class Plot:
    """A picture as files and for the page."""

    light: bytes
    """SVG"""
    dark: bytes
    """SVG"""
    png: bytes
    width: float
    """Pixels at which its text is easily read."""


def wright_plot(analysis: Analysis) -> Plot:
    """The Wright map."""
    people = analysis.persons.wle.ability
    return _plot(lambda palette: wright_map(analysis.fit, people, analysis.predictions, palette))


def curves_plot(analysis: Analysis) -> Plot:
    """The characteristic curves."""
    return _plot(lambda palette: characteristic_curves(analysis.fit, palette))


def _plot(draw: Callable[[Palette], Figure]) -> Plot:
    light, dark = draw(LIGHT), draw(DARK)
    width = float(light.get_size_inches()[0]) * PIXELS_PER_INCH
    return Plot(_saved(light, "svg"), _saved(dark, "svg"), _saved(light, "png"), width)


def _saved(figure: Figure, kind: str) -> bytes:
    """The figure in a format; text in SVG stays text, and the same figure gives the same bytes."""
    file = io.BytesIO()
    with mpl.rc_context({"svg.hashsalt": "sightline", "svg.fonttype": "none"}):
        figure.savefig(file, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    figure.set_layout_engine("none")  # laid out once; the next format need not do it again
    return file.getvalue()
