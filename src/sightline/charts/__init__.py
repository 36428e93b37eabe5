"""Figures as inline SVG: they fill the width they are given and take their colours from one look, by day and by night.

>>> from sightline import charts
>>> drawn = charts.histogram([0.1, 0.4, 0.5], label="groovist")

Each function returns `Markup` for a page that carries `charts.look()` in its style. Every figure has a text for those
who cannot see it. Horizontal places are percentages, so that a figure stretches while its text does not.
"""

from sightline.charts.columns import columns
from sightline.charts.histogram import grouped, histogram
from sightline.charts.lines import lines
from sightline.charts.look import COLOURS, look
from sightline.charts.rows import Bar, bars, forest, strips
from sightline.charts.scale import decimals, ticks
from sightline.charts.scatter import scatter
from sightline.charts.sheet import Sheet, fitted
from sightline.charts.words import SizedWord, shades, sized_words
from sightline.charts.writing import clean, counted, enumerated, number

__all__ = [
    "COLOURS",
    "Bar",
    "Sheet",
    "SizedWord",
    "bars",
    "clean",
    "columns",
    "counted",
    "decimals",
    "enumerated",
    "fitted",
    "forest",
    "grouped",
    "histogram",
    "lines",
    "look",
    "number",
    "scatter",
    "shades",
    "sized_words",
    "strips",
    "ticks",
]
