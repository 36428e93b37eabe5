"""For staff: one's own password, and who has an account, for whoever runs the server."""

import secrets
from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request, Response
from sqlalchemy import Connection

from sightline.errors import UsageError
from sightline.server.context import (
    Problem,
    check_csrf,
    check_limit,
    keep_session,
    server_of,
    session_of,
    staff_of,
)
from sightline.server.pages import page
from sightline.server.storage import staff
from sightline.server.storage.staff import Account

router = APIRouter(prefix="/staff", include_in_schema=False)


@router.get("/account")
def own_account(request: Request) -> Response:
    return page(request, "staff/account.html", who=staff_of(request), fault=None, done=False)


@router.post("/account")
def change_password(
    request: Request,
    old: Annotated[str, Form()] = "",
    new: Annotated[str, Form()] = "",
    again: Annotated[str, Form()] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    """A new password; every other session of this person ends."""
    who = staff_of(request)
    check_csrf(request, csrf)
    check_limit(request, "login", f"account:{who.id}")
    server, session = server_of(request), session_of(request)

    def job(connection: Connection) -> int:
        if new != again:
            raise UsageError("the two new passwords differ")
        number = staff.change_password(connection, who.id, old, new)
        staff.note(connection, who.name, "password changed")
        return number

    try:
        number = server.write_now(job)
    except UsageError as fault:
        return page(request, "staff/account.html", 400, who=who, fault=str(fault), done=False)
    session.staff = (who.id, number, server.clock())
    session.id = secrets.token_hex(16)
    response = page(request, "staff/account.html", who=who, fault=None, done=True)
    keep_session(request, response)
    return response


@router.get("/people")
def people(request: Request) -> Response:
    return _people(request, _admin(request))


def _people(request: Request, who: Account, status: int = 200, **values: object) -> Response:
    with server_of(request).database.read() as connection:
        rows = staff.everybody(connection)
    shown = {"rows": rows, "fault": None, "made": None, **values}
    return page(request, "staff/people.html", status, who=who, **shown)


def _admin(request: Request) -> Account:
    who = staff_of(request)
    if not who.admin:
        raise Problem(403, "Accounts are given by those who run the server.")
    return who


@router.post("/people")
def add(
    request: Request,
    name: Annotated[str, Form(max_length=200)] = "",
    admin: Annotated[str, Form()] = "",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    """A new account, whose password is shown once."""
    who = _admin(request)
    check_csrf(request, csrf)
    password = secrets.token_urlsafe(12)

    def job(connection: Connection) -> None:
        staff.add(connection, name, password, admin=admin == "yes")
        staff.note(connection, who.name, "account added", name, "runs the server" if admin == "yes" else "")

    try:
        server_of(request).write_now(job)
    except UsageError as fault:
        return _people(request, who, 400, fault=str(fault))
    return _people(request, who, made=(" ".join(name.split()), password))


@router.post("/people/{number}/{action}")
def change(
    request: Request,
    number: int,
    action: Literal["password", "admin", "no-admin", "remove"],
    csrf: Annotated[str, Form()] = "",
) -> Response:
    """What whoever runs the server may do to an account."""
    who = _admin(request)
    check_csrf(request, csrf)

    def job(connection: Connection) -> tuple[str, str] | None:
        made = None
        if action == "password":
            password = staff.new_password(connection, number)
            name = next(row["name"] for row in staff.everybody(connection) if row["id"] == number)
            made = (name, password)
        elif action == "remove":
            if number == who.id:
                raise UsageError("this is your own account: let somebody else remove it")
            name = staff.remove(connection, number)
        else:
            name = staff.set_admin(connection, number, action == "admin")
        staff.note(connection, who.name, f"account: {action}", name)
        return made

    try:
        made = server_of(request).write_now(job)
    except UsageError as fault:
        return _people(request, who, 400, fault=str(fault))
    return _people(request, who, made=made)
