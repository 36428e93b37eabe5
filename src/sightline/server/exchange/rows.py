"""Answers as plain rows: one per rater, item and criterion."""

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, RowMapping, select

from sightline.io.ratings import EXCLUDED
from sightline.items import Key
from sightline.people.forms import TIE
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

CRITERION = {"rating game": "overall", "grounding survey": "grounding"}
CONFIDENCE = "confidence"
"""The criterion of a caption whose likelihood was judged, where captions have ids of their own (HL)."""


@dataclass(frozen=True, slots=True)
class RatingRow:
    """One judgement, as it leaves the server and as `sightline psych` reads it."""

    item: str
    rater: str
    criterion: str
    value: Any
    phase: str
    expert: Any
    """The known answer, where the item has one."""
    system: str | None
    state: str
    """kept, accepted, flagged or excluded by the study's staff."""
    round: int
    seconds: float
    day: str
    consensus: int | None
    points: int | None
    returned: int
    name: str | None = None
    participant: Mapping[str, str] | None = None
    """Who the rater is on a crowd platform, by its parameters."""


def item_rows(connection: Connection, study_id: int) -> list[RowMapping]:
    query = select(*t.Item.__table__.c).where(t.Item.study_id == study_id).order_by(t.Item.position)
    return list(connection.execute(query).mappings())


def rating_rows(connection: Connection, stored: StoredStudy, names: bool = False) -> list[RatingRow]:
    """Every answer of a study in the order it was given; codes stand for people."""
    query = (
        select(
            t.Answer,
            t.Item.key,
            t.Item.origin,
            t.Item.expert,
            t.Rater.code,
            t.Rater.name,
            t.Rater.participant,
        )
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .join(t.Rater, t.Rater.id == t.Answer.rater_id)
        .where(t.Answer.study_id == stored.id, t.Answer.state != "excluded")
        .order_by(t.Answer.at, t.Answer.id)
    )
    found = []
    for row in connection.execute(query).mappings():
        known = {(one.item, one.system, one.criterion): one.value for one in _known(stored, row)}
        for one in _judgements(stored, row["key"], row["origin"], row["value"], row["answers"]):
            found.append(
                RatingRow(
                    one.item,
                    row["code"],
                    one.criterion,
                    one.value,
                    row["phase"],
                    known.get((one.item, one.system, one.criterion)),
                    one.system,
                    row["state"],
                    row["round"],
                    round(row["seconds"], 2),
                    time.strftime("%Y-%m-%d", time.gmtime(row["at"])),
                    row["consensus"],
                    row["points"],
                    row["returned"],
                    row["name"] if names else None,
                    row["participant"] if names else None,
                )
            )
    return found


class Said(NamedTuple):
    """What was said of one thing on one criterion."""

    item: str
    system: str | None
    criterion: str
    value: Any


def _known(stored: StoredStudy, row: RowMapping) -> list[Said]:
    """The known answers to what is asked of an item."""
    return _judgements(stored, row["key"], row["origin"], row["expert"], row["origin"].get("known"))


def _judgements(
    stored: StoredStudy,
    key: str,
    origin: Mapping[str, Any],
    value: int | None,
    answers: Mapping[str, Any] | None,
) -> list[Said]:
    """An answer as judgements; a page of several texts becomes one for each text and criterion."""
    system = origin.get("system")
    if value is not None:
        return [Said(key, system, CRITERION.get(stored.study.kind, "overall"), value)]
    texts, captions = texts_of(origin), origin.get("captions", {})
    found: list[Said] = []
    for name, given in (answers or {}).items():
        number, _, criterion = name.partition(".")
        if name in captions:
            found.append(Said(captions[name], system, CONFIDENCE, given))
        elif not texts:
            found.append(Said(key, system, name, given))
        elif criterion:
            text = texts[int(number)]
            found.append(Said(text["id"], text["system"], criterion, given))
        else:  # a choice among the texts: 1 for it, 0 for the others, one half each where none is better
            shares = [0.5 if given == TIE else int(place == given) for place in range(len(texts))]
            found += [
                Said(text["id"], text["system"], name, share)
                for text, share in zip(texts, shares, strict=True)
            ]
    return found


def texts_of(origin: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The texts that an item's page shows together, by id and system; none where it shows one."""
    return list(origin.get("stories") or origin.get("pair") or ())


def by_item(rows: list[RatingRow]) -> dict[Key, dict[str, list[Any]]]:
    """Item (id and system) to criterion to the values of ordinary play."""
    found: dict[Key, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row.phase == "play" and row.state != EXCLUDED:
            found[row.item, row.system][row.criterion].append(row.value)
    return found
