"""For players: playing, filling in forms, one's own record, disputes, the leaderboard."""

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from sightline.errors import UsageError
from sightline.people import descriptions
from sightline.people.assignment import draw
from sightline.server import charts
from sightline.server.context import Problem, check_csrf, check_limit, rater_of, server_of, session_of
from sightline.server.pages import page
from sightline.server.routes.api import TOKEN, task_out, turn_job
from sightline.server.storage import answers, disputes, raters, records
from sightline.server.storage.answers import Submission

router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)


def _player(request: Request, slug: str) -> Any:
    """The visitor's row in the study, or the way to join."""
    server = server_of(request)
    if slug not in session_of(request).raters:
        raise Problem(
            401, "You have not joined this study on this device. Open your invitation link to join."
        )
    with server.database.read() as connection:
        row = raters.find(connection, rater_of(request, slug))
    if row is None:
        raise Problem(401, "Your part in this study has ended, and your answers were removed.")
    return row


@router.get("")
async def play(request: Request, slug: str) -> Response:
    server = server_of(request)
    stored = server.study(slug)
    if slug not in session_of(request).raters and stored.public:
        return RedirectResponse(f"/studies/{slug}/join", 303)
    rater = _player(request, slug)
    if rater["phase"] == "consent":
        return RedirectResponse(f"/studies/{slug}/consent", 303)
    row, task = await server.write(turn_job(server, stored, rater["id"]))
    shown = task_out(stored, task)
    values: dict[str, Any] = {
        "stored": stored,
        "study": stored.study,
        "rater": row,
        "task": shown,
        "token": secrets.token_hex(16),
        "fault": request.query_params.get("fault"),
        "instructions": descriptions.INSTRUCTIONS,
        "questions": descriptions.QUESTIONS,
        "examples": descriptions.EXAMPLES,
    }
    if task is None:
        return page(request, "done.html", **values)
    if stored.study.is_game:
        return page(request, "play.html", **values)
    stories = list(enumerate(task.content.get("stories", ())))
    stories.sort(key=lambda story: draw("story", row.code, task.item, story[0]))
    return page(request, "form.html", **values, content=task.content, stories=stories)


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
    except answers.NotYours:
        pass  # sent from a page left open: go on with the item that is theirs now
    except UsageError as fault:
        raise Problem(400, f"{fault}. Go back and mend it: nothing was lost.") from None
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


@router.get("/me")
def record(request: Request, slug: str) -> Response:
    rater, server = _player(request, slug), server_of(request)
    stored = server.study(slug)
    with server.database.read() as connection:
        rows = records.own(connection, rater["id"])
        days = records.daily(connection, rater["id"])
        rank = raters.rank(connection, stored.id, rater["points"])
    games = [row for row in rows if row["phase"] not in ("tutorial", "probation", "qualification")]
    running, sums = 0, []
    for row in reversed(games):
        running += (row["points"] or 0) + row["returned"]
        sums.append(running)
    return page(
        request,
        "record.html",
        stored=stored,
        study=stored.study,
        rater=rater,
        rows=games[:100],
        rank=rank,
        days=days,
        points_chart=charts.line(sums, "Your points over time"),
        levels_chart=charts.bars(
            [(str(v), sum(row["value"] == v for row in games)) for v in stored.study.levels.values],
            "Levels you chose",
        ),
    )


@router.post("/disputes")
def dispute(
    request: Request,
    slug: str,
    answer: Annotated[int, Form()],
    reason: Annotated[str, Form()] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    check_csrf(request, csrf)
    rater, server = rater_of(request, slug), server_of(request)
    check_limit(request, "write", str(rater))
    now = server.clock()
    server.write_now(lambda c: disputes.open_dispute(c, rater, answer, reason, now))
    return RedirectResponse(f"/studies/{slug}/me", 303)


@router.get("/leaderboard")
def leaderboard(request: Request, slug: str) -> Response:
    rater, server = _player(request, slug), server_of(request)
    stored = server.study(slug)
    if not stored.study.leaderboard:
        raise Problem(404, "This study keeps no leaderboard.")
    with server.database.read() as connection:
        board = raters.leaderboard(connection, stored.id)
        rank = raters.rank(connection, stored.id, rater["points"])
    return page(
        request, "leaderboard.html", stored=stored, study=stored.study, board=board, rater=rater, rank=rank
    )
