"""For moderators: every answer beside its picture, and how far answers and raters can be trusted."""

import math
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from sightline.server import trust
from sightline.server.context import check_csrf, server_of, staff_of
from sightline.server.pages import page
from sightline.server.routes.own import told_answer
from sightline.server.storage import review, staff
from sightline.server.voice import voice_of

router = APIRouter(prefix="/staff/studies/{slug}", include_in_schema=False)


@router.get("/answers")
def answers_page(
    request: Request,
    slug: str,
    rater: Annotated[str, Query(max_length=100)] = "",
    item: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
    state: Literal["", "kept", "accepted", "flagged", "excluded"] = "",
    number: Annotated[int, Query(alias="page", ge=1, le=10**6)] = 1,
) -> Response:
    who, server = staff_of(request), server_of(request)
    stored = server.study(slug)
    with server.database.read() as connection:
        rows, count = review.read(
            connection, stored, rater=rater or None, item=item or None, state=state or None, page=number
        )
    say = voice_of(request)
    return page(
        request,
        "staff/answers.html",
        who=who,
        stored=stored,
        study=stored.study,
        rows=[{**row, "told": told_answer(stored.study, row, say)} for row in rows],
        count=count,
        number=number,
        pages=max(1, math.ceil(count / review.PAGE)),
        chosen={"rater": rater, "item": item or "", "state": state},
    )


@router.post("/answers/{number}")
def decide(
    request: Request,
    slug: str,
    number: int,
    verdict: Annotated[review.Verdict, Form()],
    remark: Annotated[str, Form(max_length=500)] = "",
    back: Annotated[str, Form(max_length=300)] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    who = staff_of(request)
    check_csrf(request, csrf)
    server = server_of(request)
    stored = server.study(slug)

    def job(connection: Connection) -> None:
        key = review.decide(connection, stored, number, verdict, remark)
        staff.note(connection, who, f"answer {verdict}", slug, f"answer {number} on {key}: {remark}")

    server.write_now(job)
    query = f"?{back}" if back and "\n" not in back and "\r" not in back else ""
    return RedirectResponse(f"/staff/studies/{slug}/answers{query}#answer-{number}", 303)


@router.get("/quality")
def quality_page(request: Request, slug: str) -> Response:
    who, server = staff_of(request), server_of(request)
    stored = server.study(slug)
    with server.database.read() as connection:
        found = trust.trust(connection, stored)
    return page(request, "staff/quality.html", who=who, stored=stored, study=stored.study, questions=found)
