"""Rating files: long (rater, item, rating), wide (a row a person, a column an item), and rating exports."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sightline.errors import UsageError
from sightline.psychometrics.model.responses import Floats, Ints
from sightline.psychometrics.tables import MISSING_WORDS, RATER_NAMES, line_of, read_table

ITEM_NAMES = ("item", "item_id", "pair", "unit")
RATING_NAMES = ("rating", "value", "score", "response", "level")


@dataclass(frozen=True)
class Ratings:
    """Everything a rating file says: people's values for items, and numbers about the people."""

    persons: list[str]
    items: list[str]
    values: Floats
    """person x item, NaN where there is no rating"""
    covariates: Floats
    covariate_names: tuple[str, ...]
    criterion: str | None = None

    def without(self, person: str) -> "Ratings":
        """The ratings of all other people."""
        keep = [n for n, name in enumerate(self.persons) if name != person]
        names = [self.persons[n] for n in keep]
        return replace(self, persons=names, values=self.values[keep], covariates=self.covariates[keep])


def read_ratings(
    path: Path,
    *,
    person: str | None = None,
    covariates: Sequence[str] = (),
    criterion: str | None = None,
    persons_file: Path | None = None,
) -> Ratings:
    """Read a rating file of any kind. Covariates are columns of it, or of a table with one row a person."""
    table = read_table(path, text=(person,) if person else ())
    own = [name for name in covariates if name in table.column_names]
    rater, item, rating = (_one_of(table, names) for names in (RATER_NAMES, ITEM_NAMES, RATING_NAMES))
    if person is not None and person not in table.column_names:
        raise UsageError(f"{path}: there is no column '{person}'; columns: {_listed(table.column_names)}")
    if item and rating and (person or rater):
        found = _long(path, table, person or rater or "", item, rating, own, criterion)
    else:
        if criterion is not None:
            raise UsageError(f"{path}: --criterion is for long files with a column 'criterion'")
        found = _wide(path, table, person, own)
    rest = [name for name in covariates if name not in own]
    if not rest:
        return found
    if persons_file is None:
        raise UsageError(f"{path}: there is no column '{rest[0]}'; columns: {_listed(table.column_names)}")
    return _joined(found, persons_file, rest)


def _wide(path: Path, table: pa.Table, person: str | None, covariates: list[str]) -> Ratings:
    names = table.column_names
    if person is None and (names[0].strip().lower() in (*RATER_NAMES, "id", "") or _is_text(table, 0)):
        person = names[0]
    items = [name for name in names if name != person and name not in covariates]
    if not items:
        raise UsageError(f"{path}: there are no item columns")
    values = np.empty((table.num_rows, len(items)))
    for j, name in enumerate(items):
        values[:, j] = _numbers(path, table, name)
    if person is None:
        persons = [str(n + 1) for n in range(table.num_rows)]
    else:
        persons = _texts(path, table, person)
        _refuse_twins(path, person, persons)
    return Ratings(
        persons, items, values, *_covariates(path, table, covariates, np.arange(table.num_rows), persons)
    )


def _long(
    path: Path,
    table: pa.Table,
    rater: str,
    item: str,
    rating: str,
    covariates: list[str],
    criterion: str | None,
) -> Ratings:
    table, rows, criterion = _of_criterion(path, table, criterion)
    raters, who = _encoded(_texts(path, table, rater))
    items, what = _encoded(_texts(path, table, item))
    numbers = _numbers(path, table, rating, rows)
    key = who * len(items) + what
    order = np.argsort(key, kind="stable")
    twins = np.flatnonzero(np.diff(key[order]) == 0)
    if len(twins):
        first, second = order[twins[0]], order[twins[0] + 1]
        more = f" ({len(twins)} such duplicates)" if len(twins) > 1 else ""
        raise UsageError(
            f"{path}, lines {line_of(path, int(rows[first]))} and {line_of(path, int(rows[second]))}: rater "
            f"'{raters[who[first]]}' rated item '{items[what[first]]}' twice; keep one{more}"
        )
    values = np.full((len(raters), len(items)), np.nan)
    values[who, what] = numbers
    return Ratings(raters, items, values, *_covariates(path, table, covariates, who, raters), criterion)


def _of_criterion(path: Path, table: pa.Table, criterion: str | None) -> tuple[pa.Table, Ints, str | None]:
    """The rows of one criterion, with their places in the file."""
    rows = np.arange(table.num_rows)
    if "criterion" not in table.column_names:
        if criterion is not None:
            raise UsageError(f"{path}: there is no column 'criterion'")
        return table, rows, None
    named = np.array(_texts(path, table, "criterion"))
    known = list(dict.fromkeys(named.tolist()))
    if criterion is None and len(known) > 1:
        raise UsageError(f"{path}: it holds the criteria {_listed(known)}; choose one with --criterion")
    criterion = criterion or known[0]
    if criterion not in known:
        raise UsageError(f"{path}: no rating is for '{criterion}'; criteria: {_listed(known)}")
    kept = np.flatnonzero(named == criterion)
    return table.take(pa.array(kept)), rows[kept], criterion


