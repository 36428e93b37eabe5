"""Players dispute a loss; a moderator decides, and accepted ones get their points back."""

from sqlalchemy import Connection, RowMapping, insert, select, update

from sightline.errors import UsageError
from sightline.people.disputes import Verdict, check_dispute, returned
from sightline.server.storage import schema as t
from sightline.server.storage.writer import Conflict


def open_dispute(connection: Connection, rater_id: int, answer_id: int, reason: str, now: float) -> int:
    row = connection.execute(
        select(t.Answer.points, t.Answer.phase, t.Dispute.state)
        .outerjoin(t.Dispute, t.Dispute.answer_id == t.Answer.id)
        .where(t.Answer.id == answer_id, t.Answer.rater_id == rater_id)
    ).one_or_none()
    if row is None or row.phase in ("tutorial", "probation", "qualification"):
        raise UsageError("there is no such rating of yours in the game")
    reason = check_dispute(row.points, reason, row.state)
    values = {"answer_id": answer_id, "reason": reason, "state": "open", "reply": "", "opened": now}
    return int(connection.execute(insert(t.Dispute).values(values).returning(t.Dispute.id)).scalar_one())


def decide(
    connection: Connection, study_id: int, dispute_id: int, verdict: Verdict, reply: str, now: float
) -> None:
    """Settle an open dispute once; points come back exactly once."""
    row = connection.execute(
        select(t.Dispute.state, t.Answer.id, t.Answer.points, t.Answer.rater_id)
        .join(t.Answer, t.Answer.id == t.Dispute.answer_id)
        .where(t.Dispute.id == dispute_id, t.Answer.study_id == study_id)
    ).one_or_none()
    if row is None:
        raise UsageError("there is no such dispute")
    if row.state != "open":
        raise UsageError(f"this dispute was {row.state} already")
    settled = connection.execute(
        update(t.Dispute)
        .where(t.Dispute.id == dispute_id, t.Dispute.state == "open")
        .values(state=verdict, reply=reply.strip()[:1000], decided=now)
    )
    if not settled.rowcount:
        raise Conflict
    back = returned(row.points, verdict)
    if back:
        connection.execute(update(t.Answer).where(t.Answer.id == row.id).values(returned=back))
        raters = update(t.Rater).where(t.Rater.id == row.rater_id)
        connection.execute(raters.values(points=t.Rater.points + back))


def of_study(connection: Connection, study_id: int) -> list[RowMapping]:
    """Disputes with what a moderator needs to decide, open ones first."""
    query = (
        select(
            t.Dispute.id,
            t.Dispute.reason,
            t.Dispute.state,
            t.Dispute.reply,
            t.Dispute.opened,
            t.Answer.value,
            t.Answer.consensus,
            t.Answer.before,
            t.Answer.points,
            t.Item.key,
            t.Item.content,
            t.Item.counts,
            t.Rater.code,
            t.Rater.name,
        )
        .join(t.Answer, t.Answer.id == t.Dispute.answer_id)
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .join(t.Rater, t.Rater.id == t.Answer.rater_id)
        .where(t.Answer.study_id == study_id)
        .order_by(t.Dispute.state != "open", t.Dispute.opened.desc())
    )
    return list(connection.execute(query).mappings())
