"""Rows of items as a corpus reads them: several captions a row, and bad ratings that do no harm to the text."""

from collections.abc import Iterator
from typing import Any

from sightline.corpus.checks import caption_fault, checked_number
from sightline.errors import BadLine
from sightline.io.source import parse_json
from sightline.io.table import Cells
from sightline.items import Failure
from sightline.report.page import clean

RATINGS = ("confidence", "purity")
"""The ratings that the analysis uses; it does not look at others."""


def captions_of(
    rows: Iterator[tuple[str, Cells | BadLine]], failures: list[Failure]
) -> Iterator[tuple[str, Cells | BadLine]]:
    """A row for each caption of a row; what was wrong with the others joins the failures.

    A list under `captions` becomes a row for each. A rating that is no number goes, and its caption stays.
    """
    for where, found in rows:
        if isinstance(found, BadLine):
            yield where, found
        else:
            yield from ((where, row) for row in _Row(found, where, failures).captions())


class _Row:
    """One row; what is wrong in it goes to the failures, what is right is kept."""

    def __init__(self, row: Cells, where: str, failures: list[Failure]) -> None:
        self._row = row
        self._where = where
        self._failures = failures

    def captions(self) -> Iterator[Cells]:
        """A row for each caption. All keep the id, by which the corpus puts them together again."""
        row = self._row
        given = row.get("captions")
        alone = any(row.get(name) is not None for name in ("text", "sentences"))
        ratings = self._ratings()
        if alone or not isinstance(given, list) or row.get("id") is None:
            yield {**row, "ratings": self._numbers(ratings)}
            return
        if not given:
            self._fail("item", "it has no captions")
        by_caption = {kind: self._one_each(kind, values, len(given)) for kind, values in ratings.items()}
        rest = {name: value for name, value in row.items() if name != "captions"}
        for place, text in enumerate(given):
            if fault := caption_fault(text):
                self._fail("caption", f"caption {place + 1}: {fault}")
                continue
            own = {kind: values[place] for kind, values in by_caption.items() if values}
            yield {**rest, "text": text, "ratings": self._numbers(own, f"caption {place + 1}: ")}

    def _ratings(self) -> dict[str, list[Any]]:
        """The ratings of each kind, not checked yet."""
        given = self._row.get("ratings")
        if isinstance(given, str):
            given = _parsed(given)
        if given is None:
            return {}
        if isinstance(given, list) and all(isinstance(pair, tuple) for pair in given):
            given = dict(given)  # a Parquet map
        if not isinstance(given, dict):
            self._fail("confidence", "field 'ratings': not an object of criteria")
            return {}
        found = {kind: given[kind] for kind in RATINGS if given.get(kind) is not None}
        return {kind: values if isinstance(values, list) else [values] for kind, values in found.items()}

    def _one_each(self, kind: str, values: list[Any], count: int) -> list[list[Any]]:
        """A rating for each of several captions; none at all where their number differs."""
        if len(values) != count:
            self._fail(kind, f"{len(values)} values for {count} captions; none of them counts")
            return []
        return [[value] for value in values]

    def _numbers(self, ratings: dict[str, list[Any]], place: str = "") -> dict[str, list[float]]:
        kept: dict[str, list[float]] = {}
        for kind, values in ratings.items():
            for value in values:
                try:
                    kept.setdefault(kind, []).append(checked_number(value))
                except ValueError as fault:
                    self._fail(kind, f"{place}{fault}")
        return kept

    def _fail(self, kind: str, reason: str) -> None:
        id = clean(str(self._row.get("id", "")))
        self._failures.append(Failure(id, kind, reason, self._where))


def _parsed(cell: str) -> Any:
    """What Parquet exports hold as JSON text; other text stays text."""
    try:
        return parse_json(cell)
    except ValueError:
        return cell
