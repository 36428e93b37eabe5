"""For moderators: every answer beside its picture, and how far answers and raters can be trusted."""

import math
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response

from sightline.server import trust
from sightline.server.desk import acting, looking
from sightline.server.routes.own import told_answer
from sightline.server.storage import review
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
    desk, say = looking(request, slug), voice_of(request)
    with desk.server.database.read() as connection:
        rows, count = review.read(
            connection, desk.stored, rater=rater or None, item=item or None, state=state or None, page=number
        )
    return desk.page(
        "staff/answers.html",
        rows=[{**row, "told": told_answer(desk.stored.study, row, say)} for row in rows],
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
    desk = acting(request, slug, csrf)
    with desk.server.database.read() as connection:
        key = review.key_of(connection, desk.stored, number)
    desk.do(
        lambda c: review.decide(c, desk.stored, number, verdict, remark),
        f"answer {verdict}",
        f"answer {number} on {key}: {remark}",
    )
    query = f"?{back}" if back and "\n" not in back and "\r" not in back else ""
    return desk.back(f"/answers{query}#answer-{number}")


@router.get("/quality")
def quality_page(request: Request, slug: str) -> Response:
    desk = looking(request, slug)
    with desk.server.database.read() as connection:
        found = trust.trust(connection, desk.stored)
    return desk.page("staff/quality.html", questions=found)
