"""For raters: coming in, going on at another device, saying who sits there, and leaving."""

import secrets
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import RowMapping

from sightline.errors import UsageError
from sightline.server.context import (
    Problem,
    address_for,
    check_csrf,
    check_limit,
    count_failures,
    keep_session,
    rater_of,
    server_of,
    session_of,
)
from sightline.server.pages import page
from sightline.server.storage import raters
from sightline.server.storage.studies import StoredStudy

router = APIRouter(include_in_schema=False)
LONGEST_PARAMETER = 200
USED = "This invitation has been used, or was withdrawn. Ask for a new link."
NO_CODE = "This code opens nothing. Look at it once more: it has three parts with hyphens between."


@router.get("/join/{token}")
def invitation(request: Request, token: str) -> Response:
    server = server_of(request)
    with count_failures(request, "join"), server.database.read() as connection:
        slug = raters.invited_study(connection, token)
        here = session_of(request).raters
        if slug is None and (slug := raters.once_invited(connection, token, here.values())) is None:
            raise Problem(404, USED)
    return _join_page(request, server.study(slug), token)


@router.get("/studies/{slug}/join")
def public_join(request: Request, slug: str) -> Response:
    stored = server_of(request).study(slug)
    if not stored.public and slug not in session_of(request).raters:
        raise Problem(403, "This study is by invitation. Ask its team for a link.")
    return _join_page(request, stored, "")


def _join_page(request: Request, stored: StoredStudy, token: str) -> Response:
    """The way in; where somebody has joined at this browser already, the question who sits there."""
    server = server_of(request)
    participant = _participant(stored, request.query_params)
    with server.database.read() as connection:
        sitting = _sitting(request, stored)
        room = raters.has_room(connection, stored, server.clock())
    if sitting and participant and sitting["participant_key"] == participant[_who(stored)]:
        return RedirectResponse(f"/studies/{stored.slug}", 303)
    if stored.state == "closed" and not sitting:
        return page(request, "closed.html", 403, stored=stored, study=stored.study)
    if not room and not sitting and not participant:
        return page(request, "full.html", 403, stored=stored, study=stored.study)
    return page(
        request,
        "join.html",
        stored=stored,
        token=token,
        sitting=sitting,
        participant=participant,
        nonce=secrets.token_hex(16),
    )


def _sitting(request: Request, stored: StoredStudy) -> RowMapping | None:
    """Who has joined at this browser, if they are still in the study."""
    number = session_of(request).raters.get(stored.slug)
    if number is None:
        return None
    with server_of(request).database.read() as connection:
        return raters.find(connection, number)


def _who(stored: StoredStudy) -> str:
    assert stored.study.platform is not None
    return stored.study.platform.who


def _participant(stored: StoredStudy, given: object) -> dict[str, str] | None:
    """What a crowd platform's link said; None where the study knows of none, or nobody is named."""
    platform = stored.study.platform
    if platform is None:
        return None
    found = {name: str(given.get(name) or "").strip()[:LONGEST_PARAMETER] for name in platform.names}  # type: ignore[attr-defined]
    return found if found[platform.who] and all(text.isprintable() for text in found.values()) else None


@router.post("/studies/{slug}/join")
async def join(request: Request, slug: str) -> Response:
    """One more rater; a form that is sent twice makes one, and a platform's participant is one for good."""
    form = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    check_csrf(request, form.get("csrf"))
    server, session = server_of(request), session_of(request)
    stored = server.study(slug)
    instead = form.get("instead") == "yes"
    if slug in session.raters and not instead and _sitting(request, stored):
        return RedirectResponse(f"/studies/{slug}", 303)
    if stored.state == "closed":
        return page(request, "closed.html", 403, stored=stored, study=stored.study)
    check_limit(request, "newcomers")
    participant = _participant(stored, form)
    begun = f"{session.id}:{form['nonce'][:64]}" if form.get("nonce") else None
    name = form.get("name", "") or ("Participant" if participant else "")
    token = form.get("token") or None
    with count_failures(request, "join"):
        try:
            rater = await server.write(
                lambda c: raters.join(c, stored, name, token, begun=begun, participant=participant)
            )
        except raters.Full:
            return page(request, "full.html", 403, stored=stored, study=stored.study)
    session.become(slug, rater)
    response = RedirectResponse(f"/studies/{slug}", 303)
    keep_session(request, response)
    return response


@router.post("/studies/{slug}/leave")
def leave(request: Request, slug: str, csrf: Annotated[str, Form()] = "") -> Response:
    """Log a rater out at this browser; they are told how to come back."""
    check_csrf(request, csrf)
    server, session = server_of(request), session_of(request)
    stored, rater = server.study(slug), rater_of(request, slug)
    session.become(slug, None)
    code = server.sessions.resume_code(rater)
    response = page(
        request, "left.html", stored=stored, study=stored.study, code=code, link=resume_link(request, code)
    )
    keep_session(request, response)
    return response


def resume_link(request: Request, code: str) -> str:
    return address_for(request, f"/resume/{code}")


@router.get("/resume")
def resume_form(request: Request) -> Response:
    return page(request, "resume.html", code="", rater=None, study=None)


@router.get("/resume/{code}")
def resume_page(request: Request, code: str) -> Response:
    """Nothing changes by opening the link: going on is a button, since links are opened by other things too."""
    found = _resumed(request, code)
    study = server_of(request).study(found["slug"]).study
    return page(request, "resume.html", code=code, rater=found, study=study)


@router.post("/resume")
def resume(
    request: Request, code: Annotated[str, Form()] = "", csrf: Annotated[str, Form()] = ""
) -> Response:
    check_csrf(request, csrf)
    found, session = _resumed(request, code), session_of(request)
    session.become(found["slug"], found["id"])
    response = RedirectResponse(f"/studies/{found['slug']}", 303)
    keep_session(request, response)
    return response


def _resumed(request: Request, code: str) -> RowMapping:
    server = server_of(request)
    with count_failures(request, "join"), server.database.read() as connection:
        number = server.sessions.resumed(code)
        found = raters.find(connection, number) if number is not None else None
        if found is None:
            raise Problem(404, NO_CODE)
        return found


@router.get("/studies/{slug}/consent")
def consent_page(request: Request, slug: str) -> Response:
    rater_of(request, slug)
    stored = server_of(request).study(slug)
    return page(request, "consent.html", stored=stored, rater=_sitting(request, stored))


@router.post("/studies/{slug}/consent")
def consent(
    request: Request, slug: str, agrees: Annotated[str, Form()] = "", csrf: Annotated[str, Form()] = ""
) -> Response:
    check_csrf(request, csrf)
    server, rater = server_of(request), rater_of(request, slug)
    stored = server.study(slug)
    if agrees not in ("yes", "no"):
        raise UsageError("say whether you consent")
    server.write_now(lambda c: raters.consent(c, stored, rater, agrees == "yes"))
    return RedirectResponse(f"/studies/{slug}", 303)
