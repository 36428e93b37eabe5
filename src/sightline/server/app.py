"""The application: routes by audience, and errors as pages or JSON."""

import importlib.metadata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, RedirectResponse
from starlette.exceptions import HTTPException
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from sightline.errors import UsageError
from sightline.server.context import Problem, Server
from sightline.server.pages import page
from sightline.server.routes import (
    accounts,
    api,
    joining,
    moderation,
    own,
    player,
    review,
    reworking,
    setting_up,
    staff,
    studies,
    team,
    visitor,
)
from sightline.server.security.headers import Guard
from sightline.server.storage.answers import NotYours
from sightline.server.voice import voice_of

BUSIEST_FIRST = (
    *(api, visitor, player, own, joining),
    *(staff, accounts, setting_up, reworking, studies, moderation, review, team),
)


def create_app(server: Server) -> FastAPI:
    """The web application around an open database."""

    @asynccontextmanager
    async def life(_app: FastAPI) -> AsyncIterator[None]:
        yield
        server.close()

    app = FastAPI(
        title="Sightline people",
        version=importlib.metadata.version("sightline"),
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
        lifespan=life,
    )
    app.state.server = server
    for routes in BUSIEST_FIRST:
        app.include_router(routes.router)
    app.add_middleware(
        Guard,
        root=server.root,
        https_only=server.public_url.startswith("https://"),
        is_staff=server.is_staff,
    )
    app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(server.trusted_proxies))
    app.add_exception_handler(Problem, _problem)
    app.add_exception_handler(UsageError, _problem)
    app.add_exception_handler(RequestValidationError, _problem)
    app.add_exception_handler(HTTPException, _problem)
    return app


TITLES = {
    400: "Not quite",
    401: "Not yet",
    403: "No entry",
    404: "Nothing here",
    409: "Too late",
    429: "Slow down",
}


NO_WAY = {404: "There is nothing at this address.", 405: "This cannot be done here."}
MALFORMED, SORRY = "This is not what was asked for.", "Sorry"


async def _problem(request: Request, fault: Exception) -> Response:
    """Wrong use, told in the asker's form. Nothing of the inside is shown."""
    status, message = 400, str(fault)
    headers: dict[str, str] = {}
    if isinstance(fault, Problem):
        status, message = fault.status, fault.message
    elif isinstance(fault, NotYours):
        status = 409
    elif isinstance(fault, RequestValidationError):
        status, message = 422, MALFORMED
    elif isinstance(fault, HTTPException):
        status = fault.status_code
        message = NO_WAY.get(status, TITLES[403])
        headers = dict(fault.headers or {})
    say = voice_of(request)
    message = say(message)
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": message}, status, headers)
    if status == 401 and request.url.path.startswith("/staff"):
        return RedirectResponse("/staff/login", 303)
    response = page(request, "problem.html", status, title=say(TITLES.get(status, SORRY)), message=message)
    response.headers.update(headers)
    return response
