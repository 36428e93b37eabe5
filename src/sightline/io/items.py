"""From a dictionary in the form of the contract to an Item, with one clear reason where that fails."""

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from sightline.errors import BadLine
from sightline.io.pictures import picture_path
from sightline.items import Box, Item

FIELDS = ("id", "images", "text", "sentences", "references", "system", "ratings", "regions")
SLIPS = {"image": ("images",), "caption": ("text", "sentences")}
"""What files also call a field, and the fields that must be missing for it to be that one."""
NO_NAMES: Mapping[str, str] = MappingProxyType({})
"""Where a file calls the fields as the contract does."""


def item_from_dict(
    given: Mapping[str, Any], base: Path, where: str, called: Mapping[str, str] = NO_NAMES
) -> Item:
    """An item from a dictionary in the form of the contract; keys it does not know are kept as `extra`.

    Image paths are relative to `base`. They may be absolute or lead out of it: the file is the user's own. A picture
    may also be a value (bytes, a PIL image, an array); `image` and `caption` are read as `images` and `text`.
    Faults are told by the names that the fields have in the file: `called` has those that differ.
    """
    given, called = _renamed(given, called)
    system = given["system"] if isinstance(given.get("system"), str) else None
    try:
        id = _id(given.get("id"))
    except ValueError as fault:
        raise BadLine(where, f"field 'id': {fault}", system=system) from None
    name = "id"
    try:
        values: dict[str, Any] = {}
        if given.get("images") is not None:
            name = "images"
            values["images"] = _images(given["images"], base)
        for name, parse in PARSERS.items():
            if given.get(name) is not None:
                values[name] = parse(given[name])
        name = "text"
        if not str(values.get("system", " ")).strip():
            values.pop("system", None)  # an empty name names nothing
        if "text" in values and not values.get("sentences"):
            values.pop("sentences", None)  # an empty list, where every line or row has the field
        if "text" not in values and "sentences" not in values:
            raise ValueError("is missing" if called else "is missing; give 'text' or 'sentences'")
        name = "regions"
        if "regions" in values and len(values["regions"]) != len(values.get("images", ())):
            raise ValueError(f"{len(values['regions'])} lists for {len(values.get('images', ()))} pictures")
        name = "other fields"
        extra = {str(key): value for key, value in given.items() if key not in FIELDS and value is not None}
        _check_extra(extra)
    except ValueError as fault:
        raise BadLine(where, f"field '{called.get(name, name)}': {fault}", id, system) from None
    return Item(id=id, extra=extra, source=where, **values)


def parse_text(value: Any) -> str:
    """A string without lone surrogates, which is also what bytes that are not UTF-8 have become by now."""
    if not isinstance(value, str):
        raise ValueError(f"{_named(value)} instead of text")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as fault:
            odd = ord(value[fault.start])
            what = (
                f"byte {odd - 0xDC00:#04x} is not UTF-8"
                if 0xDC80 <= odd <= 0xDCFF
                else f"a lone surrogate U+{odd:04X}"
            )
            raise ValueError(f"{what} at character {fault.start + 1}; save the file as UTF-8") from None
    return value


def parse_number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{_named(value)} instead of a number")
    try:
        number = float(value)
    except OverflowError:
        raise ValueError("a number is too large") from None
    if not math.isfinite(number):
        raise ValueError(f"{number} is not a number to work with")
    return number


def parse_box(value: Any) -> Box:
    """Four numbers x0, y0, x1, y1 with x0 < x1 and y0 < y1."""
    if not _is_list(value) or len(value) != 4:
        raise ValueError("a region is four numbers [x0, y0, x1, y1]")
    x0, y0, x1, y1 = (parse_number(edge) for edge in value)
    if not (x0 < x1 and y0 < y1):
        raise ValueError(
            f"the region [{x0:g}, {y0:g}, {x1:g}, {y1:g}] is empty; write it as [x0, y0, x1, y1]"
        )
    return x0, y0, x1, y1


def _id(value: Any) -> str:
    if value is None:
        raise ValueError("is missing")
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= 1 << 64:
            raise ValueError("a number is too large")
        return str(value)
    text = parse_text(value)
    if not text.strip():
        raise ValueError("is empty")
    return text


def _texts(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (parse_text(value),)
    if not _is_list(value):
        raise ValueError(f"{_named(value)} instead of a list of texts")
    return tuple(parse_text(text) for text in value)


def _renamed(
    given: Mapping[str, Any], called: Mapping[str, str]
) -> tuple[Mapping[str, Any], Mapping[str, str]]:
    """The fields as the contract calls them, where the file has the singular or a caption, and what it calls them."""
    names = {
        theirs: ours
        for theirs, (ours, *others) in SLIPS.items()
        if given.get(theirs) is not None and all(given.get(name) is None for name in (ours, *others))
    }
    if not names:
        return given, called
    return (
        {names.get(name, name): value for name, value in given.items() if name not in names.values()},
        {**called, **{ours: theirs for theirs, ours in names.items()}},
    )


def _images(value: Any, base: Path) -> tuple[Path, ...]:
    """The files of one picture or of several."""
    several = value if isinstance(value, list | tuple) else [value]
    return tuple(picture_path(parse_text(one) if isinstance(one, str) else one, base) for one in several)


def _ratings(value: Any) -> dict[str, tuple[float, ...]]:
    if _is_list(value) and value and all(isinstance(pair, tuple) and len(pair) == 2 for pair in value):
        value = dict(value)  # a Parquet map
    if not isinstance(value, Mapping):
        raise ValueError(f"{_named(value)} instead of criteria with their ratings")
    return {
        parse_text(criterion): tuple(parse_number(r) for r in (given if _is_list(given) else [given]))
        for criterion, given in value.items()
        if given is not None
    }


def _regions(value: Any) -> tuple[tuple[Box, ...], ...]:
    if not _is_list(value) or not all(map(_is_list, value)):
        raise ValueError("give one list of regions per picture: [[[x0, y0, x1, y1], …], …]")
    return tuple(tuple(parse_box(box) for box in boxes) for boxes in value)


PARSERS = {
    "text": parse_text,
    "sentences": _texts,
    "references": _texts,
    "system": parse_text,
    "ratings": _ratings,
    "regions": _regions,
}


def _check_extra(extra: Mapping[str, Any]) -> None:
    try:
        msgspec.msgpack.encode(extra)
    except (
        OverflowError,
        UnicodeEncodeError,
        TypeError,
        NotImplementedError,
        RecursionError,
        ValueError,
    ) as fault:
        raise ValueError(f"cannot be stored ({fault})") from None


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _named(value: Any) -> str:
    names = {
        type(None): "null",
        bool: "true or false",
        int: "a number",
        float: "a number",
        str: "text",
        dict: "an object",
        list: "a list",
    }
    return names.get(type(value), f"a {type(value).__name__}")
