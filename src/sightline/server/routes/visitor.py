"""For anyone: the front page, pictures and static files."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import FileResponse, RedirectResponse

from sightline.server.context import Problem, server_of, session_of
from sightline.server.desk import looking
from sightline.server.pages import STATIC, page
from sightline.server.storage import items, studies

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


@router.get("/pictures/{slug}/{name}.webp")
def picture(request: Request, slug: str, name: str) -> Response:
    """A picture of the study, for its raters and for staff."""
    session, server = session_of(request), server_of(request)
    if slug in session.raters:
        stored = server.study(slug)
    elif server.account(session):
        stored = looking(request, slug).stored
    else:
        raise Problem(404, "There is nothing at this address.")
    with server.database.read() as connection:
        content = items.picture(connection, stored.id, name)
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
