"""For a study's owners: who of the staff may do what in it."""

from typing import Annotated, Literal

from fastapi import APIRouter, Form, Request, Response

from sightline.errors import UsageError
from sightline.server.desk import Desk, acting, looking
from sightline.server.storage import members, staff

router = APIRouter(prefix="/staff/studies/{slug}", include_in_schema=False)


@router.get("/team")
def team(request: Request, slug: str) -> Response:
    return _team(looking(request, slug, "owner"))


def _team(desk: Desk, status: int = 200, fault: str | None = None) -> Response:
    with desk.server.database.read() as connection:
        rows = members.of_study(connection, desk.stored.id)
        here = {row["id"] for row in rows}
        others = [row for row in staff.everybody(connection) if row["id"] not in here]
    return desk.page("staff/team.html", status, rows=rows, others=others, roles=members.ROLES, fault=fault)


@router.post("/team")
def change(
    request: Request,
    slug: str,
    person: Annotated[int, Form(ge=0, le=2**31 - 1)] = 0,
    role: Annotated[Literal["viewer", "moderator", "owner", "none"], Form()] = "viewer",
    csrf: Annotated[str, Form()] = "",
) -> Response:
    """Give somebody a role, another one, or none."""
    desk = acting(request, slug, csrf, "owner")
    given = None if role == "none" else role
    with desk.server.database.read() as connection:
        name = next((row["name"] for row in staff.everybody(connection) if row["id"] == person), "?")
    try:
        desk.do(lambda c: members.set_role(c, desk.stored.id, person, given), "role given", f"{name}: {role}")
    except UsageError as fault:
        return _team(desk, 400, str(fault))
    return desk.back("/team")
