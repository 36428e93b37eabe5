"""The one look: colours by day and by night, type, and how marks are drawn. `look.css` holds it."""

from functools import cache
from importlib.resources import files

COLOURS = 6
"""So many series have a colour of their own: `series-1` to `series-6`."""


@cache
def look() -> str:
    """The style sheet that figures and pages share."""
    return (files("sightline.charts") / "look.css").read_text("utf-8")
