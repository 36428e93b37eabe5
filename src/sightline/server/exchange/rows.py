"""Answers as plain rows: one per rater, item and criterion."""

import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, select

from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

CRITERION = {"rating game": "overall", "grounding survey": "grounding"}


@dataclass(frozen=True, slots=True)
class Row:
    """One judgement, as it leaves the server."""

    item: str
    rater: str
    criterion: str
    value: Any
    phase: str
    round: int
    seconds: float
    day: str
    consensus: int | None
    points: int | None
    returned: int
    name: str | None = None


def item_rows(connection: Connection, study_id: int) -> list[RowMapping]:
    query = select(*t.Item.__table__.c).where(t.Item.study_id == study_id).order_by(t.Item.position)
    return list(connection.execute(query).mappings())


def rating_rows(connection: Connection, stored: StoredStudy, names: bool = False) -> list[Row]:
    """Every answer of a study in the order it was given; codes stand for people."""
    query = (
        select(t.Answer, t.Item.key, t.Item.origin, t.Rater.code, t.Rater.name)
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .join(t.Rater, t.Rater.id == t.Answer.rater_id)
        .where(t.Answer.study_id == stored.id, t.Answer.state != "excluded")
        .order_by(t.Answer.at, t.Answer.id)
    )
    found = []
    for row in connection.execute(query).mappings():
        for item, criterion, value in _judgements(stored, row):
            found.append(
                Row(
                    item,
                    row["code"],
                    criterion,
                    value,
                    row["phase"],
                    row["round"],
                    round(row["seconds"], 2),
                    time.strftime("%Y-%m-%d", time.gmtime(row["at"])),
                    row["consensus"],
                    row["points"],
                    row["returned"],
                    row["name"] if names else None,
                )
            )
    return found


def _judgements(stored: StoredStudy, row: RowMapping) -> list[tuple[str, str, Any]]:
    """An answer as (item, criterion, value); a page of several stories becomes one row per story."""
    if row["value"] is not None:
        return [(row["key"], CRITERION.get(stored.study.kind, "overall"), row["value"])]
    answers = row["answers"] or {}
    stories = row["origin"].get("stories")
    if stories is None:
        return [(row["key"], criterion, value) for criterion, value in answers.items()]
    found: list[tuple[str, str, Any]] = []
    for name, value in answers.items():
        number, _, criterion = name.partition(".")
        if criterion:
            found.append((stories[int(number)]["id"], criterion, value))
        else:  # the vote for the best story: 1 for it, 0 for the others
            found += [(story["id"], "best", int(place == value)) for place, story in enumerate(stories)]
    return found


def by_item(rows: list[Row]) -> dict[str, dict[str, list[Any]]]:
    """Item to criterion to the values of ordinary play."""
    found: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.phase == "playing":
            found[row.item][row.criterion].append(row.value)
    return found
