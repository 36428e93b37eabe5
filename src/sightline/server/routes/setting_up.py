"""For staff: a new study from its form or a TOML, its files, previews."""

import secrets
from collections.abc import Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, File, Form, Request, Response, UploadFile
from fastapi.responses import JSONResponse, RedirectResponse
from sqlalchemy import Connection

from sightline.errors import UsageError
from sightline.people.study import Kind, Study, form_of, parse_study
from sightline.server import archive, chosen, previews, setup, study_form
from sightline.server.context import (
    Problem,
    Server,
    check_csrf,
    check_limit,
    keep_session,
    server_of,
    session_of,
    staff_of,
)
from sightline.server.desk import acting
from sightline.server.form_page import ABOUT, KINDS, form_page, in_thread, keep, sources, texts
from sightline.server.pages import page
from sightline.server.storage import members, staff, studies, uploads
from sightline.server.storage.staff import Account
from sightline.server.storage.studies import StoredStudy

router = APIRouter(prefix="/staff/studies", include_in_schema=False)
EMPTY_TITLE = "Untitled"


@router.get("/new")
def kinds_page(request: Request) -> Response:
    """The seven kinds to choose from."""
    return page(request, "staff/kinds.html", who=staff_of(request), about=ABOUT)


@router.get("/new/file")
def file_page(request: Request) -> Response:
    return page(request, "staff/new.html", who=staff_of(request), fault=None, settings=setup.EXAMPLE)


@router.post("/new/file")
def from_file(
    request: Request,
    settings: Annotated[str, Form()] = "",
    bundle: Annotated[UploadFile | None, File()] = None,
    csrf: Annotated[str, Form()] = "",
) -> Response:
    """A study from its settings as TOML or YAML, and a zip of items and pictures."""
    who, server = staff_of(request), server_of(request)
    check_csrf(request, csrf)
    check_limit(request, "upload", who.name)
    try:
        study = parse_study(settings, form_of(settings), "settings")
        if bundle is None or not bundle.filename:
            raise UsageError("choose a zip with items.jsonl and the pictures")
        with archive.unpacked(bundle.file) as folder:
            prepared = setup.prepare(study, folder)
        stored = _store(server, who, prepared, public=False)
    except UsageError as fault:
        return page(request, "staff/new.html", 400, who=who, fault=str(fault), settings=settings)
    return RedirectResponse(f"/staff/studies/{stored.slug}", 303)


def _store(
    server: Server,
    who: Account,
    prepared: setup.Prepared,
    *,
    public: bool,
    also: Callable[[Connection], None] = lambda connection: None,
) -> StoredStudy:
    """Keep a new study; whoever set it up owns it."""

    def job(connection: Connection) -> StoredStudy:
        stored = setup.store(connection, prepared, public=public)
        members.set_role(connection, stored.id, who.id, "owner")
        staff.note(connection, who.name, "study added", stored.slug, prepared.study.title)
        also(connection)
        return stored

    return server.write_now(job)


@router.get("/new/{kind}")
def new_page(request: Request, kind: str) -> Response:
    who = staff_of(request)
    study = Study(kind=_kind(kind), title=EMPTY_TITLE)
    fields = {**study_form.fields_of(study), "title": ""}
    return form_page(request, study.kind, fields, secrets.token_urlsafe(16), who=who)


def _kind(name: str) -> Kind:
    found = next((kind for kind in KINDS if kind.replace(" ", "-") == name), None)
    if found is None:
        raise Problem(404, "There is no such kind of study.")
    return found


@router.post("/new/files/{batch}")
async def choose_files(request: Request, batch: str) -> Response:
    """Files that were just chosen in a form, sent ahead by its script; told back: what is kept now."""
    who, server = staff_of(request), server_of(request)
    form = await request.form()
    fields = texts(form)
    check_csrf(request, fields.get("csrf"))
    check_limit(request, "files", who.name)
    if len(batch) > 64:
        raise Problem(404, "There is nothing at this address.")
    try:
        kept = await in_thread(chosen.take, sources(form))
        await server.write(lambda c: keep(c, batch, who, kept, fields.get("drop"), server.clock()))
    except UsageError as fault:
        return JSONResponse({"error": str(fault)}, 400)
    with server.database.read() as connection:
        tables, pictures = uploads.names(connection, batch, who.id)
    return JSONResponse({"tables": tables, "pictures": len(pictures)})


@router.post("/new/{kind}")
async def new(request: Request, kind: str) -> Response:
    """Set a study up from its form, or play a preview of it; whatever is wrong, nothing chosen is lost."""
    who, name = staff_of(request), _kind(kind)
    form = await request.form()
    fields = texts(form)
    check_csrf(request, fields.pop("csrf", None))
    check_limit(request, "upload", who.name)
    batch = fields.pop("batch", "")[:64] or secrets.token_urlsafe(16)
    return await in_thread(_set_up, request, who, name, fields, batch, sources(form))  # type: ignore[no-any-return]


def _set_up(
    request: Request,
    who: Account,
    kind: Kind,
    fields: dict[str, str],
    batch: str,
    sources: Sequence[chosen.Source],
) -> Response:
    server = server_of(request)
    try:
        kept = chosen.take(sources)
        if kept or fields.get("drop"):
            server.write_now(lambda c: keep(c, batch, who, kept, fields.pop("drop", None), server.clock()))
        if fields.get("act") == "keep":  # a file was dropped, or chosen without a script
            return form_page(request, kind, fields, batch, who=who)
        study = study_form.study_from(kind, fields)
        with server.database.read() as connection:
            files = uploads.chosen(connection, batch, who.id)
        prepared = chosen.prepare(study, files)
        if fields.get("act") == "preview":
            return _into(request, *server.write_now(lambda c: previews.of_prepared(c, prepared)))
        stored = _store(
            server,
            who,
            prepared,
            public=bool(fields.get("public")),
            also=lambda c: uploads.used_up(c, batch, who.id),
        )
    except UsageError as fault:
        return form_page(request, kind, fields, batch, who=who, status=400, fault=str(fault))
    return RedirectResponse(f"/staff/studies/{stored.slug}", 303)


def _into(request: Request, made: StoredStudy, rater: int) -> Response:
    """Into a preview, as its player."""
    session_of(request).become(made.slug, rater)
    response = RedirectResponse(f"/studies/{made.slug}", 303)
    keep_session(request, response)
    return response


@router.post("/{slug}/preview")
def preview(request: Request, slug: str, csrf: Annotated[str, Form()] = "") -> Response:
    """Play a study as it stands; anybody who may see it may."""
    desk = acting(request, slug, csrf, "viewer")
    return _into(request, *desk.server.write_now(lambda c: previews.of_study(c, desk.stored)))


@router.post("/previews/{slug}/end")
def end_preview(request: Request, slug: str, csrf: Annotated[str, Form()] = "") -> Response:
    """Done with a preview: everything of it is deleted."""
    staff_of(request)
    check_csrf(request, csrf)
    server, session = server_of(request), session_of(request)
    stored = server.study(slug)
    if not stored.preview or slug not in session.raters:
        raise Problem(404, "There is nothing at this address.")
    server.write_now(lambda c: studies.remove(c, stored.id))
    server.forget_studies()
    session.raters.pop(slug)
    response = page(request, "staff/previewed.html", who=staff_of(request))
    keep_session(request, response)
    return response
