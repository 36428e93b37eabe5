"""What the libraries hand over, as items; and scores, as they want them."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import sightline
from sightline.metrics import make_metric


def items_of(
    texts: Sequence[str], images: Iterable[Any] | None = None, references: Iterable[Any] | None = None
) -> list[dict[str, Any]]:
    """An item for each text; of each its picture or list of pictures, its reference or list of references."""
    columns = {"images": images, "references": references}
    rows: list[dict[str, Any]] = [{"id": str(number), "text": text} for number, text in enumerate(texts, 1)]
    for name, column in columns.items():
        cells = [None] * len(rows) if column is None else list(column)
        if len(cells) != len(rows):
            raise sightline.UsageError(
                f"{len(rows)} texts, but {len(cells)} {name}: one for each, or none at all"
            )
        for row, cell in zip(rows, cells, strict=True):
            row[name] = several(cell)
    return rows


def several(cell: Any) -> list[Any]:
    """One thing, or a list of them, as a list."""
    if cell is None:
        return []
    return list(cell) if isinstance(cell, list | tuple) else [cell]


def needs_all(spec: str) -> bool:
    """Whether a metric looks at all items together: idf, theta, or a value of the corpus."""
    metric = make_metric(spec)
    return bool(metric.fits()) or metric.has_corpus


@dataclass(frozen=True)
class Scores:
    """Of one metric, in the order of the items."""

    value: float
    """What is published: the corpus-level value where there is one, else the mean; NaN where nothing was scored."""
    by_item: list[float]
    """NaN where an item could not be scored."""
    failures: dict[int, str]
    """The reason by the item's number, from 0."""
    signature: str
    result: sightline.Result


def scores_of(items: Sequence[dict[str, Any]], spec: str, **options: Any) -> Scores:
    """Items scored with one metric."""
    result = sightline.score(list(items), [spec], **options)
    row = result.summary["metrics"][spec]
    places = {item["id"]: place for place, item in enumerate(items)}
    by_item = [math.nan] * len(items)
    for score in result.scores:
        by_item[places[score.id]] = score.score
    failures = {places[failure.id]: failure.reason for failure in result.failures if failure.id in places}
    published = row.get("corpus")
    value = row["mean"] if published is None else published
    return Scores(math.nan if value is None else value, by_item, failures, row["signature"], result)