def _covariates(
    path: Path, table: pa.Table, names: list[str], who: Ints, persons: list[str]
) -> tuple[Floats, tuple[str, ...]]:
    """One number a person and covariate; a column of words becomes a yes-or-no column for each but its
    first."""
    columns, labels = [], []
    for name in names:
        if _is_text(table, table.column_names.index(name)):
            words = np.array(_texts(path, table, name))
            kinds = sorted(set(words.tolist()))
            if len(kinds) > 12:
                raise UsageError(
                    f"{path}: covariate '{name}' holds {len(kinds)} different words; give numbers"
                )
            for kind in kinds[1:]:
                columns.append(_per_person(path, name, (words == kind).astype(float), who, persons))
                labels.append(f"{name}={kind}")
        else:
            columns.append(_per_person(path, name, _numbers(path, table, name), who, persons))
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


def _joined(ratings: Ratings, path: Path, names: list[str]) -> Ratings:
    """Covariates from a table with one row a person."""
    table = read_table(path, text=())
    unknown = [name for name in names if name not in table.column_names]
    if unknown:
        raise UsageError(f"{path}: there is no column '{unknown[0]}'; columns: {_listed(table.column_names)}")
    key = _one_of(table, RATER_NAMES) or table.column_names[0]
    known = _texts(path, table, key)
    _refuse_twins(path, key, known)
    place = {name: n for n, name in enumerate(known)}
    gone = [name for name in ratings.persons if name not in place]
    if gone:
        raise UsageError(f"{path}: no row for {_listed(gone)}; column '{key}' must name every rater")
    mine = table.take(pa.array([place[name] for name in ratings.persons]))
    more, labels = _covariates(path, mine, names, np.arange(len(ratings.persons)), ratings.persons)
    return Ratings(
        ratings.persons,
        ratings.items,
        ratings.values,
        np.hstack([ratings.covariates, more]),
        (*ratings.covariate_names, *labels),
        ratings.criterion,
    )


def _numbers(path: Path, table: pa.Table, name: str, rows: Ints | None = None) -> Floats:
    """A column as numbers, NaN where empty; the first cell that is none is named."""
    column = table.column(name)
    if pa.types.is_null(column.type):
        return np.full(table.num_rows, np.nan)
    if pa.types.is_integer(column.type) or pa.types.is_floating(column.type):
        found = np.array(pc.cast(column, pa.float64()).to_numpy(), np.float64)
        if not np.isinf(found).any():
            return found
    found = np.full(table.num_rows, np.nan)
    for n, cell in enumerate(column.to_pylist()):
        text = "" if cell is None else str(cell).strip()
        if text in MISSING_WORDS:
            continue
        try:
            found[n] = float(text)
        except ValueError:
            found[n] = np.inf
        if not np.isfinite(found[n]):
            line = line_of(path, n if rows is None else int(rows[n]))
            raise UsageError(f"{path}, line {line}, column '{name}': '{text[:40]}' is not a number")
    return found


def _texts(path: Path, table: pa.Table, name: str) -> list[str]:
    found = [str(cell) for cell in table.column(name).to_pylist()]
    if table.column(name).null_count:
        n = table.column(name).to_pylist().index(None)
        raise UsageError(f"{path}, line {line_of(path, n)}: column '{name}' is empty")
    return found


def _refuse_twins(path: Path, column: str, persons: list[str]) -> None:
    if len(set(persons)) < len(persons):
        seen: dict[str, int] = {}
        for n, name in enumerate(persons):
            if name in seen:
                raise UsageError(
                    f"{path}, lines {line_of(path, seen[name])} and {line_of(path, n)}: '{name}' is twice in "
                    f"column '{column}'; give each person one row"
                )
            seen[name] = n


def _encoded(names: list[str]) -> tuple[list[str], Ints]:
    """Distinct names in order of appearance, and which of them each is."""
    encoded = pa.array(names).dictionary_encode()
    return encoded.dictionary.to_pylist(), np.asarray(encoded.indices.to_numpy(), np.int64)


def _one_of(table: pa.Table, names: Sequence[str]) -> str | None:
    by_lower = {name.strip().lower(): name for name in reversed(table.column_names)}
    return next((by_lower[name] for name in names if name in by_lower), None)


def _is_text(table: pa.Table, column: int) -> bool:
    """Whether not one cell of the column is a number: it names things."""
    kind = table.column(column).type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_boolean(kind)):
        return False
    for cell in table.column(column).to_pylist():
        try:
            float(cell)
        except (TypeError, ValueError):
            continue
        return False
    return True


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(f"'{name}'" for name in names[:6])
    return f"{shown}, … ({len(names)})" if len(names) > 6 else shown


def read_expert(path: Path) -> tuple[dict[str, float], dict[str, str]]:
    """Expert ratings of items (columns item, rating), and the picture of each where there is a column
    image."""
    table = read_table(path, text=())
    item, rating = _one_of(table, ITEM_NAMES), _one_of(table, RATING_NAMES)
    if not item or not rating:
        raise UsageError(f"{path}: expert ratings need the columns item and rating")
    items, numbers = _texts(path, table, item), _numbers(path, table, rating)
    _refuse_twins(path, item, items)
    known = {name: float(n) for name, n in zip(items, numbers, strict=True) if not np.isnan(n)}
    image = _one_of(table, ("image", "picture"))
    return known, dict(zip(items, _texts(path, table, image), strict=True)) if image else {}
