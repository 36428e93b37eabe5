"""Single ratings: who judged which item on which criterion, when in a study, and what the known answer is.

One row a rating: `item, rater, value`, and where they apply `criterion`, `system`, `phase` and `expert`, in CSV, JSON
Lines or Parquet. It is what `sightline ratings export` writes; other names of the columns are understood too.
"""

import json
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from sightline.errors import BadLine, UsageError
from sightline.io.table import Cells, Row, TableFile, read_rows
from sightline.items import PHASES, Item, Key, Phase, Rating

RATERS: Final = (
    *("rater", "person", "worker", "annotator", "participant"),
    *("player", "respondent", "subject", "judge", "user"),
)
ITEMS: Final = ("item", "item_id", "pair", "unit")
VALUES: Final = ("rating", "value", "score", "response", "level")
"""What the columns may be called, the first that is there."""
MISSING: Final = frozenset(("", "NA", "N/A", "NaN", "nan", "na", "null", "None", "none", ".", "-"))
"""Cells of a text file that hold nothing."""
CRITERION: Final = "overall"
"""The criterion of ratings that name none."""
VOTES: Final = ("best", "better")
"""Criteria that are votes: 1 for the text that is chosen, 0 for the others."""
EXCLUDED: Final = "excluded"
"""In a column `state`: what a study's staff took out."""
PLAY: Final = ("play", "playing")
LAST: Final = "of several answers of one person to an item, the last in the file counts"
"""The rule for repeated answers; an export holds them in the order in which they were given."""


@dataclass(frozen=True)
class Columns:
    """Which columns hold what."""

    item: str
    rater: str
    value: str

    @classmethod
    def among(cls, names: Sequence[str], rater: str | None = None) -> "Columns | None":
        """Those of a file of single ratings; None where the columns are not such."""
        found = [one_of(names, known) for known in (ITEMS, RATERS, VALUES)]
        item, who, value = found[0], rater or found[1], found[2]
        return cls(item, who, value) if item and who and value else None


class Answer(NamedTuple):
    """A row of a rating file as it stands. The value is whatever was answered, None where nothing was."""

    where: str
    item: str
    rater: str
    value: Any
    criterion: str
    system: str | None
    phase: Phase
    expert: float | None
    extra: dict[str, Any]
    """All other columns, and what stands in an object `extra`."""

    @property
    def key(self) -> Key:
        return self.item, self.system


def read_answers(path: Path, rater: str | None = None) -> Iterator[Answer]:
    """Every row of a file of single ratings; `rater` names the column of the people where it has a name of its own.

    Raises:
        UsageError: no such file, or not one of single ratings.
        BadLine: a row without item or rater.
    """
    rows = table_rows(path)
    first = next(rows, None)
    if first is None:
        raise UsageError(f"{path}: the file holds no ratings")
    columns = Columns.among([*first.cells], rater)
    if columns is None:
        if "ratings" in first.cells and "id" in first.cells:
            told = "these are items with their ratings, which do not say who rated"
        else:
            told = f"columns: {', '.join(map(str, first.cells))}"
        raise UsageError(f"{path}: single ratings have the columns item, rater and value; {told}")
    yield answer(first, columns)
    for row in rows:
        yield answer(row, columns)


def table_rows(path: Path) -> Iterator[Row]:
    """The rows of a table, an object `extra` spread over columns; what is missing is None. All cells must be there."""
    source = TableFile(path)
    text = source.kind not in ("jsonl", "json", "parquet")
    names = source.names if text else ()
    if text and names and all(math.isfinite(number(name)) for name in names):
        raise UsageError(f"{path}: the first line must name the columns; it holds only numbers")
    for where, cells in read_rows(path):
        if text and len(cells) < len(names):
            raise BadLine(where, f"{len(cells)} cells where the first line has {len(names)}")
        yield Row(where, {name: _missing(cell) for name, cell in cells.items()} if text else _spread(cells))


def answer(row: Row, columns: Columns) -> Answer:
    """One row as an answer."""
    cells = row.cells
    about = {name: cells.get(name) for name in (columns.item, columns.rater)}
    for name, cell in about.items():
        if cell is None or not str(cell).strip():
            raise BadLine(row.where, f"column '{name}' is empty")
    phase = cells.get("phase")
    expert = cells.get("expert")
    truth = number(expert) if expert is not None else math.nan
    used = {columns.item, columns.rater, columns.value, "criterion", "system"}
    return Answer(
        row.where,
        as_id(about[columns.item]),
        as_id(about[columns.rater]),
        cells.get(columns.value),
        CRITERION if cells.get("criterion") is None else as_id(cells["criterion"]),
        None if cells.get("system") is None else as_id(cells["system"]),
        next((known for known in PHASES if known == phase), "play"),
        truth if math.isfinite(truth) else None,
        {name: cell for name, cell in cells.items() if name not in used},
    )


def read_ratings(path: Path, rater: str | None = None) -> Iterator[Rating]:
    """Every rating of a file, in its order. The value is NaN where a row holds none.

    Raises:
        UsageError: no such file, or not one of single ratings.
        BadLine: a value that is no number, a row without item or rater.
    """
    for one in read_answers(path, rater):
        yield rating_of(one)


