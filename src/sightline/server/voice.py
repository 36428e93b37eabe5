"""In which language a visitor is spoken to: a study's own in its pages, else the first their browser asks for."""

import re
from contextlib import suppress

from fastapi import Request

from sightline.people.study import Study
from sightline.people.words import Say, languages, speaker
from sightline.server.context import Problem, server_of
from sightline.server.storage.studies import StoredStudy

_STUDY = re.compile(r"^(?:/api)?/studies/([^/]+)")
_ASKED = re.compile(r"([A-Za-z]{2,3})(?:-[\w-]+)?\s*(?:;\s*q=([\d.]+))?")


def language_of(request: Request, stored: StoredStudy | None = None) -> str:
    """The study's language for its raters; staff and passers-by have their browser's, where it is spoken here."""
    study = _study_of(request, stored)
    return study.language if study else _asked_for(request.headers.get("accept-language", ""))


def voice_of(request: Request, stored: StoredStudy | None = None) -> Say:
    """The study's own voice for its raters; everybody else's language."""
    study = _study_of(request, stored)
    return study.say if study else speaker(language_of(request, stored))


def _study_of(request: Request, stored: StoredStudy | None) -> Study | None:
    """The study whose raters a page speaks to; None for staff and passers-by."""
    if request.url.path.startswith("/staff"):
        return None
    if stored is None and (found := _STUDY.match(request.url.path)):
        with suppress(Problem):
            stored = server_of(request).study(found[1])
    return stored.study if stored is not None else None


def _asked_for(header: str) -> str:
    """The spoken language that a browser likes best; English where it likes none of them."""
    known = languages()
    wishes: list[tuple[float, str]] = []
    for part in header[:500].split(","):
        if (found := _ASKED.fullmatch(part.strip())) and found[1].lower() in known:
            try:
                wishes.append((float(found[2] or 1), found[1].lower()))
            except ValueError:
                continue
    return max(wishes, key=lambda wish: wish[0])[1] if wishes else "en"
