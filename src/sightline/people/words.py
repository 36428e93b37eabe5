"""What the interface says, in the study's language: English texts are the keys of every catalogue."""

import difflib
import tomllib
from functools import cache
from pathlib import Path
from typing import Protocol

from sightline.errors import unknown

FOLDER = Path(__file__).with_name("languages")
RIGHT_TO_LEFT = ("ar", "he", "fa", "ur")


NAMES = {"en": "English", "de": "Deutsch", "ar": "العربية"}
"""What a language calls itself."""


class Say(Protocol):
    """Says an English text in a language; names in braces are filled in."""

    def __call__(self, text: str, /, **values: object) -> str: ...


def languages() -> tuple[str, ...]:
    """Those that the interface speaks."""
    return ("en", *sorted(path.stem for path in FOLDER.glob("*.toml")))


def direction(language: str) -> str:
    """How a language runs: ltr or rtl."""
    return "rtl" if language in RIGHT_TO_LEFT else "ltr"


@cache
def catalogue(language: str) -> dict[str, str]:
    """English text to that of the language; empty for English."""
    if language not in languages():
        raise unknown("language", language, languages())
    if language == "en":
        return {}
    found: dict[str, str] = tomllib.loads((FOLDER / f"{language}.toml").read_text("utf-8"))
    return found


def every_text() -> frozenset[str]:
    """All that the interface says to raters, in English: what a study may put in its own words."""
    return frozenset().union(*(catalogue(language) for language in languages()))


def nearest(text: str) -> str:
    """That a text is none of the interface's, and the one that was probably meant."""
    near = difflib.get_close_matches(text, every_text(), n=1, cutoff=0.5)
    meant = f"; did you mean '{near[0]}'?" if near else ""
    return f"'{text[:80]}' is no text of the interface{meant}"


@cache
def speaker(language: str, own: tuple[tuple[str, str], ...] = ()) -> Say:
    """The voice of a language. A text that its catalogue lacks, such as a study's own, stays as it is.

    `own` are texts that a study says in its own words, by their English ones.
    """
    known = {**catalogue(language), **dict(own)}

    def say(text: str, /, **values: object) -> str:
        told = known.get(text, text)
        return told.format(**values) if values else told

    return say


english = speaker("en")
