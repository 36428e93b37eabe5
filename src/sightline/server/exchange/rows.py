"""Answers as plain rows: one per rater, item and criterion."""

import time
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, RowMapping, select

from sightline.io.ratings import BEST
from sightline.items import Key
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

CRITERION = {"rating game": "overall", "grounding survey": "grounding"}
PLAY = "playing"
"""What the database calls the phase that leaves the server as `play`; the others have the same name here and there."""
CONFIDENCE = "confidence"
"""The criterion of a caption whose likelihood was judged, where captions have ids of their own (HL)."""


@dataclass(frozen=True, slots=True)
class Row:
    """One judgement, as it leaves the server and as `sightline psych` reads it."""

    item: str
    rater: str
    criterion: str
    value: Any
    phase: str
    expert: int | None
    """The known answer, where the item has one."""
    system: str | None
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
        select(t.Answer, t.Item.key, t.Item.origin, t.Item.expert, t.Rater.code, t.Rater.name)
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .join(t.Rater, t.Rater.id == t.Answer.rater_id)
        .where(t.Answer.study_id == stored.id)
        .order_by(t.Answer.at, t.Answer.id)
    )
    found = []
    for row in connection.execute(query).mappings():
        for item, system, criterion, value in _judgements(stored, row):
            found.append(
                Row(
                    item,
                    row["code"],
                    criterion,
                    value,
                    "play" if row["phase"] == PLAY else row["phase"],
                    row["expert"],
                    system,
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


def _judgements(stored: StoredStudy, row: RowMapping) -> list[tuple[str, str | None, str, Any]]:
    """An answer as (item, system, criterion, value); a page of several stories or captions becomes a row for each."""
    origin, system = row["origin"], row["origin"].get("system")
    if row["value"] is not None:
        return [(row["key"], system, CRITERION.get(stored.study.kind, "overall"), row["value"])]
    answers = row["answers"] or {}
    stories, captions = origin.get("stories"), origin.get("captions", {})
    if stories is None:
        return [
            (captions[name], system, CONFIDENCE, value)
            if name in captions
            else (row["key"], system, name, value)
            for name, value in answers.items()
        ]
    found: list[tuple[str, str | None, str, Any]] = []
    for name, value in answers.items():
        number, _, criterion = name.partition(".")
        if criterion:
            story = stories[int(number)]
            found.append((story["id"], story["system"], criterion, value))
        else:  # the vote for the best story: 1 for it, 0 for the others
            found += [
                (story["id"], story["system"], BEST, int(place == value))
                for place, story in enumerate(stories)
            ]
    return found


def by_item(rows: list[Row]) -> dict[Key, dict[str, list[Any]]]:
    """Item (id and system) to criterion to the values of ordinary play."""
    found: dict[Key, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.phase == "play":
            found[row.item, row.system][row.criterion].append(row.value)
    return found
