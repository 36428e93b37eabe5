"""Items that a program has at hand: objects, dictionaries, a data frame, or a data set of Hugging Face."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found
from sightline.io.item_rows import fetched_ahead
from sightline.io.items import item_from_dict
from sightline.io.pictures import picture_path
from sightline.items import Item


def items_given(given: Any, base: Path) -> Iterator[Found]:
    """Each thing as an item; raises BadLine or UsageError at the first that is none.

    Dictionaries and rows have the fields of JSON Lines. One without an id has its number, from 1. A picture is a path,
    relative to `base`, or a value. A BadLine that was read elsewhere stays what it is.
    """
    numbered = ((f"item {number}", row) for number, row in enumerate(rows_given(given), 1))
    for where, one in fetched_ahead(numbered):
        yield _item(one, base, where)


def rows_given(given: Any) -> Iterator[Any]:
    """What there is, one by one: rows of a frame or a data set as dictionaries."""
    if type(given).__name__ == "DatasetDict":
        raise UsageError(f"a data set with the splits {', '.join(map(str, given))}; give one of them")
    if isinstance(given, Item | Mapping):
        raise UsageError("items is a list of items, of dictionaries as in JSON Lines, or the path of a file")
    if type(given).__module__.split(".")[0] == "datasets":
        yield from _dataset(given)
    elif hasattr(given, "collect_schema") or hasattr(given, "columns"):
        yield from _frame(given)
    else:
        if not isinstance(given, Iterable) or isinstance(given, bytes):
            raise UsageError(
                f"items is a {type(given).__name__}; give a list of items, a data frame or a file"
            )
        yield from given


def _frame(given: Any) -> Iterator[dict[str, Any]]:
    """Rows of a pandas or polars frame, or of any that narwhals knows; a missing value is no value."""
    import narwhals

    try:
        frame = narwhals.from_native(given)
    except TypeError:
        raise UsageError(f"items is a {type(given).__name__}, which is no data frame that is known") from None
    if isinstance(frame, narwhals.LazyFrame):
        frame = frame.collect()
    for row in frame.iter_rows(named=True):
        yield {str(name): _plain(value) for name, value in row.items() if not _missing(value)}


def _dataset(given: Any) -> Iterator[dict[str, Any]]:
    """Rows of a data set, its pictures as the bytes or paths they are stored as."""
    for name, feature in (given.features or {}).items():
        if type(feature).__name__ == "Image" and feature.decode:
            given = given.cast_column(name, replace(feature, decode=False))
        elif type(getattr(feature, "feature", None)).__name__ == "Image" and feature.feature.decode:
            given = given.cast_column(name, type(feature)(replace(feature.feature, decode=False)))
    yield from given


def _missing(value: Any) -> bool:
    """None, NaN, NaT and the like."""
    if value is None or type(value).__name__ == "NAType":
        return True
    return not hasattr(value, "__len__") and bool(value != value)


def _plain(value: Any) -> Any:
    """A cell as JSON would have it: a list for an array or series of things, a number for NumPy's."""
    if getattr(value, "ndim", None) == 0:
        return value.item()
    if type(value).__name__ == "Series" or (
        getattr(value, "ndim", None) == 1 and hasattr(value, "tolist") and value.dtype == object
    ):
        return list(value)
    return value


def _item(given: Any, base: Path, where: str) -> Found:
    if isinstance(given, BadLine):
        return given
    if isinstance(given, Item):
        if all(isinstance(image, Path) for image in given.images):
            return given
        try:
            return replace(given, images=tuple(picture_path(image, base) for image in given.images))
        except ValueError as fault:
            raise UsageError(f"{where}, '{given.id}': {fault}") from None
    if not isinstance(given, Mapping):
        raise UsageError(
            f"{where} is a {type(given).__name__}; give an Item, or a dictionary as in JSON Lines"
        )
    if given.get("id") is None:
        given = {**given, "id": where.removeprefix("item ")}
    return item_from_dict(given, base, where)
