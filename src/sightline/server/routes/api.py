"""For the players' script: the next item, an answer, a skip, the check of a description while it is typed."""

import re
from typing import Any

import msgspec
from fastapi import APIRouter, Header, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from sightline.people.descriptions import DEFAULT_RULES, check_description
from sightline.people.notices import told
from sightline.people.words import english
from sightline.server.context import Problem, Server, check_csrf, check_limit, rater_of, server_of, session_of
from sightline.server.storage import answers, assignment
from sightline.server.storage.answers import Outcome, Submission
from sightline.server.storage.assignment import Task
from sightline.server.storage.studies import StoredStudy

router = APIRouter(prefix="/api")
TOKEN = re.compile(r"[0-9A-Za-z-]{16,64}")
FAULTS: dict[int | str, dict[str, Any]] = {
    code: {"description": text}
    for code, text in {
        400: "wrong use",
        401: "not joined",
        403: "no valid CSRF token",
        404: "no such study",
        409: "not before you",
        413: "too large",
        422: "malformed",
        429: "too fast",
    }.items()
}


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class AnswerIn(Strict):
    """One answer. Send it again with the same token if the reply was lost: it counts once."""

    item: int = Field(ge=1, le=2**31 - 1)
    token: str = Field(pattern=r"^[0-9A-Za-z-]{16,64}$")
    answers: dict[str, int | str] = Field(max_length=100)
    seconds: float = Field(ge=0, le=86400, allow_inf_nan=False)


class SkipIn(Strict):
    item: int = Field(ge=1, le=2**31 - 1)
    report: str | None = Field(default=None, max_length=500)


class DescriptionIn(Strict):
    study: str = Field(default="", max_length=100)
    scene: str = Field(default="", max_length=2000)
    action: str = Field(default="", max_length=2000)
    rationale: str = Field(default="", max_length=2000)


def _json(value: object) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")


def task_out(stored: StoredStudy, task: Task | None, root: str) -> dict[str, Any] | None:
    """What a rater may know of an item: never its role, its source or its expert level."""
    if task is None:
        return None
    content = task.content
    return {
        "item": task.item,
        "pictures": [f"{root}/pictures/{stored.slug}/{sha}.webp" for sha in content.get("pictures", ())],
        "text": content.get("text", ""),
        "sentences": content.get("sentences"),
    }


def turn_job(server: Server, stored: StoredStudy, rater: int) -> Any:
    """A job that finds or leases the rater's item."""
    now = server.clock()

    def job(connection: Any) -> tuple[Any, Task | None]:
        row = answers.rater_row(connection, rater, stored.id)
        return row, assignment.current(connection, stored, row, now)

    return job


def outcome_out(stored: StoredStudy, outcome: Outcome, root: str) -> dict[str, Any]:
    heard = outcome.feedback
    return {
        "answer": outcome.answer,
        "feedback": heard,
        "can_dispute": bool(heard and heard.points < 0 and outcome.standing.phase == "play"),
        "event": outcome.event,
        "notice": notice_out(stored, outcome.notice),
        "standing": outcome.standing,
        "next": task_out(stored, outcome.next, root),
    }


def notice_out(stored: StoredStudy, notice: dict[str, Any] | None) -> str:
    """What a rater is told between two items, in words."""
    return told(notice, stored.study, stored.study.say)


def rater_for_answer(request: Request, slug: str, csrf: str | None) -> int:
    check_csrf(request, csrf)
    rater = rater_of(request, slug)
    check_limit(request, "answer", str(rater))
    return rater


@router.get("/studies/{slug}/turn", responses=FAULTS)
async def turn(request: Request, slug: str) -> Response:
    """The item before you, leased if need be."""
    server = server_of(request)
    rater, stored = rater_of(request, slug), server.study(slug)
    row, task = await server.write(turn_job(server, stored, rater))
    return _json(
        {
            "standing": answers.standing(row),
            "next": task_out(stored, task, server.root),
            "state": stored.state,
        }
    )


@router.post("/studies/{slug}/answers", responses=FAULTS)
async def answer(
    request: Request, slug: str, body: AnswerIn, x_csrf_token: str | None = Header(default=None)
) -> Response:
    """Count an answer and hand out the next item."""
    rater, server = rater_for_answer(request, slug, x_csrf_token), server_of(request)
    stored, now = server.study(slug), server.clock()
    sent = Submission(body.item, body.token, body.answers, body.seconds)
    outcome = await server.write(lambda c: answers.submit(c, stored, rater, sent, now))
    return _json(outcome_out(stored, outcome, server.root))


@router.post("/studies/{slug}/skips", responses=FAULTS)
async def skip(
    request: Request, slug: str, body: SkipIn, x_csrf_token: str | None = Header(default=None)
) -> Response:
    """Pass an item over, or report it as broken."""
    rater, server = rater_for_answer(request, slug, x_csrf_token), server_of(request)
    stored, now = server.study(slug), server.clock()
    await server.write(lambda c: answers.skip(c, stored, rater, body.item, now, body.report))
    row, task = await server.write(turn_job(server, stored, rater))
    return _json(
        {
            "standing": answers.standing(row),
            "next": task_out(stored, task, server.root),
            "state": stored.state,
        }
    )


@router.post("/descriptions/check", responses=FAULTS)
async def check(
    request: Request, body: DescriptionIn, x_csrf_token: str | None = Header(default=None)
) -> Response:
    """The rules a description breaks, while it is typed."""
    check_csrf(request, x_csrf_token)
    session, server = session_of(request), server_of(request)
    if not session.raters:
        raise Problem(401, "Join a study first.")
    check_limit(request, "answer", session.id)
    study = server.study(body.study).study if body.study in session.raters else None
    rules, say = (study.kept_rules, study.say) if study else (DEFAULT_RULES, english)
    found = check_description(body.model_dump(exclude={"study"}), rules, say, advise=say is english)
    return _json({"complaints": found})
