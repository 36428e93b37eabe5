"""Whether a worker's answers in the qualification round agree enough with the gold annotators'."""

from typing import Any

from sqlalchemy import Connection, select

from sightline.people import qualification
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
    settings = stored.study.qualification
    assert settings is not None
    return qualification.admits(gold, own, settings.threshold)
