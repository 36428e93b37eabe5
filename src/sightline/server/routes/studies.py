"""For staff: watching a study, inviting people, pausing and ending it, taking its data home."""

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from sightline.errors import UsageError
from sightline.people.notices import notes
from sightline.people.settings import settings_of, toml
from sightline.people.study import UNLEVELLED
from sightline.server import charts, exchange
from sightline.server.context import Problem, address_for
from sightline.server.desk import acting, looking
from sightline.server.storage import judgements, moderation, qualification, raters, records, staff, studies
from sightline.server.voice import voice_of

router = APIRouter(prefix="/staff/studies", include_in_schema=False)
PARTS = (("done", "done"), ("begun", "started"), ("untouched", "untouched"))
MEDIA = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
DONE = {"open": "opened", "paused": "paused", "closed": "closed"}


@router.get("/{slug}")
def overview(request: Request, slug: str) -> Response:
    desk, say = looking(request, slug), voice_of(request)
    stored = desk.stored
    with desk.server.database.read() as connection:
        progress = records.progress(connection, stored.id)
        levels = judgements.level_counts(connection, stored)
        days = records.per_day(connection, stored.id)
        told = notes(stored.study, records.roles(connection, stored.id), say)
        hard = judgements.hardest(connection, stored)
        invitations = moderation.invitations(connection, stored.id)
        outlook = qualification.outlook(connection, stored)
    parts = [(say(name), progress[key]) for name, key in PARTS]
    return desk.page(
        "staff/study.html",
        progress=progress,
        hard=hard,
        spark=charts.spark,
        notes=told,
        unlevelled=UNLEVELLED,
        invitations=invitations,
        outlook=outlook,
        join_link=address_for(request, f"/studies/{slug}/join") if stored.public else None,
        progress_chart=charts.progress(parts, say("Items done, begun and untouched"), say),
        levels_chart=charts.bars(levels, say("Ratings per level"), say),
        days_chart=charts.bars(days, say("Ratings per day"), say),
    )


@router.get("/{slug}/settings.toml")
def settings(request: Request, slug: str) -> Response:
    """The study's settings as the file that `sightline serve --study` reads."""
    desk = looking(request, slug)
    headers = {"content-disposition": f'attachment; filename="{desk.stored.slug}.toml"'}
    return Response(
        toml(settings_of(desk.stored.study)), media_type="application/toml; charset=utf-8", headers=headers
    )


@router.post("/{slug}/state")
def change_state(
    request: Request,
    slug: str,
    state: Annotated[Literal["open", "paused", "closed"], Form()],
    csrf: Annotated[str, Form()] = "",
) -> Response:
    """Open, paused for a while, or closed; who closed it for good may open it again all the same."""
    ends = state == "closed"
    desk = acting(request, slug, csrf, "owner" if ends else "moderator")
    if desk.stored.state == "closed" and not desk.may("owner"):
        raise Problem(403, "Your role in this study does not allow this. Ask one of its owners.")
    desk.do(lambda c: studies.set_state(c, desk.stored.id, state), f"study {DONE[state]}")
    return desk.back()


@router.post("/{slug}/delete")
def delete(
    request: Request,
    slug: str,
    title: Annotated[str, Form()] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    """Delete a study with all its data; its title is asked for, since nothing brings it back."""
    desk = acting(request, slug, csrf, "owner")
    with desk.server.database.read() as connection:
        progress = records.progress(connection, desk.stored.id)
    if " ".join(title.split()) != " ".join(desk.stored.study.title.split()):
        return desk.page("staff/delete.html", progress=progress, wrong=bool(title.strip()))
    desk.do(
        lambda c: studies.remove(c, desk.stored.id),
        "study deleted",
        f"{desk.stored.study.title}: {progress['ratings']} ratings",
    )
    return RedirectResponse("/staff", 303)


@router.post("/{slug}/leaderboard")
def toggle_leaderboard(request: Request, slug: str, csrf: Annotated[str, Form()] = "") -> Response:
    desk = acting(request, slug, csrf)
    changed = msgspec.structs.replace(desk.stored.study, leaderboard=not desk.stored.study.leaderboard)
    desk.do(
        lambda c: studies.set_study(c, desk.stored.id, changed),
        f"leaderboard {'on' if changed.leaderboard else 'off'}",
    )
    return desk.back()


@router.post("/{slug}/invitations")
def invite(
    request: Request,
    slug: str,
    uses: Annotated[Literal["once", "study"], Form()] = "once",
    note: Annotated[str, Form()] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    desk = acting(request, slug, csrf)

    def job(connection: Connection) -> str:
        return raters.invite(connection, desk.stored.id, 1 if uses == "once" else None, note)

    token = desk.do(job, "invitation made", uses)
    link = address_for(request, f"/join/{token}")
    return desk.page("staff/invitation.html", link=link, uses=uses)


@router.post("/{slug}/invitations/{number}/revoke")
def revoke(request: Request, slug: str, number: int, csrf: Annotated[str, Form()] = "") -> Response:
    desk = acting(request, slug, csrf)
    desk.do(lambda c: moderation.revoke(c, desk.stored.id, number), "invitation withdrawn", str(number))
    return desk.back()


@router.get("/{slug}/export")
def export(
    request: Request,
    slug: str,
    what: Literal["items", "ratings", "vicr", "hl", "wording"] = "items",
    form: Literal["jsonl", "csv", "parquet"] = "jsonl",
    names: bool = False,
) -> Response:
    """The study's data; people stay nameless unless names are asked for, by one who looks after them."""
    desk = looking(request, slug, "moderator" if names else "viewer")
    if (what == "vicr" and form != "csv") or (what in ("hl", "wording") and form != "jsonl"):
        raise UsageError("The VICR form is CSV, the HL form is JSON Lines.")
    with desk.server.database.read() as connection:
        content = exchange.export(connection, desk.stored, what, form, names=names)
    detail = f"{what}.{form}{' with names' if names else ''}"
    desk.server.write_now(lambda c: staff.note(c, desk.who.name, "export", slug, detail))
    headers = {"content-disposition": f'attachment; filename="{desk.stored.slug}-{what}.{form}"'}
    return Response(content, media_type=MEDIA[form], headers=headers)
