"""People's answers to items as one table of levels, and what must hold before a model can be fitted to it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from sightline.errors import UsageError

MISSING = -1
MOST_LEVELS = 20
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Responses:
    """A person x item table of levels 0, 1, … (`MISSING` where there is no answer)."""

    persons: Sequence[str]
    items: Sequence[str]
    levels: NDArray[np.int8]
    labels: tuple[tuple[int, ...], ...]
    """For each item, the value in the file that each level stands for."""
    covariates: Floats
    """person x covariate"""
    covariate_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    left_out: dict[str, str] = field(default_factory=dict)
    """Items that no model can place, with the reason."""

    @property
    def steps(self) -> Ints:
        """How many steps each item has: one less than its levels."""
        return np.array([len(labels) - 1 for labels in self.labels], np.int64)

    @property
    def answered(self) -> NDArray[np.bool_]:
        return np.asarray(self.levels != MISSING)


def from_values(
    values: Floats,
    *,
    persons: Sequence[str] | None = None,
    items: Sequence[str] | None = None,
    covariates: Floats | None = None,
    covariate_names: Sequence[str] = (),
    unused: str = "error",
    shared_levels: bool = False,
) -> Responses:
    """A table of whole numbers (NaN where there is no answer) as responses.

    Level 0 is the lowest value of the whole table; an item's highest level is the highest that anybody gave
    it. A level in between that nobody gave has no step parameter: that is an error, or `unused="collapse"`
    closes the gap. With `shared_levels` (rating scale model) every item has all levels.
    """
    people, count = values.shape
    persons = [str(n + 1) for n in range(people)] if persons is None else persons
    items = [f"I{n + 1}" for n in range(count)] if items is None else items
    if people < 2:
        raise UsageError(
            "only one rater: nothing can be said about items or agreement; give at least two raters"
        )
    lowest = _lowest(values, persons, items)
    labels, columns, gaps, left_out = [], [], [], {}
    for i, name in enumerate(items):
        column = values[:, i]
        used = distinct(column[~np.isnan(column)]).astype(np.int64)
        if len(used) < 2:
            left_out[name] = "nobody answered it" if not len(used) else f"everybody gave it {used[0]}"
            continue
        if len(used) > MOST_LEVELS:
            raise UsageError(
                f"item '{name}' has {len(used)} different values; is it the people's id (--person {name}) "
                f"or a covariate (--covariate {name})?"
            )
        whole = np.arange(lowest, used[-1] + 1)
        if len(whole) > len(used) and not shared_levels:
            gaps.append(f"{name} ({', '.join(str(v) for v in np.setdiff1d(whole, used)[:5])})")
        labels.append(tuple(int(v) for v in used))
        columns.append(i)
    if gaps and unused != "collapse":
        more = f" and {len(gaps) - 5} more items" if len(gaps) > 5 else ""
        raise UsageError(
            f"levels that nobody used: {'; '.join(gaps[:5])}{more}; a step nobody took cannot be estimated: "
            "give --unused collapse to close the gaps, or --model rsm to share the steps"
        )
    if len(columns) < 2:
        raise UsageError("fewer than two items vary between people: there is nothing to compare them on")
    if shared_levels:
        labels = [_shared(values[:, columns])] * len(columns)
    table = np.full((people, len(columns)), MISSING, np.int8)
    for j, (i, known) in enumerate(zip(columns, labels, strict=True)):
        given = ~np.isnan(values[:, i])
        table[given, j] = np.searchsorted(np.array(known), values[given, i])
    notes = [f"levels that nobody used were closed up: {'; '.join(gaps)}"] if gaps else []
    return Responses(
        persons,
        [items[i] for i in columns],
        table,
        tuple(labels),
        np.zeros((people, 0)) if covariates is None else covariates,
        tuple(covariate_names),
        tuple(notes),
        left_out,
    )


def _lowest(values: Floats, persons: Sequence[str], items: Sequence[str]) -> int:
    given = values[~np.isnan(values)]
    if not len(given):
        raise UsageError("there is not one rating in the file")
    odd = np.argwhere(~np.isnan(values) & (values != np.round(values)))
    if len(odd):
        person, item = odd[0]
        raise UsageError(
            f"person '{persons[person]}', item '{items[item]}': {values[person, item]:g} is not a whole "
            "number; levels must be"
        )
    return int(given.min())


def _shared(values: Floats) -> tuple[int, ...]:
    return tuple(int(v) for v in distinct(values[~np.isnan(values)]))


def distinct(values: Floats) -> Floats:
    """The distinct numbers, sorted; whole numbers that lie close together are counted, which is much
    faster."""
    if not len(values) or np.ptp(values) > 1000:
        return np.unique(values)
    low = values.min()
    whole = (values - low).astype(np.int64)
    if not np.array_equal(whole + low, values):
        return np.unique(values)
    return np.asarray(np.flatnonzero(np.bincount(whole)) + low, np.float64)


def linked(responses: Responses) -> Responses:
    """The responses without people who answered nothing; an error where the design falls apart.

    Two people can only be compared through items both answered, directly or over others: the person-item
    graph must be in one piece.
    """
    answered = responses.answered
    some = answered.any(axis=1)
    if not some.all():
        gone = int((~some).sum())
        keep = np.flatnonzero(some)
        responses = replace(
            responses,
            persons=[responses.persons[int(n)] for n in keep],
            levels=responses.levels[keep],
            covariates=responses.covariates[keep],
            notes=(*responses.notes, f"{gone} people answered no usable item and are left out"),
        )
        answered = responses.answered
    groups = components(answered)
    if len(groups) > 1:
        raise UsageError(disconnected(groups, responses.persons, responses.items))
    return responses


def distinct_rows(table: NDArray[np.bool_] | Floats) -> Ints:
    """A number for each row, equal where rows are equal."""
    columns: NDArray[Any] = table
    if table.dtype == np.bool_:
        packed = np.packbits(table.astype(np.bool_), axis=1)
        columns = np.ascontiguousarray(np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))).view(np.uint64)
    code = np.zeros(len(table), np.int64)
    for column in columns.T:
        _, part = np.unique(column, return_inverse=True)
        _, code = np.unique(code * (part.max() + 1) + part, return_inverse=True)
    return code


def components(answered: NDArray[np.bool_]) -> list[tuple[Ints, Ints]]:
    """The pieces of the person-item graph, largest first, each as its persons and items."""
    items = answered.shape[1]
    which = distinct_rows(answered)
    first = answered[np.unique(which, return_index=True)[1]]
    rows, columns = np.nonzero(first)
    size = len(first) + items
    graph = coo_array((np.ones(len(rows), np.int8), (rows, columns + len(first))), shape=(size, size))
    count, piece = connected_components(graph, directed=False)
    of_person, of_item = piece[: len(first)][which], piece[len(first) :]
    found = [(np.flatnonzero(of_person == c), np.flatnonzero(of_item == c)) for c in range(count)]
    return sorted(found, key=lambda group: (-len(group[0]) - len(group[1]), *group[0][:1]))


def disconnected(groups: list[tuple[Ints, Ints]], persons: Sequence[str], items: Sequence[str]) -> str:
    """One line that says which raters and items are not linked with the rest."""

    def some(names: Sequence[str], which: Ints) -> str:
        shown = ", ".join(names[n] for n in which[:5])
        return f"{shown}, … ({len(which)})" if len(which) > 5 else shown or "none"

    parts = "; ".join(f"raters {some(persons, p)} with items {some(items, i)}" for p, i in groups[:4])
    more = f"; and {len(groups) - 4} further groups" if len(groups) > 4 else ""
    return (
        f"the design falls into {len(groups)} groups that share no rater and no item: "
        f"{parts}{more}; add ratings that link them, or analyse them apart"
    )
