"""The JSON in which CLIPScore's repository keeps judged captions: pictures with human_judgement and ground_truth.

One entry a rating; FLEUR and others hold Flickr8k-Expert, CrowdFlower and Composite in the same form.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from sightline.errors import BadLine, UsageError
from sightline.io.items import parse_number, parse_text
from sightline.io.published import last_parts
from sightline.io.source import Source, naming

ENTRIES, TRUTHS = "human_judgement", "ground_truth"
FLICKR8K = ("flicker8k_", "flickr8k_")
"""How the folder of the pictures is called where Flickr8k is judged on its own; Composite gives addresses."""


@dataclass(frozen=True)
class Judged:
    """One caption of a picture with what people said of it."""

    where: str
    image: str
    """The picture's file name."""
    place: int
    """Which of the picture's judged captions it is, counted from 0."""
    caption: str
    ratings: tuple[float, ...]
    truths: tuple[str, ...]
    """The picture's own captions."""


def holds_judgements(source: Source, of: Literal["flickr8k", "composite"]) -> bool:
    """Whether a JSON file has this form, with judgements of Flickr8k or of Composite."""
    document = source.document
    first = next(iter(document.values()), None) if isinstance(document, dict) else None
    if not isinstance(first, dict) or not isinstance(first.get(ENTRIES), list):
        return False
    path = str(first.get("image_path") or "").lower()
    return any(name in path for name in FLICKR8K) == (of == "flickr8k")


def judgements(source: Source) -> Iterator[Judged | BadLine]:
    """Every caption of the file; equal captions that follow one another are one, with several people's ratings."""
    document = source.document
    if not isinstance(document, dict):
        raise UsageError(f"{source.path}: not an object of pictures with {ENTRIES}")
    for key, picture in document.items():
        where = f"{source.path}: {key[:80]}"
        try:
            image, entries, truths = _picture(key, picture)
        except ValueError as fault:
            yield BadLine(where, str(fault), key)
            continue
        last: Judged | None = None
        place = 0
        for number, entry in enumerate(entries):
            try:
                with naming(f"{ENTRIES}[{number}]"):
                    caption, rating = _entry(entry)
            except ValueError as fault:
                yield BadLine(where, str(fault), key)
                continue
            if last is not None and last.caption == caption:
                last = replace(last, ratings=(*last.ratings, rating))
                continue
            if last is not None:
                yield last
                place += 1
            last = Judged(f"{where}: {ENTRIES}[{number}]", image, place, caption, (rating,), truths)
        if last is not None:
            yield last


def _picture(key: str, picture: Any) -> tuple[str, list[Any], tuple[str, ...]]:
    if not isinstance(picture, dict) or not isinstance(picture.get(ENTRIES), list):
        raise ValueError(f"no list '{ENTRIES}'")
    truths = picture.get(TRUTHS, [])
    if not isinstance(truths, list) or not all(isinstance(text, str) for text in truths):
        raise ValueError(f"'{TRUTHS}' is not a list of texts")
    path = picture.get("image_path") or key
    return last_parts(parse_text(path)), picture[ENTRIES], tuple(truths)


def _entry(entry: Any) -> tuple[str, float]:
    if not isinstance(entry, dict):
        raise ValueError("not an object")
    with naming("'caption'"):
        caption = parse_text(entry.get("caption"))
    with naming("'rating'"):
        rating = parse_number(entry.get("rating"))
    return caption, rating


def shares_apart(found: Sequence[Judged | BadLine]) -> Iterator[Judged | BadLine]:
    """The captions of CrowdFlower: an entry is a share of yes, so that equal captions are not one caption's raters."""
    for one in found:
        if isinstance(one, BadLine) or len(one.ratings) == 1:
            yield one
        else:
            yield from (replace(one, ratings=(rating,)) for rating in one.ratings)
