"""For players: playing, filling in forms, taking the last answer back."""

import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from sightline.errors import UsageError
from sightline.people import descriptions, study
from sightline.people.assignment import draw
from sightline.people.forms import TIE, words_of
from sightline.people.notices import told
from sightline.people.wording import lines_of
from sightline.server.context import Problem, check_csrf, check_limit, rater_of, server_of, session_of
from sightline.server.pages import page
from sightline.server.routes.api import TOKEN, task_out, turn_job
from sightline.server.storage import answers, assignment, raters, taken_back
from sightline.server.storage.answers import Submission
from sightline.server.storage.studies import StoredStudy

router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)
ENDED = "Your part in this study has ended, and your answers were removed."
STRANGE = (
    "You have not joined this study on this device. Open your invitation link, or give your code at /resume."
)


def player(request: Request, slug: str) -> Any:
    """The visitor's row in the study, or the way to join."""
    server = server_of(request)
    if slug not in session_of(request).raters:
        raise Problem(401, STRANGE)
    with server.database.read() as connection:
        row = raters.find(connection, rater_of(request, slug))
    if row is None:
        raise Problem(401, ENDED)
    return row


@router.get("")
async def play(request: Request, slug: str) -> Response:
    server = server_of(request)
    stored = server.study(slug)
    if slug not in session_of(request).raters and stored.public:
        return RedirectResponse(f"/studies/{slug}/join", 303)
    if player(request, slug)["phase"] == "consent":
        return RedirectResponse(f"/studies/{slug}/consent", 303)
    return await _page(request, stored, {})


async def _page(
    request: Request,
    stored: StoredStudy,
    given: Mapping[str, Any],
    fault: str | None = None,
    status: int = 200,
) -> Response:
    """The item before a rater with what they had filled in, or why there is none."""
    server = server_of(request)
    row, task = await server.write(turn_job(server, stored, rater_of(request, stored.slug)))
    if task is None:
        return await _done(request, stored, row)
    say, back = stored.study.say, (row.notice or {}).get("given")
    with server.database.read() as connection:
        extent = assignment.extent(connection, stored, row)
    values: dict[str, Any] = {
        "stored": stored,
        "study": stored.study,
        "rater": row,
        "task": task_out(stored, task, server.root),
        "token": secrets.token_hex(16),
        "fault": fault,
        "given": {name: _field(value) for name, value in (given or back or {}).items()},
        "notice": told(row.notice, stored.study, say),
        "extent": extent,
        "can_take_back": bool(row.last),
        "questions": descriptions.QUESTIONS,
        "examples": descriptions.EXAMPLES,
        "instructions": lines_of(stored.study),
        "preference": study.PREFERENCE,
        "marking_text": study.MARKING,
        "tie": TIE,
    }
    if stored.study.is_game:
        return page(request, "play.html", status, **values)
    content = task.content
    stories = list(enumerate(content.get("stories") or content.get("pair") or ()))
    stories.sort(key=lambda story: draw("story", row.code, task.item, story[0]))
    return page(
        request, "form.html", status, **values, content=content, stories=stories, words=words_of(content)
    )


def _field(value: Any) -> str:
    """An answer as its form's field holds it."""
    if isinstance(value, list):
        return " ".join(map(str, value)) or "none"
    return str(value)


async def _done(request: Request, stored: StoredStudy, rater: Any) -> Response:
    """Nothing now, or nothing ever more: which of the two, and the way back to where the person came from."""
    server, more = server_of(request), None
    if rater.phase == "play" and stored.open:
        with server.database.read() as connection:
            more = assignment.more_at(connection, stored, rater)
        if more is None and rater.finished is None:
            now = server.clock()
            await server.write(lambda c: raters.finish(c, rater.id, now))
    end = stored.state
    if rater.phase == "refused":
        end = (rater.notice or {}).get("event", "screened out")
    elif stored.open:
        end = "done" if more is None else "wait"
    minutes = max(1, round((more - server.clock()) / 60)) if more is not None else 0
    values = {"stored": stored, "study": stored.study, "rater": rater, "end": end, "minutes": minutes}
    way = _way_back(stored, end) if rater.participant else ""
    return page(request, "done.html", **values, way=way, is_address=way.startswith(("http://", "https://")))


def _way_back(stored: StoredStudy, end: str) -> str:
    platform = stored.study.platform
    ways = (
        {}
        if platform is None
        else {
            "done": platform.completed,
            "screened out": platform.screened_out,
            "no consent": platform.no_consent,
        }
    )
    return ways.get(end, "")


@router.post("/answers")
async def answer_form(request: Request, slug: str) -> Response:
    """An answer sent by a form: the surveys, and the game where scripts are off."""
    form = await request.form()
    fields = {name: value for name, value in form.items() if isinstance(value, str)}
    check_csrf(request, fields.pop("csrf", None))
    rater, server = rater_of(request, slug), server_of(request)
    check_limit(request, "answer", str(rater))
    stored, now = server.study(slug), server.clock()
    item, token, seconds = (fields.pop(name, "") for name in ("item", "token", "seconds"))
    if not (item.isascii() and item.isdigit() and len(item) < 10 and TOKEN.fullmatch(token)):
        raise Problem(400, "This page has grown old. Reload it and try again.")
    try:
        spent = float(seconds)
    except ValueError:
        spent = 0.0
    sent = Submission(int(item), token, fields, spent if 0 <= spent < 86400 else 0.0)
    try:
        await server.write(lambda c: answers.submit(c, stored, rater, sent, now))
    except (answers.NotYours, Problem) as fault:
        return page(
            request, "too_late.html", 409, stored=stored, study=stored.study, fault=str(fault), given=fields
        )
    except UsageError as fault:
        return await _page(request, stored, fields, str(fault), 400)
    return RedirectResponse(f"/studies/{slug}", 303)


@router.post("/back")
async def back(request: Request, slug: str, csrf: Annotated[str, Form()] = "") -> Response:
    """Take the last answer back: its item is before the rater again, filled in as it was."""
    check_csrf(request, csrf)
    rater, server = rater_of(request, slug), server_of(request)
    check_limit(request, "answer", str(rater))
    stored, now = server.study(slug), server.clock()

    def job(connection: Any) -> None:
        taken_back.take_back(connection, stored, answers.rater_row(connection, rater, stored.id), now)

    await server.write(job)
    return RedirectResponse(f"/studies/{slug}", 303)


@router.post("/skips")
async def skip_form(
    request: Request,
    slug: str,
    item: Annotated[int, Form(ge=1, le=2**31 - 1)],
    report: Annotated[str, Form(max_length=500)] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    """Pass an item over, or report it as broken, from a form."""
    check_csrf(request, csrf)
    rater, server = rater_of(request, slug), server_of(request)
    check_limit(request, "answer", str(rater))
    stored, now = server.study(slug), server.clock()
    await server.write(lambda c: answers.skip(c, stored, rater, item, now, report or None))
    return RedirectResponse(f"/studies/{slug}", 303)
