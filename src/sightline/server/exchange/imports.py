"""Ratings into a study: from our own exports, or with their items from the published forms."""

import csv
import json
import secrets
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from sqlalchemy import Connection, insert, select, update

from sightline.errors import UsageError
from sightline.people.assignment import Until, wanted
from sightline.people.consensus import Tally
from sightline.people.forms import check_given
from sightline.server.exchange.rows import CRITERION
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

NEEDED = ("item", "rater", "value")


@dataclass(frozen=True, slots=True)
class Judged:
    """All that one rater said about one item."""

    key: str
    rater: str
    phase: str
    round: int
    given: dict[str, Any]
    row: dict[str, Any]
    where: str


def import_ratings(connection: Connection, stored: StoredStudy, path: Path) -> int:
    """Single ratings in the form of our export. Ratings that are there already are left alone."""
    items = _items(connection, stored)
    judged = _gather(stored, items, read_rows(path))
    return add_answers(connection, stored, judged)


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of JSON Lines, CSV or Parquet with where they stand."""
    try:
        if path.suffix == ".parquet":
            for number, row in enumerate(pq.read_table(path).to_pylist(), 1):
                yield f"{path}: row {number}", row
        elif path.suffix == ".csv":
            with path.open(encoding="utf-8-sig", newline="") as lines:
                for number, cells in enumerate(csv.DictReader(lines), 2):
                    yield f"{path}: line {number}", {key: _cell(cell) for key, cell in cells.items() if key}
        else:
            with path.open(encoding="utf-8-sig") as lines:
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        yield f"{path}: line {number}", _object(line, f"{path}: line {number}")
    except (OSError, UnicodeDecodeError, csv.Error, pa.ArrowException) as fault:
        raise UsageError(f"{path}: cannot be read ({' '.join(str(fault).split())})") from None


def _object(line: str, where: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError as fault:
        raise UsageError(f"{where}: not JSON ({fault})") from None
    if not isinstance(row, dict):
        raise UsageError(f'{where}: an object is needed, as in {{"item": …, "rater": …, "value": …}}')
    return row


def _cell(cell: str | None) -> str | None:
    """A cell without the mark that kept a spreadsheet from running it."""
    return cell[1:] if cell and len(cell) > 1 and cell[0] == "'" and cell[1] in "=+-@\t\r" else cell or None


def _items(connection: Connection, stored: StoredStudy) -> dict[str, tuple[str, int | None]]:
    """Every id that a rating may name: an item, or a story on an item's page with its place there."""
    found: dict[str, tuple[str, int | None]] = {}
    for key, origin in connection.execute(
        select(t.Item.key, t.Item.origin).where(t.Item.study_id == stored.id)
    ).all():
        if stories := origin.get("stories"):
            found |= {story["id"]: (key, place) for place, story in enumerate(stories)}
        else:
            found[key] = (key, None)
    return found


def _gather(
    stored: StoredStudy, items: dict[str, tuple[str, int | None]], rows: Iterable[tuple[str, dict[str, Any]]]
) -> list[Judged]:
    found: dict[tuple[str, str, int], Judged] = {}
    for where, row in rows:
        if missing := next((name for name in NEEDED if row.get(name) in (None, "")), None):
            raise UsageError(f"{where}: '{missing}' is missing")
        if str(row["item"]) not in items:
            raise UsageError(f"{where}: item '{row['item']}' is not in study '{stored.slug}'")
        key, story = items[str(row["item"])]
        phase, round_ = str(row.get("phase") or "playing"), int(row.get("round") or 0)
        judged = found.setdefault(
            (key, str(row["rater"]), round_), Judged(key, str(row["rater"]), phase, round_, {}, row, where)
        )
        _put(stored, judged.given, str(row.get("criterion") or "overall"), row["value"], story)
    return list(found.values())


def _put(stored: StoredStudy, given: dict[str, Any], criterion: str, value: Any, story: int | None) -> None:
    if story is not None:
        if criterion != "best":
            given[f"{story}.{criterion}"] = value
        elif int(value) == 1:
            given["best"] = story
    else:
        given["value" if stored.study.kind in CRITERION else criterion] = value


def add_answers(connection: Connection, stored: StoredStudy, judged: Iterable[Judged]) -> int:
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
    one: Judged,
    item: int,
    rater: int,
    value: int | None,
    answers: dict[str, Any],
    now: float,
) -> dict[str, Any]:
    def whole(name: str) -> int | None:
        return None if one.row.get(name) in (None, "") else int(one.row[name])

    return {
        "study_id": stored.id,
        "item_id": item,
        "rater_id": rater,
        "round": one.round,
        "phase": one.phase,
        "value": value,
        "answers": answers or None,
        "seconds": float(one.row.get("seconds") or 0.0),
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
        "phase": "playing",
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
        if row.phase == "playing":
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
