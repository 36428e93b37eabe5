"""Invitations, joining, and where a rater stands."""

import hashlib
import secrets
import time
from typing import Any

from sqlalchemy import Connection, RowMapping, func, insert, select, update

from sightline.errors import UsageError
from sightline.people.study import Study
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

NAME_LENGTH = 40


def token_hash(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def invite(connection: Connection, study_id: int, uses: int | None, note: str = "") -> str:
    """A new invitation's token; it is shown once and kept as a hash."""
    token = secrets.token_urlsafe(18)
    row = {"study_id": study_id, "token_hash": token_hash(token), "uses_left": uses, "note": note[:200]}
    connection.execute(insert(t.Invitation).values(**row, uses=0, revoked=False, created=time.time()))
    return token


def invited_study(connection: Connection, token: str) -> str | None:
    """The slug of the study that a still usable invitation opens."""
    usable = (t.Invitation.uses_left.is_(None)) | (t.Invitation.uses_left > 0)
    return connection.execute(
        select(t.Study.slug)
        .join(t.Invitation, t.Invitation.study_id == t.Study.id)
        .where(t.Invitation.token_hash == token_hash(token), t.Invitation.revoked.is_(False), usable)
    ).scalar_one_or_none()


def use_invitation(connection: Connection, study_id: int, token: str) -> bool:
    """Take one use of an invitation; two people never share the last one."""
    left = t.Invitation.uses_left
    taken = connection.execute(
        update(t.Invitation)
        .where(
            t.Invitation.token_hash == token_hash(token),
            t.Invitation.study_id == study_id,
            t.Invitation.revoked.is_(False),
            left.is_(None) | (left > 0),
        )
        .values(uses_left=left - 1, uses=t.Invitation.uses + 1)
    )
    return taken.rowcount == 1


def tidy_name(name: str) -> str:
    name = " ".join("".join(letter for letter in name if letter.isprintable()).split())[:NAME_LENGTH].strip()
    if not name:
        raise UsageError(f"choose a name of 1 to {NAME_LENGTH} characters")
    return name


def join(connection: Connection, stored: StoredStudy, name: str, token: str | None) -> int:
    """A new rater of a study: by invitation, or freely where the study is public."""
    name = tidy_name(name)
    if token is None:
        if not stored.public:
            raise UsageError("this study is by invitation")
    elif not use_invitation(connection, stored.id, token):
        raise UsageError("this invitation has been used, or was withdrawn")
    now = time.time()
    row = {
        "study_id": stored.id,
        "code": f"r{secrets.token_hex(5)}",
        "name": name,
        "joined": now,
        "seen": now,
        **first_steps(connection, stored),
    }
    defaults = {"active": True, "round": 1, "place": 0, "cursor": -1, "rated": 0, "points": 0, "recent": ""}
    added = connection.execute(
        insert(t.Rater).values(**defaults, **row, streak=0, best_streak=0).returning(t.Rater.id)
    )
    return int(added.scalar_one())


def first_steps(connection: Connection, stored: StoredStudy) -> dict[str, Any]:
    """Column values with which a rater begins: consent, training, qualification, or straight into it."""
    if stored.study.consent_text:
        return {"phase": "consent", "lesson": 0, "lesson_goal": 0, "lesson_right": 0, "lesson_points": 0}
    return training_steps(connection, stored)


def training_steps(connection: Connection, stored: StoredStudy, after: str | None = None) -> dict[str, Any]:
    """Column values of the next stage of training, as far as there are items for it."""
    study = stored.study
    available = training_items(connection, stored.id)
    fresh = {"lesson": 0, "lesson_right": 0, "lesson_points": 0}
    if study.qualification and available and after is None:
        return {**fresh, "phase": "qualification", "lesson_goal": min(study.qualification.items, available)}
    phase = _stage(study, after)
    goal = dict(zip(("tutorial", "probation"), study.lessons.shares(available), strict=True)).get(phase, 0)
    if phase == "tutorial" and not goal:
        return training_steps(connection, stored, after="tutorial")
    return {**fresh, "phase": phase if goal else "playing", "lesson_goal": goal}


def _stage(study: Study, after: str | None) -> str:
    if after in ("probation", "qualification"):
        return "playing"
    return study.lessons.after_tutorial() if after == "tutorial" else study.lessons.first_phase()


def training_items(connection: Connection, study_id: int) -> int:
    query = select(func.count()).where(
        t.Item.study_id == study_id, t.Item.role == "training", t.Item.state == "open"
    )
    return int(connection.execute(query).scalar_one())


def consent(connection: Connection, stored: StoredStudy, rater_id: int, agrees: bool) -> None:
    steps = training_steps(connection, stored) if agrees else {"phase": "refused", "name": "declined"}
    waiting = (t.Rater.id == rater_id) & (t.Rater.phase == "consent")
    connection.execute(update(t.Rater).where(waiting).values(**steps))


def find(connection: Connection, rater_id: int) -> RowMapping | None:
    """An active rater's row with the study's slug."""
    query = (
        select(t.Rater.__table__, t.Study.slug)
        .join(t.Study, t.Study.id == t.Rater.study_id)
        .where(t.Rater.id == rater_id, t.Rater.active.is_(True))
    )
    return connection.execute(query).mappings().one_or_none()


def leaderboard(connection: Connection, study_id: int, limit: int = 20) -> list[RowMapping]:
    query = (
        select(t.Rater.id, t.Rater.name, t.Rater.points, t.Rater.rated, t.Rater.best_streak)
        .where(t.Rater.study_id == study_id, t.Rater.active.is_(True), t.Rater.rated > 0)
        .order_by(t.Rater.points.desc(), t.Rater.rated, t.Rater.id)
        .limit(limit)
    )
    return list(connection.execute(query).mappings())


def rank(connection: Connection, study_id: int, points: int) -> int:
    ahead = (t.Rater.study_id == study_id) & t.Rater.active.is_(True) & (t.Rater.points > points)
    return 1 + int(connection.execute(select(func.count()).select_from(t.Rater).where(ahead)).scalar_one())
