"""Turning templates into pages."""

import hashlib
import importlib.resources
import time
from functools import cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from sightline.people.words import direction
from sightline.server.context import keep_session, server_of, session_of
from sightline.server.voice import language_of, voice_of

HERE = Path(str(importlib.resources.files("sightline.server")))
STATIC = HERE / "static"


@cache
def environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["day"] = lambda at: time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))
    made.filters["percent"] = lambda share: "–" if share is None else f"{100 * share:.0f} %"
    return made


@cache
def static_url(name: str) -> str:
    """A static file's address, which changes with its content so that browsers may keep it for good."""
    return f"/static/{name}?v={hashlib.sha256((STATIC / name).read_bytes()).hexdigest()[:12]}"


def page(request: Request, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A page for this visitor, with the token its forms need."""
    session, root = session_of(request), server_of(request).root
    language = language_of(request, values.get("stored"))
    text = (
        environment()
        .get_template(template)
        .render(
            csrf=server_of(request).sessions.csrf(session),
            root=root,
            static=lambda name: root + static_url(name),
            is_staff=session.staff is not None,
            language=language,
            direction=direction(language),
            **{"_": voice_of(request, values.get("stored")), **values},
        )
    )
    response = HTMLResponse(text, status_code=status)
    if session.fresh:
        keep_session(request, response)
    return response
