"""Rated items out of files and published protocols: what can be read of them, on one criterion."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from sightline.errors import UsageError
from sightline.io import BadLine, read_items
from sightline.io.ratings import read_ratings, with_ratings
from sightline.items import Failure, Item
from sightline.meta.protocols import make_protocol
from sightline.registry import parse_spec

METRIC = "vicr"
"""What a failure is listed under, as when the item is scored."""
PREFERRED = ("overall", "match", "correctness")
"""Criteria that a data set may call what a caption rater predicts, where it has several."""


class RatedItems(NamedTuple):
    """A source's name, its items with one criterion's ratings, and the lines that are no items."""

    name: str
    items: list[Item]
    failures: tuple[Failure, ...] = ()


def rated_items(
    source: str,
    data: Path | None,
    criterion: str | None,
    format: str | None = None,
    ratings: Path | None = None,
) -> RatedItems:
    """Items of a file (any format with ratings) or of a published protocol (`flickr8k-expert`, with --data).

    `ratings` is a file of single ratings that takes the place of the items' own.
    """
    failures: tuple[Failure, ...] = ()
    if Path(source).is_file():
        name = Path(source).name
        items, failures = _read(Path(source), format)
        if ratings is not None:
            items = with_ratings(items, read_ratings(ratings), ratings)
    elif data is None:
        raise UsageError(f"'{source}' is no file; to read it as a published protocol, give --data DIR too")
    else:
        name, items = parse_spec(source)[0], make_protocol(source).items(data)
    rated = [item for item in items if any(item.ratings.values())]
    if not rated:
        raise UsageError(f"{source}: no item has ratings, so there is nothing to learn from")
    named = criterion or _criterion(source, rated)
    kept = [item for item in rated if item.ratings.get(named)]
    if not kept:
        known = ", ".join(sorted({each for item in rated for each in item.ratings}))
        raise UsageError(f"{source}: no item is rated on '{named}'; there is {known}")
    return RatedItems(name, [_only(item, named) for item in kept], failures)


def _read(path: Path, format: str | None) -> tuple[list[Item], tuple[Failure, ...]]:
    found = list(read_items(path, format=format, on_error="collect"))
    bad = [one for one in found if isinstance(one, BadLine)]
    items = [one for one in found if not isinstance(one, BadLine)]
    return items, tuple(Failure(one.id, METRIC, one.reason, one.where) for one in bad)


def _criterion(source: str, items: Sequence[Item]) -> str:
    names = list(dict.fromkeys(name for item in items for name, values in item.ratings.items() if values))
    if len(names) == 1:
        return names[0]
    found = next((name for name in PREFERRED if name in names), None)
    if found is None:
        raise UsageError(f"{source}: rated on {', '.join(names)}; say which with --criterion")
    return found


def _only(item: Item, criterion: str) -> Item:
    return replace(item, ratings={"rating": item.ratings[criterion]})
