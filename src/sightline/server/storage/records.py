"""What a rater has done, and what raters have done: the dashboards' numbers."""

import time
from collections import Counter
from typing import Any

from sqlalchemy import Connection, RowMapping, func, select

from sightline.server.storage import schema as t


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
            t.Answer.study_id == study_id, t.Answer.phase == "play", t.Answer.at >= since
        )
    ).scalars()
    counts = Counter(int(at // 86400) for at in times)
    return [
        (time.strftime("%d.", time.gmtime(day * 86400)), counts[day])
        for day in range(today - days + 1, today + 1)
    ]
