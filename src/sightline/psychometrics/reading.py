"""Rating files: long (rater, item, rating) as exports are, or wide (a row a person, a column an item)."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sightline.errors import BadLine, UsageError
from sightline.io.ratings import (
    CRITERION,
    ITEMS,
    MISSING,
    PLAY,
    RATERS,
    VALUES,
    Columns,
    answer,
    as_id,
    number,
    one_of,
    rating_of,
    sort_out,
    table_rows,
)
from sightline.io.table import Row
from sightline.items import PHASES, Key, Rating
from sightline.psychometrics.model.responses import Floats, Ints

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True)
class RatingTable:
    """Everything a rating file says: people's values for items, and numbers about the people."""

    persons: list[str]
    items: list[str]
    values: Floats
    """person x item, NaN where there is no rating"""
    covariates: Floats
    covariate_names: tuple[str, ...]
    criterion: str | None = None
    known: tuple[Rating, ...] = ()
    """Answers to items whose truth is known, given outside ordinary play."""
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Ratings that are not among the values: for each reason, how many."""
    notes: tuple[str, ...] = ()

    def without(self, person: str) -> "RatingTable":
        """The ratings of all other people."""
        keep = [n for n, name in enumerate(self.persons) if name != person]
        names = [self.persons[n] for n in keep]
        known = tuple(one for one in self.known if one.rater != person)
        return replace(
            self, persons=names, values=self.values[keep], covariates=self.covariates[keep], known=known
        )


@dataclass(frozen=True)
class _Table:
    """A file's rows, and the names of all their columns."""

    path: Path
    rows: list[Row]
    names: list[str]

    @classmethod
    def read(cls, path: Path) -> "_Table":
        rows = list(table_rows(path))
        if not rows:
            raise UsageError(f"{path}: the file holds no ratings")
        return cls(path, rows, list(dict.fromkeys(name for row in rows for name in row.cells)))

    def of(self, rows: list[Row]) -> "_Table":
        return replace(self, rows=rows)

    def column(self, name: str) -> list[Any]:
        if name not in self.names:
            raise UsageError(f"{self.path}: there is no column '{name}'; columns: {_listed(self.names)}")
        return [row.cells.get(name) for row in self.rows]

    def numbers(self, name: str) -> Floats:
        """A column as numbers, NaN where empty; the first cell that is none is named."""
        found = np.full(len(self.rows), np.nan)
        for n, cell in enumerate(self.column(name)):
            text = "" if cell is None else str(cell).strip()
            if text in MISSING:
                continue
            found[n] = number(cell, np.inf)
            if not np.isfinite(found[n]):
                where = self.rows[n].where
                raise BadLine(where, f"column '{name}': '{text[:40]}' is not a number")
        return found

    def texts(self, name: str) -> list[str]:
        cells = self.column(name)
        empty = next((n for n, cell in enumerate(cells) if cell is None), None)
        if empty is not None:
            raise BadLine(self.rows[empty].where, f"column '{name}' is empty")
        return [as_id(cell) for cell in cells]

    def names_things(self, name: str) -> bool:
        """Whether not one cell of the column is a number, but some say something: it names things."""
        cells = [cell for cell in self.column(name) if cell is not None]
        return bool(cells) and all(np.isnan(number(cell)) for cell in cells)

    def persons(self, name: str) -> list[str]:
        """People's names, each of which may stand in one row."""
        known = self.texts(name)
        seen: dict[str, int] = {}
        for n, person in enumerate(known):
            if person in seen:
                where = f"{self.rows[seen[person]].where} and {self.rows[n].where}"
                raise UsageError(f"{where}: '{person}' is twice in column '{name}'; give each person one row")
            seen[person] = n
        return known


