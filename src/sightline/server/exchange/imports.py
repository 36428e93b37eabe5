"""Ratings into a study: from our own exports, or with their items from the published forms."""

import secrets
import time
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select, update

from sightline.errors import BadLine, UsageError
from sightline.io.ratings import VOTES, Answer, number, read_answers
from sightline.items import Key
from sightline.people.assignment import Until, wanted
from sightline.people.consensus import Tally
from sightline.people.forms import TIE, check_given
from sightline.server.exchange.rows import CRITERION, texts_of
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy


@dataclass(frozen=True, slots=True)
class ImportedAnswer:
    """All that one rater said about one item."""

    key: str
    rater: str
    phase: str
    round: int
    given: dict[str, Any]
    row: dict[str, Any]
    where: str


Place = tuple[str, int | str | None]
"""An item, and what of its page is meant: a story's number, the axis of a caption, or all of it."""


def import_ratings(connection: Connection, stored: StoredStudy, path: Path) -> int:
    """Single ratings in the form of our export. Ratings that are there already are left alone."""
    return add_answers(connection, stored, _gather(stored, _items(connection, stored), read_answers(path)))


def _items(connection: Connection, stored: StoredStudy) -> dict[Key, Place]:
    """Every id that a rating may name: an item, or a story or caption on an item's page with its place there."""
    found: dict[Key, Place] = {}
    for key, origin in connection.execute(
        select(t.Item.key, t.Item.origin).where(t.Item.study_id == stored.id)
    ).all():
        if texts := texts_of(origin):
            found |= {(text["id"], text["system"]): (key, place) for place, text in enumerate(texts)}
        elif captions := origin.get("captions"):
            found |= {(id, origin.get("system")): (key, axis) for axis, id in captions.items()}
        else:
            found[key, origin.get("system")] = (key, None)
    return found


def _gather(stored: StoredStudy, items: dict[Key, Place], answers: Iterable[Answer]) -> list[ImportedAnswer]:
    by_id = {id: place for (id, _), place in items.items()}
    several = len(by_id) < len(items)
    found: dict[tuple[str, str, int], ImportedAnswer] = {}
    for one in answers:
        if one.value in (None, ""):
            raise BadLine(one.where, "'value' is missing")
        place = items.get(one.key) or (None if several or one.system else by_id.get(one.item))
        if place is None:
            named = f"'{one.item}'" + (f" of system '{one.system}'" if one.system else "")
            raise BadLine(one.where, f"item {named} is not in study '{stored.slug}'")
        key, part = place
        round_ = _whole(one.extra, "round", one.where) or 0
        judged = found.setdefault(
            (key, one.rater, round_),
            ImportedAnswer(key, one.rater, one.phase, round_, {}, one.extra, one.where),
        )
        _put(stored, judged.given, one, part)
    return list(found.values())


def _put(stored: StoredStudy, given: dict[str, Any], one: Answer, part: int | str | None) -> None:
    value = int(one.value) if isinstance(one.value, float) and one.value.is_integer() else one.value
    if one.criterion == "errors" and isinstance(value, str):
        value = " ".join(value.strip("[]").replace(",", " ").split()) or "none"
    if isinstance(part, str):
        given[part] = value
    elif part is None:
        given["value" if stored.study.kind in CRITERION else one.criterion] = value
    elif one.criterion not in VOTES:
        given[f"{part}.{one.criterion}"] = value
    elif number(one.value) == 1:
        given[one.criterion] = part
    elif number(one.value) == 0.5:
        given[one.criterion] = TIE


def _whole(row: dict[str, Any], name: str, where: str) -> int | None:
    """A whole number in another column, where it has one."""
    cell = row.get(name)
    if cell in (None, ""):
        return None
    found = number(cell)
    if found != found // 1:
        raise BadLine(where, f"'{name}': '{str(cell)[:40]}' is not a whole number")
    return int(found)


