"""Data sets of Hugging Face: columns of theirs as items, results as a data set of one row per item."""

from collections.abc import Iterable, Sequence
from typing import Any

import sightline
from sightline.errors import UsageError, extra

FIELDS = ("id", "system", "text", "sentences", "references", "ratings", "image", "images", "caption")
"""What `sightline.score` understands of a row as it is."""


def with_names(dataset: Any, **columns: str) -> Any:
    """The data set with the columns that hold a field renamed: `with_names(ds, text="generated", images="photo")`.

    `sightline.score` takes what comes out. Other columns are left out, as far as they are no fields.
    """
    unknown = sorted(set(columns) - set(FIELDS))
    missing = sorted(set(columns.values()) - set(dataset.column_names))
    if unknown or missing:
        told = f"no fields: {', '.join(unknown)}" if unknown else f"no columns: {', '.join(missing)}"
        raise UsageError(f"{told}; fields are {', '.join(FIELDS)}, columns {', '.join(dataset.column_names)}")
    kept = {name for name in dataset.column_names if name in FIELDS and name not in columns}
    chosen = dataset.select_columns([*kept, *columns.values()])
    return chosen.rename_columns({column: field for field, column in columns.items() if field != column})


def to_dataset(result: sightline.Result, pictures: bool = True) -> Any:
    """A row per item: id, system, text, references, pictures, a column for each metric, and `why` where one has none.

    Pictures are paths that the data set reads when they are looked at; its `push_to_hub` takes them along.
    """
    datasets = extra("datasets", "datasets")
    items, specs = result.items, list(result.summary["metrics"])
    scores = {(score.key, score.metric): score.score for score in result.scores}
    reasons: dict[Any, list[str]] = {}
    for failure in result.failures:
        reasons.setdefault(failure.key, []).append(f"{failure.metric}: {failure.reason}")
    columns: dict[str, list[Any]] = {
        "id": [item.id for item in items],
        "system": [item.system for item in items],
        "text": [whole_text(item) for item in items],
        "references": [list(item.references) for item in items],
        **{spec: [scores.get((item.key, spec)) for item in items] for spec in specs},
        "why": ["; ".join(reasons.get(item.key, ())) for item in items],
    }
    kinds: dict[str, Any] = {
        **dict.fromkeys(("id", "system", "text", "why"), datasets.Value("string")),
        "references": datasets.Sequence(datasets.Value("string")),
        **dict.fromkeys(specs, datasets.Value("float64")),
    }
    if pictures:
        columns["images"] = [paths(item.images) for item in items]
        kinds["images"] = datasets.Sequence(datasets.Image())
    return datasets.Dataset.from_dict(
        columns, features=datasets.Features({name: kinds[name] for name in columns})
    )


def whole_text(item: sightline.Item) -> str:
    return item.text or " ".join(item.sentences or ())


def paths(images: Iterable[Any]) -> Sequence[str]:
    return [str(image) for image in images]
