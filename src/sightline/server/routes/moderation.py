"""For moderators: raters and their quality, disputes, reported items."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request, Response
from sqlalchemy import Connection

from sightline.server import charts
from sightline.server.desk import acting, looking
from sightline.server.storage import disputes, moderation, watch
from sightline.server.voice import voice_of

router = APIRouter(prefix="/staff/studies/{slug}", include_in_schema=False)


@router.get("/raters")
def raters_page(request: Request, slug: str) -> Response:
    desk = looking(request, slug)
    with desk.server.database.read() as connection:
        rows = watch.rater_table(connection, desk.stored)
    dots = [
        (row["quality"].seconds, row["quality"].agreement, row["name"], row["quality"].straight_lining)
        for row in rows
        if row["quality"].agreement is not None and row["quality"].seconds is not None
    ]
    most = max((dot[0] for dot in dots), default=1.0)
    say = voice_of(request)
    chart = charts.scatter(
        dots, say("Raters"), say("seconds per item"), say("agreement with others"), most, say
    )
    return desk.page("staff/raters.html", rows=rows, chart=chart)


@router.post("/raters/{code}/retrain")
def retrain(request: Request, slug: str, code: str, csrf: Annotated[str, Form()] = "") -> Response:
    desk = acting(request, slug, csrf)
    desk.do(lambda c: moderation.back_to_training(c, desk.stored, code), "rater sent to training", code)
    return desk.back("/raters")


@router.post("/raters/{code}/remove")
def remove(
    request: Request,
    slug: str,
    code: str,
    csrf: Annotated[str, Form()] = "",
    sure: Annotated[str, Form()] = "",
) -> Response:
    """Removal is asked about once more: it cannot be undone."""
    desk = acting(request, slug, csrf, "owner")
    with desk.server.database.read() as connection:
        rater, given = moderation.whose(connection, desk.stored, code)
    if sure != "yes":
        return desk.page("staff/remove.html", rater=rater, given=given)

    def erase(connection: Connection) -> None:
        moderation.remove_rater(connection, desk.stored, code)
        desk.server.private.note_removed(code)  # before it is on disk: better twice than not at all

    desk.do(erase, "rater's data removed", f"{code}: {given} answers")
    return desk.back("/raters")


@router.get("/disputes")
def disputes_page(request: Request, slug: str) -> Response:
    desk = looking(request, slug)
    with desk.server.database.read() as connection:
        rows = disputes.of_study(connection, desk.stored.id)
    return desk.page("staff/disputes.html", rows=rows)


@router.post("/disputes/{number}")
def decide(
    request: Request,
    slug: str,
    number: int,
    verdict: Annotated[Literal["accepted", "rejected"], Form()],
    reply: Annotated[str, Form()] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    desk = acting(request, slug, csrf)
    now = desk.server.clock()
    desk.do(
        lambda c: disputes.decide(c, desk.stored.id, number, verdict, reply, now),
        f"dispute {verdict}",
        str(number),
    )
    return desk.back("/disputes")


@router.get("/items")
def items_page(request: Request, slug: str) -> Response:
    desk = looking(request, slug)
    with desk.server.database.read() as connection:
        rows = moderation.reported(connection, desk.stored.id)
    return desk.page("staff/items.html", rows=rows)


@router.post("/items/{number}")
def act_on_item(
    request: Request,
    slug: str,
    number: int,
    state: Annotated[Literal["open", "broken"], Form()],
    csrf: Annotated[str, Form()] = "",
) -> Response:
    desk = acting(request, slug, csrf)
    desk.do(
        lambda c: moderation.set_item_state(c, desk.stored.id, number, state),
        f"item marked {state}",
        str(number),
    )
    return desk.back("/items")
