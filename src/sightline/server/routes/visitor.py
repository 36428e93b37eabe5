"""For anyone: the front page, joining, pictures and static files."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from sightline.server.context import (
    Problem,
    check_csrf,
    check_limit,
    keep_session,
    rater_of,
    server_of,
    session_of,
)
from sightline.server.pages import STATIC, page
from sightline.server.storage import items, raters, studies

router = APIRouter(include_in_schema=False)
FOR_GOOD = "public, max-age=31536000, immutable"


@router.get("/")
def front(request: Request) -> Response:
    server, session = server_of(request), session_of(request)
    with server.database.read() as connection:
        known = studies.everything(connection)
    mine = [stored for stored in known if stored.slug in session.raters]
    others = [stored for stored in reversed(known) if stored not in mine]
    open_to_all = [stored for stored in others if stored.public and stored.open]
    return page(request, "front.html", mine=mine, open_to_all=open_to_all)


@router.get("/join/{token}")
def invitation(request: Request, token: str) -> Response:
    check_limit(request, "join")
    server = server_of(request)
    with server.database.read() as connection:
        slug = raters.invited_study(connection, token)
    if slug is None:
        raise Problem(404, "This invitation has been used, or was withdrawn. Ask for a new link.")
    if slug in session_of(request).raters:
        return RedirectResponse(f"/studies/{slug}", 303)
    return page(request, "join.html", stored=server.study(slug), token=token)


@router.get("/studies/{slug}/join")
def public_join(request: Request, slug: str) -> Response:
    stored = server_of(request).study(slug)
    if slug in session_of(request).raters:
        return RedirectResponse(f"/studies/{slug}", 303)
    if not stored.public:
        raise Problem(403, "This study is by invitation. Ask its team for a link.")
    return page(request, "join.html", stored=stored, token="")


@router.post("/studies/{slug}/join")
def join(
    request: Request,
    slug: str,
    name: Annotated[str, Form()] = "",
    token: Annotated[str, Form()] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    check_csrf(request, csrf)
    check_limit(request, "join")
    server, session = server_of(request), session_of(request)
    stored = server.study(slug)
    if slug not in session.raters:
        session.raters[slug] = server.write_now(lambda c: raters.join(c, stored, name, token or None))
    response = RedirectResponse(f"/studies/{slug}", 303)
    keep_session(request, response)
    return response


@router.get("/studies/{slug}/consent")
def consent_page(request: Request, slug: str) -> Response:
    rater_of(request, slug)
    return page(request, "consent.html", stored=server_of(request).study(slug))


@router.post("/studies/{slug}/consent")
def consent(
    request: Request, slug: str, agrees: Annotated[str, Form()] = "", csrf: Annotated[str, Form()] = ""
) -> Response:
    check_csrf(request, csrf)
    server, rater = server_of(request), rater_of(request, slug)
    stored = server.study(slug)
    server.write_now(lambda c: raters.consent(c, stored, rater, agrees == "yes"))
    return RedirectResponse(f"/studies/{slug}", 303)


@router.get("/pictures/{slug}/{name}.webp")
def picture(request: Request, slug: str, name: str) -> Response:
    """A picture of the study, for its raters and for staff."""
    session = session_of(request)
    if slug not in session.raters and session.staff is None:
        raise Problem(404, "There is nothing at this address.")
    server = server_of(request)
    with server.database.read() as connection:
        content = items.picture(connection, server.study(slug).id, name)
    if content is None:
        raise Problem(404, "There is nothing at this address.")
    return Response(
        content, media_type="image/webp", headers={"cache-control": "private, max-age=604800, immutable"}
    )


@router.get("/static/{name}")
def static(name: str) -> Response:
    path = STATIC / name
    if path.parent != STATIC or not path.is_file():
        raise Problem(404, "There is nothing at this address.")
    return FileResponse(path, headers={"cache-control": FOR_GOOD})


@router.get("/favicon.ico")
def icon() -> Response:
    return RedirectResponse("/static/icon.svg", 301)


@router.get("/health")
def health(request: Request) -> Response:
    with server_of(request).database.read() as connection:
        connection.exec_driver_sql("SELECT 1")
    return Response("ok", media_type="text/plain")
