"""What a rater has done, and what raters have done: the dashboards' numbers."""

import time
from collections import Counter, defaultdict
from typing import Any

from sqlalchemy import Connection, RowMapping, func, select

from sightline.people.quality import RaterQuality, quality
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

CHECKS = ("gold", "attention")


def own(connection: Connection, rater_id: int) -> list[RowMapping]:
    """A rater's answers, newest first, with disputes."""
    query = (
        select(
            t.Answer.id,
            t.Answer.phase,
            t.Answer.value,
            t.Answer.answers,
            t.Answer.consensus,
            t.Answer.seeds,
            t.Answer.points,
            t.Answer.returned,
            t.Answer.at,
            t.Item.content,
            t.Item.counts,
            t.Dispute.state.label("dispute"),
            t.Dispute.reason,
            t.Dispute.reply,
        )
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .outerjoin(t.Dispute, t.Dispute.answer_id == t.Answer.id)
        .where(t.Answer.rater_id == rater_id)
        .order_by(t.Answer.at.desc(), t.Answer.id.desc())
        .limit(1000)
    )
    return list(connection.execute(query).mappings())


def daily(connection: Connection, rater_id: int) -> int:
    """On how many days this rater took part."""
    times = connection.execute(select(t.Answer.at).where(t.Answer.rater_id == rater_id)).scalars()
    return len({int(at // 86400) for at in times})


def progress(connection: Connection, study_id: int) -> dict[str, Any]:
    """How far a study is."""
    main = (t.Item.study_id == study_id) & (t.Item.role == "main")
    items, ratings, needed, done = connection.execute(
        select(
            func.count(),
            func.coalesce(func.sum(t.Item.people), 0),
            func.coalesce(func.sum(t.Item.wanted), 0),
            func.count().filter(t.Item.people >= t.Item.wanted),
        ).where(main)
    ).one()
    started = connection.execute(select(func.count()).where(main, t.Item.people > 0)).scalar_one()
    people = connection.execute(
        select(t.Rater.phase, func.count())
        .where(t.Rater.study_id == study_id, t.Rater.active.is_(True))
        .group_by(t.Rater.phase)
    ).all()
    broken = connection.execute(select(func.count()).where(main, t.Item.state == "broken")).scalar_one()
    return {
        "items": items,
        "ratings": int(ratings),
        "needed": int(needed),
        "done": done,
        "started": started - done,
        "untouched": items - started,
        "broken": broken,
        "phases": dict(people),
    }


def roles(connection: Connection, study_id: int) -> dict[str, int]:
    """How many items there are of each role."""
    query = select(t.Item.role, func.count()).where(t.Item.study_id == study_id).group_by(t.Item.role)
    return {row.role: row[1] for row in connection.execute(query)}


def per_day(connection: Connection, study_id: int, days: int = 14) -> list[tuple[str, float]]:
    """Ratings on each of the last days."""
    today = int(time.time() // 86400)
    since = (today - days + 1) * 86400
    times = connection.execute(
        select(t.Answer.at).where(
            t.Answer.study_id == study_id, t.Answer.phase == "playing", t.Answer.at >= since
        )
    ).scalars()
    counts = Counter(int(at // 86400) for at in times)
    return [
        (time.strftime("%d.", time.gmtime(day * 86400)), counts[day])
        for day in range(today - days + 1, today + 1)
    ]


def rater_table(connection: Connection, stored: StoredStudy) -> list[dict[str, Any]]:
    """Every rater with the quality of their work."""
    scale = stored.study.levels
    rows = connection.execute(
        select(
            t.Answer.rater_id, t.Answer.phase, t.Answer.value, t.Answer.seconds, t.Item.counts, t.Item.expert
        )
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .where(t.Answer.study_id == stored.id, t.Answer.phase.in_(("playing", *CHECKS)))
        .order_by(t.Answer.rater_id, t.Answer.at, t.Answer.id)
    ).all()
    by_rater: dict[int, list[Any]] = defaultdict(list)
    for row in rows:
        by_rater[row.rater_id].append(row)
    raters = connection.execute(
        select(*t.Rater.__table__.c)
        .where(t.Rater.study_id == stored.id, t.Rater.active.is_(True))
        .order_by(t.Rater.id)
    ).mappings()
    return [{**rater, "quality": _quality(scale, by_rater[rater["id"]])} for rater in raters]


def _quality(scale: Any, rows: list[Any]) -> RaterQuality:
    ordinary = [row for row in rows if row.phase == "playing" and row.value is not None]
    return quality(
        scale,
        [row.value for row in ordinary],
        [_mean_of_others(scale.low, row.counts, row.value) for row in ordinary],
        [row.seconds for row in rows],
        [(row.value, row.expert) for row in rows if row.phase in CHECKS and row.expert is not None],
    )


def _mean_of_others(low: int, counts: str, own_value: int) -> float | None:
    each = [int(count) for count in counts.split(",")]
    each[own_value - low] -= 1
    people = sum(each)
    return sum((low + at) * count for at, count in enumerate(each)) / people if people > 0 else None
