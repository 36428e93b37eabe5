"""Plain files as a corpus reads them: several captions a line, and bad ratings that do no harm to the text."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sightline.corpus.checks import caption_fault, checked_number
from sightline.io.source import BadLine, Source, parse_json
from sightline.items import Failure
from sightline.report.page import clean

RATINGS = ("confidence", "purity")
"""The ratings that the analysis uses; it does not look at others."""


class PlainSource(Source):
    """A file of items whose rows are put right before the reader sees them; what was wrong joins the failures.

    A list under `captions` becomes a row for each caption. A rating that is no number goes, and its caption stays.
    """

    def __init__(self, path: Path, failures: list[Failure]) -> None:
        super().__init__(path)
        self._failures = failures

    def objects(self) -> Iterator[tuple[str, dict[str, Any] | BadLine]]:
        for where, found in super().objects():
            if isinstance(found, BadLine):
                yield where, found
            else:
                yield from ((where, row) for row in _Row(found, where, self._failures).captions())

    def records(self) -> Iterator[tuple[str, dict[str, str] | BadLine]]:
        for where, found in super().records():
            if isinstance(found, BadLine):
                yield where, found
                continue
            given = {name: _parsed(name, cell) for name, cell in found.items() if cell.strip()}
            for row in _Row(given, where, self._failures).captions():
                yield where, {name: _cell(value) for name, value in row.items()}


def _parsed(name: str, cell: str) -> Any:
    """What a cell of a CSV file holds; one that should be JSON and is not stays text."""
    try:
        return parse_json(cell) if name in ("captions", "ratings") else cell
    except ValueError:
        return cell


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


class _Row:
    """One row; what is wrong in it goes to the failures, what is right is kept."""

    def __init__(self, row: dict[str, Any], where: str, failures: list[Failure]) -> None:
        self._row = row
        self._where = where
        self._failures = failures

    def captions(self) -> Iterator[dict[str, Any]]:
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
        if given is None:
            return {}
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
