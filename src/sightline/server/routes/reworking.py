"""For a study's owners: changing it, copying it, adding items to it."""

import secrets
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from sightline.errors import UsageError
from sightline.people import settings
from sightline.people.words import english
from sightline.server import chosen, setup, study_form
from sightline.server.desk import Desk, acting, looking
from sightline.server.form_page import form_page, in_thread, keep, sources, texts
from sightline.server.storage import copies, members, rework, studies, uploads
from sightline.server.storage import items as store_items

router = APIRouter(prefix="/staff/studies", include_in_schema=False)


@router.get("/{slug}/edit")
def edit_page(request: Request, slug: str) -> Response:
    desk = looking(request, slug, "owner")
    fields = study_form.fields_of(desk.stored.study, desk.stored.public)
    return form_page(request, desk.stored.study.kind, fields, "", who=desk.who, desk=desk)


@router.post("/{slug}/edit")
async def edit(request: Request, slug: str) -> Response:
    """Change a study's settings. What answers were given to stays as it was."""
    form = await request.form()
    fields = texts(form)
    desk = acting(request, slug, fields.pop("csrf", ""), "owner")
    return await in_thread(_change, request, desk, fields)  # type: ignore[no-any-return]


def _change(request: Request, desk: Desk, fields: dict[str, str]) -> Response:
    before = desk.stored.study
    try:
        after = study_form.study_from(before.kind, fields, before)
        changed = [name for name in settings.settings_of(after) | settings.settings_of(before)
                   if getattr(after, name) != getattr(before, name)]  # fmt: skip
        desk.do(
            lambda c: rework.change(c, desk.stored, after, bool(fields.get("public"))),
            "study changed",
            ", ".join(changed),
        )
    except UsageError as fault:
        return form_page(
            request, before.kind, fields, "", who=desk.who, desk=desk, status=400, fault=str(fault)
        )
    return desk.back()


@router.post("/{slug}/copy")
def copy(request: Request, slug: str, csrf: Annotated[str, Form()] = "") -> Response:
    """The same study once more, without its people and answers; closed to everybody until it is ready."""
    desk = acting(request, slug, csrf, "viewer")
    title = f"{desk.stored.study.title} ({english('copy')})"[:200]
    made = setup.new_slug(title)

    def job(connection: Connection) -> None:
        study = rework.titled(desk.stored.study, title)
        stored = copies.copy(connection, desk.stored, study, made)
        studies.set_state(connection, stored.id, "paused")
        members.set_role(connection, stored.id, desk.who.id, "owner")

    desk.do(job, "study copied", made)
    return RedirectResponse(f"/staff/studies/{made}/edit", 303)


@router.get("/{slug}/more")
def more_page(request: Request, slug: str) -> Response:
    return _more(looking(request, slug, "owner"), secrets.token_urlsafe(16))


def _more(desk: Desk, batch: str, status: int = 200, fault: str | None = None) -> Response:
    with desk.server.database.read() as connection:
        tables, pictures = uploads.names(connection, batch, desk.who.id)
    return desk.page(
        "staff/more.html",
        status,
        batch=batch,
        tables=tables,
        pictures=pictures,
        fault=fault,
        kind=desk.stored.study.kind,
    )


@router.post("/{slug}/more")
async def more(request: Request, slug: str) -> Response:
    """Add items to a study, while it runs or before."""
    form = await request.form()
    fields = texts(form)
    desk = acting(request, slug, fields.pop("csrf", ""), "owner")
    return await in_thread(_add, desk, fields, sources(form))  # type: ignore[no-any-return]


def _add(desk: Desk, fields: dict[str, str], sources: Sequence[chosen.Source]) -> Response:
    batch, server = fields.get("batch", "")[:64], desk.server
    try:
        kept = chosen.take(sources)
        if kept or fields.get("drop"):
            server.write_now(
                lambda c: keep(c, batch, desk.who, kept, fields.pop("drop", None), server.clock())
            )
        if fields.get("act") == "keep":
            return _more(desk, batch)
        with server.database.read() as connection:
            files = uploads.chosen(connection, batch, desk.who.id)
        prepared = chosen.prepare(rework.plain(desk.stored.study), files)

        def job(connection: Connection) -> None:
            for name, shown in prepared.pictures.values():
                store_items.add_picture(connection, desk.stored.id, name, shown)
            store_items.add_items(connection, desk.stored, prepared.items)
            uploads.forget(connection, batch, desk.who.id)

        desk.do(job, "items added", str(len(prepared.items)))
    except UsageError as fault:
        return _more(desk, batch, 400, str(fault))
    return desk.back()
