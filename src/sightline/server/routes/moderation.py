"""For moderators: raters and their quality, disputes, reported items."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from sightline.server import charts
from sightline.server.context import check_csrf, server_of, staff_of
from sightline.server.pages import page
from sightline.server.storage import disputes, moderation, staff, watch
from sightline.server.voice import voice_of

router = APIRouter(prefix="/staff/studies/{slug}", include_in_schema=False)


@router.get("/raters")
def raters_page(request: Request, slug: str) -> Response:
    who, server = staff_of(request), server_of(request)
    stored = server.study(slug)
    with server.database.read() as connection:
        rows = watch.rater_table(connection, stored)
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
    return page(
        request, "staff/raters.html", who=who, stored=stored, study=stored.study, rows=rows, chart=chart
    )


@router.post("/raters/{code}/{action}")
def act_on_rater(
    request: Request,
    slug: str,
    code: str,
    action: Literal["remove", "retrain"],
    csrf: Annotated[str, Form()] = "",
    sure: Annotated[str, Form()] = "",
) -> Response:
    """Removal is asked about once more: it cannot be undone."""
    who = staff_of(request)
    check_csrf(request, csrf)
    server = server_of(request)
    stored = server.study(slug)
    if action == "remove" and sure != "yes":
        with server.database.read() as connection:
            rater, given = moderation.whose(connection, stored, code)
        return page(
            request, "staff/remove.html", who=who, stored=stored, study=stored.study, rater=rater, given=given
        )

    def job(connection: Connection) -> None:
        if action == "remove":
            gone = moderation.remove_rater(connection, stored, code)
            staff.note(connection, who, "rater's data removed", slug, f"{code}: {gone} answers")
        else:
            moderation.back_to_training(connection, stored, code)
            staff.note(connection, who, "rater sent to training", slug, code)

    server.write_now(job)
    return RedirectResponse(f"/staff/studies/{slug}/raters", 303)


@router.get("/disputes")
def disputes_page(request: Request, slug: str) -> Response:
    who, server = staff_of(request), server_of(request)
    stored = server.study(slug)
    with server.database.read() as connection:
        rows = disputes.of_study(connection, stored.id)
    return page(request, "staff/disputes.html", who=who, stored=stored, study=stored.study, rows=rows)


@router.post("/disputes/{number}")
def decide(
    request: Request,
    slug: str,
    number: int,
    verdict: Annotated[Literal["accepted", "rejected"], Form()],
    reply: Annotated[str, Form()] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    who = staff_of(request)
    check_csrf(request, csrf)
    server = server_of(request)
    stored, now = server.study(slug), server.clock()

    def job(connection: Connection) -> None:
        disputes.decide(connection, stored.id, number, verdict, reply, now)
        staff.note(connection, who, f"dispute {verdict}", slug, str(number))

    server.write_now(job)
    return RedirectResponse(f"/staff/studies/{slug}/disputes", 303)


@router.get("/items")
def items_page(request: Request, slug: str) -> Response:
    who, server = staff_of(request), server_of(request)
    stored = server.study(slug)
    with server.database.read() as connection:
        rows = moderation.reported(connection, stored.id)
    return page(request, "staff/items.html", who=who, stored=stored, study=stored.study, rows=rows)


@router.post("/items/{number}")
def act_on_item(
    request: Request,
    slug: str,
    number: int,
    state: Annotated[Literal["open", "broken"], Form()],
    csrf: Annotated[str, Form()] = "",
) -> Response:
    who = staff_of(request)
    check_csrf(request, csrf)
    server = server_of(request)
    stored = server.study(slug)

    def job(connection: Connection) -> None:
        moderation.set_item_state(connection, stored.id, number, state)
        staff.note(connection, who, f"item marked {state}", slug, str(number))

    server.write_now(job)
    return RedirectResponse(f"/staff/studies/{slug}/items", 303)