def rating_of(one: Answer) -> Rating:
    """An answer as a rating; BadLine where its value is no number."""
    value = (
        math.nan if one.value is None or str(one.value).strip() in MISSING else number(one.value, math.inf)
    )
    if math.isinf(value):
        raise BadLine(one.where, f"'{str(one.value).strip()[:40]}' is not a number")
    return Rating(
        item=one.item,
        rater=one.rater,
        value=value,
        criterion=one.criterion,
        system=one.system,
        phase=one.phase,
        expert=one.expert,
        extra=one.extra,
        source=one.where,
    )


@dataclass(frozen=True)
class Sorted:
    """Ratings that count, and those that do not, with how many there were of each kind."""

    kept: tuple[Rating, ...]
    known: tuple[Rating, ...]
    """Answers whose truth the rater was not told beforehand and the study knows: what competency is measured by."""
    left_out: dict[str, int]
    """Why ratings do not count, and how many do not for that reason."""


def sort_out(ratings: Iterable[Rating]) -> Sorted:
    """What was played, each person's last answer to an item on a criterion; the known answers apart."""
    played: dict[tuple[str, Key, str], Rating] = {}
    known: dict[tuple[str, Key, str], Rating] = {}
    left_out: dict[str, int] = {}
    for one in ratings:
        place = (one.rater, one.key, one.criterion)
        if one.extra.get("state") == EXCLUDED:
            left_out[EXCLUDED] = left_out.get(EXCLUDED, 0) + 1
            continue
        if one.phase in ("probation", "gold", "attention") and one.expert is not None:
            known[place] = one
        if one.phase == "play":
            if place in played:
                left_out["repeated"] = left_out.get("repeated", 0) + 1
            played[place] = one
        else:
            left_out[one.phase] = left_out.get(one.phase, 0) + 1
    return Sorted(tuple(played.values()), tuple(known.values()), left_out)


REASONS: Final = {
    "tutorial": "given in the tutorial, where the answer is told",
    "probation": "given in the probation, before the game opened",
    "qualification": "given to qualify, on items of the gold annotators",
    "gold": "given on items whose answer is known",
    "attention": "given on attention checks",
    EXCLUDED: "excluded by the study's staff",
    "repeated": f"repeated: {LAST}",
}


def told(left_out: dict[str, int]) -> list[str]:
    """What does not count and why, a line for each reason."""
    return [f"{count:,} left out: {REASONS[name]}" for name, count in left_out.items()]


def with_ratings(items: Iterable[Item], ratings: Iterable[Rating], path: Path) -> list[Item]:
    """The items with what people said of them; ratings of a file take the place of those that the items have.

    Raises:
        UsageError: a rating of an item that is not among them.
    """
    found = list(items)
    keys = {item.key for item in found}
    ids = {item.id: item.key for item in found}
    several = len(ids) < len(found)
    values: dict[Key, dict[str, list[float]]] = {}
    for one in sort_out(ratings).kept:
        key = one.key if one.key in keys else None if several or one.system else ids.get(one.item)
        if key is None:
            raise UsageError(f"{one.source}: item '{one.item}' is not among the items")
        if not math.isnan(one.value):
            values.setdefault(key, {}).setdefault(one.criterion, []).append(one.value)
    if not values:
        raise UsageError(f"{path}: no rating of it counts; it must hold answers of ordinary play")
    return [_rated(item, values.get(item.key, {})) for item in found]


def _rated(item: Item, values: dict[str, list[float]]) -> Item:
    """The item with these ratings; being chosen as the best is a vote, no rating."""
    ratings = {name: tuple(given) for name, given in values.items() if name not in VOTES}
    votes = [vote for name in VOTES for vote in values.get(name, ())]
    return replace(item, ratings=ratings, extra={**item.extra, "votes": sum(votes)} if votes else item.extra)


def number(cell: Any, otherwise: float = math.nan) -> float:
    """A cell's number; something else where it holds none."""
    if isinstance(cell, bool):
        return otherwise
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return otherwise


def as_id(cell: Any) -> str:
    """An id as text, whatever it looks like: 7 and 7.0 of a spreadsheet are both '7'."""
    return str(int(cell)) if isinstance(cell, float) and cell.is_integer() else str(cell)


def one_of(names: Sequence[str], known: Sequence[str]) -> str | None:
    """The first of the known names that a column has, whatever its case."""
    by_lower = {name.strip().lower(): name for name in reversed(names)}
    return next((by_lower[name] for name in known if name in by_lower), None)


def _missing(cell: Any) -> Any:
    return None if cell in MISSING else cell


def _spread(cells: Cells) -> Cells:
    more = cells.get("extra")
    flat = {**more, **{k: v for k, v in cells.items() if k != "extra"}} if isinstance(more, dict) else cells
    return {
        name: cell if cell is None or isinstance(cell, str | int | float) else json.dumps(cell, default=str)
        for name, cell in flat.items()
    }
