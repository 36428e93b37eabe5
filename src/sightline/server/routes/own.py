"""For players: what they have done, disputes, the leaderboard."""

from collections import Counter
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

from sightline.people import descriptions
from sightline.people.forms import levels_of, words_of
from sightline.people.words import Say
from sightline.server import charts
from sightline.server.context import Problem, check_csrf, check_limit, rater_of, server_of
from sightline.server.pages import page
from sightline.server.routes.joining import resume_link
from sightline.server.routes.player import player
from sightline.server.storage import disputes, raters, records
from sightline.server.storage.lessons import TRAINING

router = APIRouter(prefix="/studies/{slug}", include_in_schema=False)
SHOWN = 100


@router.get("/me")
def record(request: Request, slug: str) -> Response:
    rater, server = player(request, slug), server_of(request)
    stored = server.study(slug)
    with server.database.read() as connection:
        rows = records.own(connection, rater["id"])
        days = records.daily(connection, rater["id"])
        rank = raters.rank(connection, stored.id, rater["points"])
    say = stored.study.say
    given = [row for row in rows if row["phase"] not in TRAINING]
    running, sums = 0, []
    for row in reversed(given):
        running += (row["points"] or 0) + row["returned"]
        sums.append(running)
    levels = Counter(level for row in given for level in levels_of(row["value"], row["answers"]).values())
    code = server.sessions.resume_code(rater["id"])
    return page(
        request,
        "record.html",
        stored=stored,
        study=stored.study,
        rater=rater,
        rows=[{**row, "told": told_answer(stored.study, row, say)} for row in given[:SHOWN]],
        rank=rank,
        days=days,
        code=code,
        link=resume_link(request, code),
        points_chart=charts.line(sums, say("Your points over time"), say),
        levels_chart=charts.bars(
            [(str(v), levels[v]) for v in stored.study.levels.values], say("Levels you chose"), say
        ),
        has_levels=bool(levels),
    )


def told_answer(study: Any, row: Any, say: Say) -> list[tuple[str, str]]:
    """An answer as question and answer, for people to read."""
    content, answers = row["content"], row["answers"] or {}
    if row["value"] is not None:
        label = next((level.label for level in study.levels.levels if level.value == row["value"]), "")
        return [("", f"{row['value']} · {say(label)}" if label else str(row["value"]))]
    if study.kind == "pairwise preference":
        pair = content.get("pair", ())
        better = answers.get("better")
        chosen = pair[better] if isinstance(better, int) and better < len(pair) else None
        return [(say("truer"), " ".join(words_of(chosen)) if chosen else say("neither"))]
    if study.kind == "error marking":
        words = words_of(content)
        marked = [words[place] for place in answers.get("errors", ()) if place < len(words)]
        return [(say("marked"), ", ".join(marked) or say("nothing"))]
    found = []
    for name, value in answers.items():
        number, _, criterion = name.partition(".")
        if name == "best":
            found.append((say("best"), say("Story {number}", number=int(value) + 1)))
        elif criterion:
            story = say("Story {number}", number=int(number) + 1)
            found.append((f"{story}: {say(criterion)}", str(value)))
        else:
            found.append((say(descriptions.QUESTIONS.get(name, name)), str(value)))
    return found


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
    rater, server = player(request, slug), server_of(request)
    stored = server.study(slug)
    if not stored.study.leaderboard:
        raise Problem(404, "This study keeps no leaderboard.")
    with server.database.read() as connection:
        board = raters.leaderboard(connection, stored.id)
        rank = raters.rank(connection, stored.id, rater["points"])
    return page(
        request, "leaderboard.html", stored=stored, study=stored.study, board=board, rater=rater, rank=rank
    )
