"""A staff member at work on a study: who they are, what they may do there, and their pages."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request, Response
from fastapi.responses import RedirectResponse
from sqlalchemy import Connection

from sightline.server.context import NO_STUDY, Problem, Server, check_csrf, server_of, staff_of
from sightline.server.pages import page
from sightline.server.storage import members, staff
from sightline.server.storage.members import ROLES, Role
from sightline.server.storage.staff import Account
from sightline.server.storage.studies import StoredStudy

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Desk:
    """What every page about a study needs."""

    request: Request
    server: Server
    who: Account
    stored: StoredStudy
    role: Role

    def may(self, need: Role) -> bool:
        return ROLES.index(self.role) >= ROLES.index(need)

    def page(self, template: str, status: int = 200, **values: Any) -> Response:
        known = {"who": self.who, "stored": self.stored, "study": self.stored.study, "may": self.may}
        return page(self.request, template, status, **{**known, **values})

    def do(self, job: Callable[[Connection], T], action: str, detail: str = "") -> T:
        """Change something and enter it into the audit log, at once."""

        def noted(connection: Connection) -> T:
            done = job(connection)
            staff.note(connection, self.who.name, action, self.stored.slug, detail)
            return done

        found = self.server.write_now(noted)
        self.server.forget_studies()
        return found

    def back(self, where: str = "") -> Response:
        """To another page of the study, after something was done."""
        return RedirectResponse(f"/staff/studies/{self.stored.slug}{where}", 303)


def looking(request: Request, slug: str, need: Role = "viewer") -> Desk:
    """The desk of whoever looks at a study's page. Of a study that is none of theirs, they learn nothing."""
    who, server = staff_of(request), server_of(request)
    stored = server.study(slug)
    with server.database.read() as connection:
        role = members.role_of(connection, stored.id, who)
    if role is None:
        raise Problem(404, NO_STUDY)
    desk = Desk(request, server, who, stored, role)
    if not desk.may(need):
        raise Problem(403, "Your role in this study does not allow this. Ask one of its owners.")
    return desk


def acting(request: Request, slug: str, csrf: str, need: Role = "moderator") -> Desk:
    """The same for whoever changes something, from a form of ours."""
    staff_of(request)
    check_csrf(request, csrf)
    return looking(request, slug, need)
