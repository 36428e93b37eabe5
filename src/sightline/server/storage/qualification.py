"""Whether a worker's answers in the qualification round agree enough with the gold annotators'."""

from functools import lru_cache
from typing import Any

from sqlalchemy import Connection, select

from sightline.people import qualification
from sightline.people.study import Qualification
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy


def admits(connection: Connection, stored: StoredStudy, rater_id: int, round_: int) -> bool:
    """The agreement ratio over every question of the round's items (HL, equation 1)."""
    rows = connection.execute(
        select(t.Item.origin, t.Answer.value, t.Answer.answers)
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .where(t.Answer.rater_id == rater_id, t.Answer.round == round_, t.Answer.phase == "qualification")
    ).all()
    gold: list[list[int]] = []
    own: list[int] = []
    for origin, value, answers in rows:
        given: dict[str, Any] = answers or {"value": value}
        for name, annotators in (origin.get("gold") or {}).items():
            if name in given:
                gold.append(list(annotators))
                own.append(int(given[name]))
    assert stored.study.qualification is not None
    return qualification.admits(gold, own, stored.study.qualification)


def outlook(connection: Connection, stored: StoredStudy) -> str | None:
    """Whom the study's qualification would admit, simulated on its own gold answers; None without any."""
    asked = stored.study.qualification
    if asked is None:
        return None
    rows = connection.execute(select(t.Item.origin).where(t.Item.study_id == stored.id)).scalars()
    items = [
        tuple(tuple(values) for values in origin["gold"].values()) for origin in rows if origin.get("gold")
    ]
    return _outlook(tuple(items), stored.study.levels.values, asked)


@lru_cache(maxsize=64)
def _outlook(
    items: tuple[tuple[tuple[int, ...], ...], ...], levels: tuple[int, ...], asked: Qualification
) -> str | None:
    gold = [values for item in items for values in item]
    questions = round(asked.items * len(gold) / max(len(items), 1))
    found = qualification.outlook(gold, levels, asked, questions)
    return None if found is None else f"With the {asked.gate} gate {found}."