def add_answers(connection: Connection, stored: StoredStudy, judged: Iterable[ImportedAnswer]) -> int:
    """Enter checked answers, then count every item anew."""
    items = {
        row.key: row
        for row in connection.execute(
            select(t.Item.key, t.Item.id, t.Item.content).where(t.Item.study_id == stored.id)
        )
    }
    raters = dict(
        connection.execute(select(t.Rater.code, t.Rater.id).where(t.Rater.study_id == stored.id)).all()
    )
    here = t.Answer.study_id == stored.id
    known = {
        tuple(row)
        for row in connection.execute(select(t.Answer.item_id, t.Answer.rater_id, t.Answer.round).where(here))
    }
    now, rows = time.time(), []
    for one in judged:
        item = items[one.key]
        try:
            given = check_given(stored.study, item.content, one.given)
        except UsageError as fault:
            raise UsageError(f"{one.where}: {fault}") from None
        rater = raters.get(one.rater) or raters.setdefault(
            one.rater, _add_rater(connection, stored, one.rater, now)
        )
        if (item.id, rater, one.round) in known:
            continue
        known.add((item.id, rater, one.round))
        rows.append(_row(stored, one, item.id, rater, given.value, given.answers, now))
    if rows:
        connection.execute(insert(t.Answer), rows)
    recount(connection, stored)
    return len(rows)


def _row(
    stored: StoredStudy,
    one: ImportedAnswer,
    item: int,
    rater: int,
    value: int | None,
    answers: dict[str, Any],
    now: float,
) -> dict[str, Any]:
    def whole(name: str) -> int | None:
        return _whole(one.row, name, one.where)

    return {
        "study_id": stored.id,
        "item_id": item,
        "rater_id": rater,
        "round": one.round,
        "phase": one.phase,
        "value": value,
        "answers": answers or None,
        "seconds": number(one.row.get("seconds"), 0.0),
        "before": "",
        "consensus": whole("consensus"),
        "points": whole("points"),
        "returned": whole("returned") or 0,
        "at": _time(one.row.get("day"), now),
        "token": f"import-{secrets.token_hex(16)}",
    }


def _time(day: Any, now: float) -> float:
    try:
        return float(time.mktime(time.strptime(str(day), "%Y-%m-%d")) - time.timezone)
    except ValueError:
        return now


def _add_rater(connection: Connection, stored: StoredStudy, code: str, now: float) -> int:
    taken = connection.execute(select(t.Rater.id).where(t.Rater.code == code)).scalar_one_or_none()
    row = {
        "study_id": stored.id,
        "code": code if taken is None else f"{code}-{stored.slug}",
        "name": "imported",
        "phase": "play",
        "joined": now,
        "seen": now,
    }
    zero = dict.fromkeys(("lesson", "lesson_goal", "lesson_right", "lesson_points", "place", "streak"), 0)
    rest = {"active": True, "round": 1, "cursor": -1, "rated": 0, "points": 0, "best_streak": 0, "recent": ""}
    return int(
        connection.execute(insert(t.Rater).values(**row, **zero, **rest).returning(t.Rater.id)).scalar_one()
    )


def recount(connection: Connection, stored: StoredStudy) -> None:
    """Make every item's tally, and every rater's sums, what the answers say."""
    values: dict[int, list[int | None]] = defaultdict(list)
    sums: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    training = ("tutorial", "probation", "qualification")
    columns = ("item_id", "rater_id", "phase", "value", "points", "returned")
    counted = (t.Answer.study_id == stored.id) & (t.Answer.state != "excluded")
    answers = select(*(getattr(t.Answer, name) for name in columns)).where(counted)
    for row in connection.execute(answers):
        if row.phase == "play":
            values[row.item_id].append(row.value)
        if row.phase not in training:
            sums[row.rater_id][0] += 1
            sums[row.rater_id][1] += (row.points or 0) + row.returned
    held = set(connection.execute(select(t.Lease.item_id)).scalars())
    study = stored.study
    for item, given in values.items():
        tally = Tally.of(stored.study.levels, [value for value in given if value is not None])
        wants = max(study.ratings_at_first, len(given))
        if isinstance(study.ratings_per_item, Until):
            wants = max(wants, wanted(study.ratings_per_item, study.hard, tally))
        counts = ",".join(map(str, tally.counts))
        free = max(wants - len(given) - (item in held), 0)
        changes = {"counts": counts, "people": len(given), "wanted": wants, "free": free}
        connection.execute(update(t.Item).where(t.Item.id == item).values(changes))
    for rater, (rated, points) in sums.items():
        connection.execute(update(t.Rater).where(t.Rater.id == rater).values(rated=rated, points=points))
