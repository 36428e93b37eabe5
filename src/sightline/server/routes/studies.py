"""For staff: setting a study up, watching it, inviting people, pausing it, taking its data home."""

from typing import Annotated, Literal

import msgspec
from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from sightline.errors import UsageError
from sightline.people.notices import notes
from sightline.people.study import UNLEVELLED, form_of, parse_study
from sightline.server import archive, charts, exchange, setup
from sightline.server.context import Problem, address_for, check_csrf, check_limit, server_of, staff_of
from sightline.server.pages import page
from sightline.server.storage import judgements, moderation, qualification, raters, records, staff, studies
from sightline.server.voice import voice_of

router = APIRouter(prefix="/staff/studies", include_in_schema=False)
PARTS = (("done", "done"), ("begun", "started"), ("untouched", "untouched"))
MEDIA = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}


@router.get("/new")
def new_page(request: Request) -> Response:
    return page(request, "staff/new.html", who=staff_of(request), fault=None, settings=setup.EXAMPLE)


@router.post("/new")
def new(
    request: Request,
    settings: Annotated[str, Form()] = "",
    bundle: Annotated[UploadFile | None, File()] = None,
    csrf: Annotated[str, Form()] = "",
) -> Response:
    """A study from its settings and a zip of items and pictures."""
    who = staff_of(request)
    check_csrf(request, csrf)
    check_limit(request, "upload", who)
    server = server_of(request)
    try:
        study = parse_study(settings, form_of(settings), "settings")
        if bundle is None or not bundle.filename:
            raise UsageError("choose a zip with items.jsonl and the pictures")
        with archive.unpacked(bundle.file) as folder:
            prepared = setup.prepare(study, folder)
        stored = server.write_now(lambda c: setup.store(c, prepared, public=False))
    except UsageError as fault:
        return page(request, "staff/new.html", 400, who=who, fault=str(fault), settings=settings)
    server.write_now(lambda c: staff.note(c, who, "study added", stored.slug, study.title))
    return RedirectResponse(f"/staff/studies/{stored.slug}", 303)


@router.get("/{slug}")
def overview(request: Request, slug: str) -> Response:
    who, server = staff_of(request), server_of(request)
    stored, say = server.study(slug), voice_of(request)
    with server.database.read() as connection:
        progress = records.progress(connection, stored.id)
        levels = judgements.level_counts(connection, stored)
        days = records.per_day(connection, stored.id)
        told = notes(stored.study, records.roles(connection, stored.id), say)
        hard = judgements.hardest(connection, stored)
        invitations = moderation.invitations(connection, stored.id)
        outlook = qualification.outlook(connection, stored)
    parts = [(say(name), progress[key]) for name, key in PARTS]
    return page(
        request,
        "staff/study.html",
        who=who,
        stored=stored,
        study=stored.study,
        progress=progress,
        hard=hard,
        spark=charts.spark,
        notes=told,
        unlevelled=UNLEVELLED,
        invitations=invitations,
        outlook=outlook,
        link=request.query_params.get("link"),
        progress_chart=charts.progress(parts, say("Items done, begun and untouched"), say),
        levels_chart=charts.bars(levels, say("Ratings per level"), say),
        days_chart=charts.bars(days, say("Ratings per day"), say),
    )


@router.post("/{slug}/state")
def change_state(
    request: Request,
    slug: str,
    state: Annotated[Literal["open", "paused"], Form()],
    csrf: Annotated[str, Form()] = "",
) -> Response:
    who = staff_of(request)
    check_csrf(request, csrf)
    server = server_of(request)
    stored = server.study(slug)

    def job(connection: Connection) -> None:
        studies.set_state(connection, stored.id, state)
        staff.note(connection, who, f"study {'paused' if state == 'paused' else 'opened'}", slug)

    server.write_now(job)
    server.forget_studies()
    return RedirectResponse(f"/staff/studies/{slug}", 303)


@router.post("/{slug}/leaderboard")
def toggle_leaderboard(request: Request, slug: str, csrf: Annotated[str, Form()] = "") -> Response:
    who = staff_of(request)
    check_csrf(request, csrf)
    server = server_of(request)
    stored = server.study(slug)
    changed = msgspec.structs.replace(stored.study, leaderboard=not stored.study.leaderboard)

    def job(connection: Connection) -> None:
        studies.set_study(connection, stored.id, changed)
        staff.note(connection, who, f"leaderboard {'on' if changed.leaderboard else 'off'}", slug)

    server.write_now(job)
    server.forget_studies()
    return RedirectResponse(f"/staff/studies/{slug}", 303)


@router.post("/{slug}/invitations")
def invite(
    request: Request,
    slug: str,
    uses: Annotated[Literal["once", "study"], Form()] = "once",
    note: Annotated[str, Form()] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    who = staff_of(request)
    check_csrf(request, csrf)
    server = server_of(request)
    stored = server.study(slug)

    def job(connection: Connection) -> str:
        token = raters.invite(connection, stored.id, 1 if uses == "once" else None, note)
        staff.note(connection, who, "invitation made", slug, uses)
        return token

    token = server.write_now(job)
    link = address_for(request, f"/join/{token}")
    return page(request, "staff/invitation.html", who=who, stored=stored, link=link, uses=uses)


@router.post("/{slug}/invitations/{number}/revoke")
def revoke(request: Request, slug: str, number: int, csrf: Annotated[str, Form()] = "") -> Response:
    who = staff_of(request)
    check_csrf(request, csrf)
    server = server_of(request)
    stored = server.study(slug)

    def job(connection: Connection) -> None:
        moderation.revoke(connection, stored.id, number)
        staff.note(connection, who, "invitation withdrawn", slug, str(number))

    server.write_now(job)
    return RedirectResponse(f"/staff/studies/{slug}", 303)


@router.get("/{slug}/export")
def export(
    request: Request,
    slug: str,
    what: Literal["items", "ratings", "vicr", "hl"] = "items",
    form: Literal["jsonl", "csv", "parquet"] = "jsonl",
    names: bool = False,
) -> Response:
    """The study's data; people stay nameless unless names are asked for."""
    who, server = staff_of(request), server_of(request)
    stored = server.study(slug)
    if (what == "vicr" and form != "csv") or (what == "hl" and form != "jsonl"):
        raise Problem(400, "The VICR form is CSV, the HL form is JSON Lines.")
    with server.database.read() as connection:
        content = exchange.export(connection, stored, what, form, names=names)
    server.write_now(
        lambda c: staff.note(c, who, "export", slug, f"{what}.{form}{' with names' if names else ''}")
    )
    headers = {"content-disposition": f'attachment; filename="{stored.slug}-{what}.{form}"'}
    return Response(content, media_type=MEDIA[form], headers=headers)