def read_ratings(
    path: Path,
    *,
    person: str | None = None,
    covariates: Sequence[str] = (),
    criterion: str | None = None,
    persons_file: Path | None = None,
) -> RatingTable:
    """Read a rating file of any kind. Covariates are columns of it, or of a table with one row a person.

    Of a long file, what was given in ordinary play counts, and a person's last answer to an item.
    """
    table = _Table.read(path)
    own = [name for name in covariates if name in table.names]
    if person is not None:
        table.column(person)  # a clear error where there is no such column
    if columns := Columns.among(table.names, person):
        found = _long(table, columns, own, criterion)
    elif {"id", "ratings"} <= set(table.names):
        raise UsageError(
            f"{path}: these are items with their ratings, which do not say who rated; give single ratings, as "
            "'sightline ratings export' writes them"
        )
    elif criterion is not None:
        raise UsageError(f"{path}: --criterion is for long files with a column 'criterion'")
    else:
        found = _wide(table, person, own)
    rest = [name for name in covariates if name not in own]
    if not rest:
        return found
    if persons_file is None:
        table.column(rest[0])
    assert persons_file is not None
    return _joined(found, persons_file, rest)


def _wide(table: _Table, person: str | None, covariates: list[str]) -> RatingTable:
    if not table.names:
        raise UsageError(f"{table.path}: the rows hold nothing")
    first = table.names[0]
    if person is None and (first.strip().lower() in (*RATERS, "id", "") or table.names_things(first)):
        person = first
    items = [name for name in table.names if name != person and name not in covariates]
    if not items:
        raise UsageError(f"{table.path}: there are no item columns")
    values = np.column_stack([table.numbers(name) for name in items])
    count = len(table.rows)
    persons = [str(n + 1) for n in range(count)] if person is None else table.persons(person)
    return RatingTable(persons, items, values, *_covariates(table, covariates, np.arange(count), persons))


def _long(table: _Table, columns: Columns, covariates: list[str], criterion: str | None) -> RatingTable:
    answers = {row.where: answer(row, columns) for row in table.rows}
    if criterion is not None and "criterion" not in table.names:
        raise UsageError(f"{table.path}: there is no column 'criterion'")
    known = list(dict.fromkeys(one.criterion for one in answers.values()))
    if criterion is None and len(known) > 1:
        told = _listed(known)
        raise UsageError(f"{table.path}: it holds the criteria {told}; choose one with --criterion")
    criterion = criterion or (known[0] if "criterion" in table.names else None)
    if criterion not in (*known, None):
        raise UsageError(f"{table.path}: no rating is for '{criterion}'; criteria: {_listed(known)}")
    wanted = CRITERION if criterion is None else criterion
    chosen = sort_out(_rated((one for one in answers.values() if one.criterion == wanted), columns.value))
    if not chosen.kept:
        left = ", ".join(f"{count:,} {name}" for name, count in chosen.left_out.items())
        raise UsageError(f"{table.path}: no rating was given in ordinary play ({left})")
    raters, who = _encoded([one.rater for one in chosen.kept])
    keys, what = _encoded([one.key for one in chosen.kept])
    values = np.full((len(raters), len(keys)), np.nan)
    values[who, what] = [one.value for one in chosen.kept]
    places = {row.where: row for row in table.rows}
    kept = table.of([places[one.source] for one in chosen.kept])
    found = _covariates(kept, covariates, who, raters)
    notes = _odd_phases(chosen.kept)
    return RatingTable(raters, _named(keys), values, *found, criterion, chosen.known, chosen.left_out, notes)


def _rated(answers: Iterable[Any], column: str) -> Iterable[Rating]:
    for one in answers:
        try:
            yield rating_of(one)
        except BadLine as bad:
            raise BadLine(bad.where, f"column '{column}': {bad.reason}") from None


def _odd_phases(kept: Iterable[Rating]) -> tuple[str, ...]:
    """A word in a column `phase` that is none of a study's phases is no reason to leave a rating out, but is told."""
    odd = {str(one.extra["phase"]) for one in kept if one.extra.get("phase") not in (None, *PLAY, *PHASES)}
    if not odd:
        return ()
    return (
        f"column 'phase' says {_listed(sorted(odd))}, which is no phase of a study: taken as ordinary play",
    )


