"""How good raters and their answers are, in every kind of study: what moderators watch."""

from collections import defaultdict
from collections.abc import Hashable
from typing import Any

from sqlalchemy import Connection, select

from sightline.people import known
from sightline.people.assignment import draw
from sightline.people.forms import Given, levels_of
from sightline.people.known import overlap
from sightline.people.quality import RaterQuality, as_most_others, common_words, near_the_others, quality
from sightline.people.study import SINGLE
from sightline.server.storage import schema as t
from sightline.server.storage.counting import COUNTED
from sightline.server.storage.studies import StoredStudy

CHECKS = ("gold", "attention")
WATCHED = ("play", *CHECKS)


def answers_of(connection: Connection, stored: StoredStudy) -> list[Any]:
    """Answers in play and to checks, in order; excluded ones are among them."""
    names = ("id", "item_id", "rater_id", "phase", "value", "answers", "seconds", "waited", "state")
    query = (
        select(
            *(getattr(t.Answer, name) for name in names),
            t.Item.content,
            t.Item.expert,
            t.Item.origin,
            t.Item.key,
            t.Rater.code,
        )
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .join(t.Rater, t.Rater.id == t.Answer.rater_id)
        .where(t.Answer.study_id == stored.id, t.Answer.phase.in_(WATCHED))
        .order_by(t.Answer.rater_id, t.Answer.at, t.Answer.id)
    )
    return list(connection.execute(query))


def rater_table(connection: Connection, stored: StoredStudy) -> list[dict[str, Any]]:
    """Every rater with the quality of their work."""
    rows = answers_of(connection, stored)
    nearness = agreement_of(stored, rows)
    by_rater: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        by_rater[row.rater_id].append(row)
    raters = connection.execute(
        select(*t.Rater.__table__.c)
        .where(t.Rater.study_id == stored.id, t.Rater.active.is_(True))
        .order_by(t.Rater.id)
    ).mappings()
    return [
        {
            **rater,
            "quality": _quality(stored, by_rater[rater["id"]], nearness),
            "excluded": sum(row.state == "excluded" for row in by_rater[rater["id"]]),
            "flagged": sum(row.state == "flagged" for row in by_rater[rater["id"]]),
        }
        for rater in raters
    ]


def _quality(stored: StoredStudy, rows: list[Any], nearness: dict[int, float]) -> RaterQuality:
    ordinary = [row for row in rows if row.phase == "play"]
    return quality(
        [_sign(stored, row) for row in ordinary],
        [level for row in ordinary for level in levels_of(row.value, row.answers).values()],
        len(stored.study.levels.levels),
        [nearness[row.id] for row in ordinary if row.id in nearness],
        [row.waited if row.waited is not None else row.seconds for row in rows],
        [score == known.RIGHT for row in rows if (score := check_score(stored, row)) is not None],
    )


def check_score(stored: StoredStudy, row: Any) -> int | None:
    """How near an answer to a check came to the known one; None for ordinary items."""
    answer = row.expert if stored.study.kind in SINGLE else row.origin.get("known")
    if row.phase not in CHECKS or answer is None:
        return None
    given = Given(row.value, row.answers or {})
    return known.score(stored.study, row.content, answer, given, row.phase == "attention")


def _sign(stored: StoredStudy, row: Any) -> Hashable:
    """What two answers given without looking have in common: for a preference, the side on the screen."""
    if row.value is not None:
        return int(row.value)
    answers = row.answers or {}
    better = answers.get("better")
    if isinstance(better, int):
        shown = sorted((0, 1), key=lambda place: draw("story", row.code, row.item_id, place))
        return shown.index(better)
    return tuple(
        (name, tuple(value) if isinstance(value, list) else value) for name, value in sorted(answers.items())
    )


def agreement_of(stored: StoredStudy, rows: list[Any]) -> dict[int, float]:
    """Answer to how far it says what the other people's answers about the same item say."""
    by_item: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        if row.phase == "play" and row.state in COUNTED:
            by_item[row.item_id].append(row)
    found = {}
    for given in by_item.values():
        for row in given:
            others = [other for other in given if other is not row]
            parts = [part for part in _nearness(stored.study.kind, row, others) if part is not None]
            if parts:
                found[row.id] = sum(parts) / len(parts)
    return found


def _nearness(kind: str, row: Any, others: list[Any]) -> list[float | None]:
    if kind == "description":
        return [
            common_words(text, [other.answers[axis] for other in others if axis in (other.answers or {})])
            for axis, text in (row.answers or {}).items()
        ]
    if kind == "error marking":
        return [overlap(row.answers["errors"], other.answers["errors"]) for other in others]
    if kind == "pairwise preference":
        return [as_most_others(row.answers["better"], [other.answers["better"] for other in others])]
    theirs = [levels_of(other.value, other.answers) for other in others]
    return [
        near_the_others(level, [levels[name] for levels in theirs if name in levels])
        for name, level in levels_of(row.value, row.answers).items()
    ]
