"""Changing a study that people may be working in."""

import msgspec
from sqlalchemy import Connection, func, select, update

from sightline.errors import UsageError
from sightline.people.assignment import wanted
from sightline.people.consensus import Tally
from sightline.people.study import Study
from sightline.server.storage import schema as t
from sightline.server.storage import studies
from sightline.server.storage.counting import counts_of
from sightline.server.storage.studies import StoredStudy


def _answered_to(study: Study) -> dict[str, object]:
    """What every answer was given to."""
    return {
        "the scale": (study.levels.question, study.levels.levels),
        "the questions": study.questions,
        "the qualification": study.qualification,
    }


def titled(study: Study, title: str) -> Study:
    return msgspec.structs.replace(study, title=title)


def plain(study: Study) -> Study:
    """The study as its own items are read: from one file, not put together from several."""
    return msgspec.structs.replace(study, assemble=None)


def change(connection: Connection, stored: StoredStudy, after: Study, public: bool) -> None:
    """New settings. Once there are answers, what they were answers to stays as it is."""
    before = stored.study
    was, becomes = _answered_to(before), _answered_to(after)
    if changed := [name for name in was if was[name] != becomes[name]]:
        if studies.answered(connection, stored.id):
            told = " and ".join(changed)
            raise UsageError(f"there are answers already: {told} cannot change; copy the study instead")
        _rescale(connection, stored, after)
    studies.set_study(connection, stored.id, after, public)
    if (before.ratings_per_item, before.hard) != (after.ratings_per_item, after.hard):
        _recount(connection, stored, after)


def _rescale(connection: Connection, stored: StoredStudy, after: Study) -> None:
    """Another scale for items that nobody has answered: what is known of them must lie on it."""
    query = select(t.Item.key, t.Item.expert, t.Item.seed).where(t.Item.study_id == stored.id)
    for row in connection.execute(query):
        for level in (row.expert, row.seed):
            if level is not None:
                try:
                    after.levels.check(level)
                except UsageError as fault:
                    raise UsageError(f"item '{row.key}': {fault}") from None
    nobody = ",".join("0" * len(after.levels.levels))
    connection.execute(update(t.Item).where(t.Item.study_id == stored.id).values(counts=nobody))


def _recount(connection: Connection, stored: StoredStudy, after: Study) -> None:
    """How many ratings each item wants by the new rule; whoever has one before them keeps their place."""
    held = select(t.Lease.item_id, func.count()).group_by(t.Lease.item_id)
    places = {row[0]: row[1] for row in connection.execute(held)}
    query = select(t.Item.id, t.Item.counts, t.Item.people).where(
        t.Item.study_id == stored.id, t.Item.role == "main"
    )
    for row in connection.execute(query).all():
        tally = Tally(after.levels, counts_of(row.counts, after.levels))
        rule = wanted(after.ratings_per_item, after.hard, tally) if tally.people else after.ratings_at_first
        wants = max(rule, row.people)
        free = max(wants - row.people - places.get(row.id, 0), 0)
        connection.execute(update(t.Item).where(t.Item.id == row.id).values(wanted=wants, free=free))