def _named(keys: Sequence[Key]) -> list[str]:
    """Items by id; by id and system where one id has several systems."""
    times = Counter(id for id, _ in keys)
    return [f"{id} ({system})" if times[id] > 1 and system else id for id, system in keys]


def _covariates(
    table: _Table, names: list[str], who: Ints, persons: list[str]
) -> tuple[Floats, tuple[str, ...]]:
    """One number a person and covariate; a column of words becomes a yes-or-no column for each but its
    first."""
    columns, labels = [], []
    for name in names:
        if table.names_things(name):
            words = np.array(table.texts(name))
            kinds = sorted(set(words.tolist()))
            if len(kinds) > 12:
                told = f"covariate '{name}' holds {len(kinds)} different words; give numbers"
                raise UsageError(f"{table.path}: {told}")
            for kind in kinds[1:]:
                columns.append(_per_person(table.path, name, (words == kind).astype(float), who, persons))
                labels.append(f"{name}={kind}")
        else:
            columns.append(_per_person(table.path, name, table.numbers(name), who, persons))
            labels.append(name)
    found = np.column_stack(columns) if columns else np.zeros((len(persons), 0))
    return found, tuple(labels)


def _per_person(path: Path, name: str, values: Floats, who: Ints, persons: list[str]) -> Floats:
    found = np.full(len(persons), np.nan)
    found[who] = values
    differs = np.flatnonzero(~np.isnan(values) & (values != found[who]))
    if len(differs):
        raise UsageError(
            f"{path}: covariate '{name}' is not the same in all rows of '{persons[who[differs[0]]]}'"
        )
    gone = np.flatnonzero(np.isnan(found))
    if len(gone):
        shown = _listed([persons[n] for n in gone])
        raise UsageError(
            f"{path}: covariate '{name}' is missing for {shown}; fill it in or leave these people out"
        )
    return found


def _joined(ratings: RatingTable, path: Path, names: list[str]) -> RatingTable:
    """Covariates from a table with one row a person."""
    table = _Table.read(path)
    for name in names:
        table.column(name)
    key = one_of(table.names, RATERS) or table.names[0]
    place = {name: n for n, name in enumerate(table.persons(key))}
    gone = [name for name in ratings.persons if name not in place]
    if gone:
        raise UsageError(f"{path}: no row for {_listed(gone)}; column '{key}' must name every rater")
    mine = table.of([table.rows[place[name]] for name in ratings.persons])
    more, labels = _covariates(mine, names, np.arange(len(ratings.persons)), ratings.persons)
    return replace(
        ratings,
        covariates=np.hstack([ratings.covariates, more]),
        covariate_names=(*ratings.covariate_names, *labels),
    )


def _encoded(names: Sequence[T]) -> tuple[list[T], Ints]:
    """Distinct names in order of appearance, and which of them each is."""
    place = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return list(place), np.array([place[name] for name in names], np.int64)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:6])
    return f"{shown}, … ({len(names)})" if len(names) > 6 else shown


def read_expert(path: Path) -> tuple[dict[str, float], dict[str, str]]:
    """Expert ratings of items (columns item, rating), and the picture of each where there is a column
    image."""
    table = _Table.read(path)
    item, rating = one_of(table.names, ITEMS), one_of(table.names, VALUES)
    if not item or not rating:
        raise UsageError(f"{path}: expert ratings need the columns item and rating")
    items, numbers = table.persons(item), table.numbers(rating)
    known = {name: float(n) for name, n in zip(items, numbers, strict=True) if not np.isnan(n)}
    image = one_of(table.names, ("image", "picture"))
    return known, dict(zip(items, table.texts(image), strict=True)) if image else {}
