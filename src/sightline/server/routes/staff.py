"""For staff: logging in and out, the studies at a glance, the audit log."""

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import RedirectResponse

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
from sightline.server.storage import records, staff, studies

router = APIRouter(prefix="/staff", include_in_schema=False)


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
    check_limit(request, "login")
    check_limit(request, "login", f"name:{name[:100]}")
    server, session = server_of(request), session_of(request)
    with server.database.read() as connection:
        known = staff.log_in(connection, name, password)
    if known is None:
        server.write_now(lambda c: staff.note(c, "?", "login failed", name[:100], address_of(request)))
        return page(request, "staff/login.html", 403, fault="Name or password is wrong.")
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
    response = RedirectResponse("/", 303)
    keep_session(request, response)
    return response


@router.get("")
def home(request: Request) -> Response:
    who, server = staff_of(request), server_of(request)
    with server.database.read() as connection:
        known = [
            (stored, records.progress(connection, stored.id)) for stored in studies.everything(connection)
        ]
    return page(request, "staff/home.html", who=who, known=known)


@router.get("/audit")
def audit(request: Request) -> Response:
    who, server = staff_of(request), server_of(request)
    with server.database.read() as connection:
        rows = staff.audit(connection)
    return page(request, "staff/audit.html", who=who, rows=rows)
