"""What people said, as single judgements that can be compared: one per rater, thing judged and question."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sqlalchemy import Connection, select

from sightline.people.forms import TIE, levels_of, words_of
from sightline.server.storage import schema as t
from sightline.server.storage.studies import StoredStudy

Measure = Literal["ordinal", "nominal"]
NOMINAL = ("best", "better", "errors")


@dataclass(frozen=True, slots=True)
class Judgement:
    """One value on one question about one thing: an item, a story on its page, a word of its text."""

    item: int
    unit: str
    question: str
    rater: int
    value: int

    @property
    def measure(self) -> Measure:
        return "nominal" if self.question in NOMINAL else "ordinal"


def judgements(connection: Connection, stored: StoredStudy) -> list[Judgement]:
    """What was said of ordinary items in play, without what staff excluded; free text is not among it."""
    columns = (
        t.Answer.item_id,
        t.Answer.rater_id,
        t.Answer.value,
        t.Answer.answers,
        t.Item.key,
        t.Item.content,
    )
    query = (
        select(*columns)
        .join(t.Item, t.Item.id == t.Answer.item_id)
        .where(t.Answer.study_id == stored.id, t.Answer.phase == "play", t.Answer.state != "excluded")
        .order_by(t.Answer.at, t.Answer.id)
    )
    return [one for row in connection.execute(query) for one in _of(stored.study.kind, row)]


def _of(kind: str, row: Any) -> Iterator[Judgement]:
    answers = row.answers or {}
    for name, level in levels_of(row.value, answers).items():
        story, _, criterion = name.rpartition(".")
        unit = f"{row.key} · {int(story) + 1}" if story else row.key
        yield Judgement(row.item_id, unit, criterion, row.rater_id, level)
    if "best" in answers:
        yield Judgement(row.item_id, row.key, "best", row.rater_id, int(answers["best"]))
    if kind == "pairwise preference" and "better" in answers:
        better = answers["better"]
        yield Judgement(row.item_id, row.key, "better", row.rater_id, 2 if better == TIE else int(better))
    if kind == "error marking" and "errors" in answers:
        marked = set(answers["errors"])
        for place, word in enumerate(words_of(row.content)):
            unit = f"{row.key} · {place} {word}"
            yield Judgement(row.item_id, unit, "errors", row.rater_id, int(place in marked))


def by_question(given: list[Judgement]) -> dict[str, list[Judgement]]:
    found: dict[str, list[Judgement]] = defaultdict(list)
    for one in given:
        found[one.question].append(one)
    return dict(found)


def table(given: list[Judgement]) -> tuple[NDArray[np.float64], list[int], list[str]]:
    """Rater x unit with NaN where nobody said anything, and the names of both."""
    raters = list(dict.fromkeys(one.rater for one in given))
    units = list(dict.fromkeys(one.unit for one in given))
    row, column = ({name: at for at, name in enumerate(names)} for names in (raters, units))
    values = np.full((len(raters), len(units)), np.nan)
    for one in given:
        values[row[one.rater], column[one.unit]] = one.value
    return values, raters, units


def hardest(connection: Connection, stored: StoredStudy, limit: int = 12) -> list[dict[str, Any]]:
    """Where people agree least: things with two or more levels of one question, widest spread first."""
    scale = stored.study.levels
    given: dict[tuple[int, str, str], list[int]] = defaultdict(list)
    for one in judgements(connection, stored):
        if one.measure == "ordinal":
            given[one.item, one.unit, one.question].append(one.value)
    spread = [
        {
            "item": item,
            "unit": unit,
            "question": "" if question == "value" else question,
            "counts": [values.count(level) for level in scale.values],
            "mean": float(np.mean(values)),
            "variance": float(np.var(values)),
        }
        for (item, unit, question), values in given.items()
        if len(values) > 1
    ]
    found = sorted(spread, key=lambda row: -float(str(row["variance"])))[:limit]
    contents = select(t.Item.id, t.Item.content).where(t.Item.id.in_([row["item"] for row in found]))
    content = {row.id: row.content for row in connection.execute(contents)}
    return [{**row, "content": content[row["item"]]} for row in found]


def level_counts(connection: Connection, stored: StoredStudy) -> list[tuple[str, float]]:
    """How often each level was given to ordinary items, whatever the question."""
    given = [one.value for one in judgements(connection, stored) if one.measure == "ordinal"]
    return [(str(level), given.count(level)) for level in stored.study.levels.values] if given else []
