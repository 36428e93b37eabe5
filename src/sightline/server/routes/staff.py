"""For staff: logging in and out, the studies at a glance, the audit log."""

import secrets
import time
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from sightline.io.json_csv import csv_lines
from sightline.server import previews
from sightline.server.context import (
    address_of,
    check_csrf,
    check_limit,
    keep_session,
    server_of,
    session_of,
    staff_of,
)
from sightline.server.pages import page
from sightline.server.storage import members, records, staff, studies

router = APIRouter(prefix="/staff", include_in_schema=False)
DAY = 86400
LOG = ("at", "staff", "action", "subject", "detail")


@router.get("/login")
def login_page(request: Request) -> Response:
    return page(request, "staff/login.html", fault=None)


@router.post("/login")
def login(
    request: Request,
    name: Annotated[str, Form()] = "",
    password: Annotated[str, Form()] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    check_csrf(request, csrf)
    server, session = server_of(request), session_of(request)
    check_limit(request, "login")
    with server.database.read() as connection:
        known = staff.log_in(connection, name, password)
    if known is None:
        server.write_now(lambda c: staff.note(c, "?", "login failed", name[:100], address_of(request)))
        return page(request, "staff/login.html", 403, fault="Name or password is wrong.")
    server.limits.give_back("login", address_of(request))
    session.id = secrets.token_hex(16)  # whoever knew the session before knows nothing of this one
    session.staff = (*known, server.clock())
    server.write_now(lambda c: staff.note(c, name, "login", "", address_of(request)))
    response = RedirectResponse("/staff", 303)
    keep_session(request, response)
    return response


@router.post("/logout")
def logout(request: Request, csrf: Annotated[str, Form()] = "") -> Response:
    check_csrf(request, csrf)
    server, session = server_of(request), session_of(request)
    if session.staff is not None:
        number = session.staff[0]
        server.write_now(lambda c: staff.log_out(c, number))
        session.staff = None
        session.id = secrets.token_hex(16)
    response = RedirectResponse("/", 303)
    keep_session(request, response)
    return response


@router.get("")
def home(request: Request) -> Response:
    who, server = staff_of(request), server_of(request)
    with server.database.read() as connection:
        mine = studies.everything(connection, members.studies_of(connection, who))
        known = [(stored, records.progress(connection, stored.id)) for stored in mine]
        left = previews.ended(connection, server.clock())
    if left:
        server.write_now(lambda c: previews.sweep(c, server.clock()))
    return page(request, "staff/home.html", who=who, known=known)


@router.get("/audit")
def audit(
    request: Request,
    q: Annotated[str, Query(max_length=200)] = "",
    since: Annotated[str, Query(pattern=r"^$|^\d{4}-\d\d-\d\d$")] = "",
    until: Annotated[str, Query(pattern=r"^$|^\d{4}-\d\d-\d\d$")] = "",
    number: Annotated[int, Query(alias="page", ge=1, le=10**6)] = 1,
    form: Literal["", "csv"] = "",
) -> Response:
    """What was done: everything for whoever runs the server, of their studies for the others."""
    who, server = staff_of(request), server_of(request)
    with server.database.read() as connection:
        mine = members.studies_of(connection, who)
        slugs = None if mine is None else [one.slug for one in studies.everything(connection, mine)]
        rows, count = staff.audit(
            connection,
            q,
            since=_day(since),
            until=_day(until, DAY),
            subjects=slugs,
            page=None if form else number,
        )
    if form:
        server.write_now(lambda c: staff.note(c, who.name, "audit log exported", "", q))
        lines = ([_utc(row["at"]), *(row[name] for name in LOG[1:])] for row in rows)
        headers = {"content-disposition": 'attachment; filename="sightline-audit.csv"'}
        return Response("".join(csv_lines(LOG, lines)), media_type="text/csv; charset=utf-8", headers=headers)
    return page(
        request,
        "staff/audit.html",
        who=who,
        rows=rows,
        count=count,
        number=number,
        pages=max(1, -(-count // staff.LOG_PAGE)),
        asked={"q": q, "since": since, "until": until},
    )


def _day(text: str, more: int = 0) -> float | None:
    """Seconds at which a day begins (UTC); None where it is no day."""
    try:
        return time.mktime(time.strptime(f"{text} UTC", "%Y-%m-%d %Z")) - time.timezone + more
    except (ValueError, OverflowError):
        return None


def _utc(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
