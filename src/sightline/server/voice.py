"""In which language a visitor is spoken to: a study's own in its pages, else the first their browser asks for."""

import re

from fastapi import Request

from sightline.people.words import Say, languages, speaker
from sightline.server.context import Problem, server_of
from sightline.server.storage.studies import StoredStudy

_STUDY = re.compile(r"^(?:/api)?/studies/([^/]+)")
_ASKED = re.compile(r"([A-Za-z]{2,3})(?:-[\w-]+)?\s*(?:;\s*q=([\d.]+))?")


def language_of(request: Request, stored: StoredStudy | None = None) -> str:
    """The study's language for its raters; staff and passers-by have their browser's, where it is spoken here."""
    if request.url.path.startswith("/staff"):
        return _asked_for(request.headers.get("accept-language", ""))
    if stored is None and (found := _STUDY.match(request.url.path)):
        try:
            stored = server_of(request).study(found[1])
        except Problem:
            stored = None
    if stored is not None:
        return stored.study.language
    return _asked_for(request.headers.get("accept-language", ""))


def voice_of(request: Request, stored: StoredStudy | None = None) -> Say:
    return speaker(language_of(request, stored))


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
