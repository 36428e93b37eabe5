"""Invitations, joining, and where a rater stands."""

import hashlib
import secrets
import time
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, RowMapping, func, insert, or_, select, update

from sightline.errors import UsageError
from sightline.people.study import Study
from sightline.server.storage import schema as t
from sightline.server.storage.numbers import next_rater
from sightline.server.storage.studies import StoredStudy

NAME_LENGTH = 40
FULL = "all places in this study are taken"


class Full(UsageError):  # noqa: N818 - an answer, not a fault
    """So many take part that nobody else may."""


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


def once_invited(connection: Connection, token: str, here: Iterable[int]) -> str | None:
    """The slug of the study that an invitation has let one of these raters into: used up, but not for them."""
    return connection.execute(
        select(t.Study.slug)
        .join(t.Invitation, t.Invitation.study_id == t.Study.id)
        .join(t.Rater, t.Rater.study_id == t.Study.id)
        .where(t.Invitation.token_hash == token_hash(token), t.Rater.id.in_(list(here)))
        .limit(1)
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
        raise UsageError("choose a name of 1 to 40 characters")
    return name


def join(
    connection: Connection,
    stored: StoredStudy,
    name: str,
    token: str | None,
    *,
    begun: str | None = None,
    participant: dict[str, str] | None = None,
) -> int:
    """A new rater of a study: by invitation, or freely where the study is public.

    The same form (`begun`) sent twice, and the same person from a crowd platform, are the same rater.
    """
    name = tidy_name(name)
    key = participant[stored.study.platform.who] if participant and stored.study.platform else None
    if (known := _joined(connection, stored, begun, key)) is not None:
        return known
    if token is None:
        if not stored.public:
            raise UsageError("this study is by invitation")
    elif not use_invitation(connection, stored.id, token):
        raise UsageError("this invitation has been used, or was withdrawn")
    now = time.time()
    if not has_room(connection, stored, now):
        raise Full(FULL)
    number = next_rater(connection)
    row = {
        **({} if number is None else {"id": number}),
        "study_id": stored.id,
        "code": f"r{secrets.token_hex(5)}",
        "name": name,
        "joined": now,
        "seen": now,
        "begun": begun,
        "participant": participant,
        "participant_key": key,
        **first_steps(connection, stored),
    }
    defaults = {"active": True, "round": 1, "place": 0, "cursor": -1, "rated": 0, "points": 0, "recent": ""}
    added = connection.execute(
        insert(t.Rater).values(**defaults, **row, streak=0, best_streak=0).returning(t.Rater.id)
    )
    return int(added.scalar_one())


def _joined(connection: Connection, stored: StoredStudy, begun: str | None, key: str | None) -> int | None:
    same = []
    if begun:
        same.append(t.Rater.begun == begun)
    if key:
        same.append(t.Rater.participant_key == key)
    if not same:
        return None
    query = select(t.Rater.id).where(t.Rater.study_id == stored.id, or_(*same)).order_by(t.Rater.id).limit(1)
    return connection.execute(query).scalar_one_or_none()


def has_room(connection: Connection, stored: StoredStudy, now: float) -> bool:
    """Whether one more person may take part.

    A place is taken by everyone who is done, and by those at work; one who has left for `hold_minutes`
    before the end, declined or was not admitted holds none.
    """
    places = stored.study.places
    if places is None:
        return True
    here = t.Rater.finished.is_not(None) | (t.Rater.seen >= now - 60 * stored.study.hold_minutes)
    taken = select(func.count()).where(
        t.Rater.study_id == stored.id, t.Rater.active.is_(True), t.Rater.phase != "refused", here
    )
    return int(connection.execute(taken).scalar_one()) < places


def finish(connection: Connection, rater_id: int, now: float) -> None:
    """Note that a rater has done all there is for them."""
    first = (t.Rater.id == rater_id) & t.Rater.finished.is_(None)
    connection.execute(update(t.Rater).where(first).values(finished=now))


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
    return {**fresh, "phase": phase if goal else "play", "lesson_goal": goal}


def _stage(study: Study, after: str | None) -> str:
    if after in ("probation", "qualification"):
        return "play"
    return study.lessons.after_tutorial() if after == "tutorial" else study.lessons.first_phase()


def training_items(connection: Connection, study_id: int) -> int:
    query = select(func.count()).where(
        t.Item.study_id == study_id, t.Item.role == "training", t.Item.state == "open"
    )
    return int(connection.execute(query).scalar_one())


def consent(connection: Connection, stored: StoredStudy, rater_id: int, agrees: bool) -> None:
    declined = {"phase": "refused", "name": "declined", "notice": {"event": "no consent"}}
    steps = training_steps(connection, stored) if agrees else declined
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
