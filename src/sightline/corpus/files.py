"""What `sightline corpus` leaves in its folder: tables, statistics, hard samples, failures and a report."""

import csv
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from sightline.corpus.analysis import Analysis
from sightline.corpus.entries import Entry
from sightline.corpus.report import report
from sightline.corpus.summary import summary
from sightline.errors import UsageError
from sightline.io.results import write_whole
from sightline.metrics.base import package_version

DIVERSITY = (
    "id", "axis", "self_bleu", "diversity", "captions", "confidence", "purity", "published_self_bleu",
    "published_purity",
)  # fmt: skip
ITEMS = ("confidence", "self_bleu", "diversity", "purity", "published_purity")
PMI = ("axis", "lemma", "object", "pmi", "together", "lemma_images", "object_images")


FILES = ("stats.json", "diversity.csv", "items.csv", "pmi.csv", "hard.jsonl", "failures.jsonl", "report.html")


def check_folder(folder: Path) -> None:
    """Tell before the work whether results could be left there. Nothing is made yet."""
    try:
        above = next((place for place in (folder, *folder.parents) if place.exists()), Path())
        taken = [name for name in FILES if (folder / name).is_dir()]
    except OSError as fault:
        raise _unwritable(folder, fault.strerror or str(fault)) from None
    if not above.is_dir():
        raise _unwritable(folder, f"{above} is a file")
    if not os.access(above, os.W_OK | os.X_OK):
        raise _unwritable(folder, "no permission")
    if taken:
        raise _unwritable(folder, f"{taken[0]} is a folder")


def _unwritable(folder: Path, reason: str) -> UsageError:
    return UsageError(f"{folder}: cannot write there ({reason})")


def write_corpus(found: Analysis, folder: Path, name: str) -> dict[str, Any]:
    """Write every file, each put in place whole, and return the statistics."""
    page = report(found, name)
    told = {"file": name, "version": package_version(), **summary(found)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_files(found, folder, told, page)
    except OSError as fault:
        raise _unwritable(folder, fault.strerror or str(fault)) from None
    return told


def _write_files(found: Analysis, folder: Path, told: dict[str, Any], page: str) -> None:
    write_whole(folder / "stats.json", json.dumps(told, indent=2, ensure_ascii=False, allow_nan=False) + "\n")
    _write_rows(folder / "diversity.csv", DIVERSITY, _diversity(found))
    _write_rows(folder / "items.csv", ("id", *ITEMS), _items(found))
    pairs = (pair for one in found.informative.values() for pair in one.pairs())
    _write_rows(folder / "pmi.csv", PMI, ([getattr(pair, key) for key in PMI] for pair in pairs))
    write_whole(folder / "hard.jsonl", "".join(_lines(hard_samples(found))))
    write_whole(folder / "failures.jsonl", "".join(_lines(asdict(failure) for failure in found.failures)))
    write_whole(folder / "report.html", page)


def hard_samples(found: Analysis) -> Iterator[dict[str, Any]]:
    """The hard samples with their captions and measures, the hardest first."""
    rows: dict[int, dict[str, Any]] = {}
    chosen = set(found.hard.places)
    for row in found.rows:
        if row.place in chosen:
            kept = {
                key: getattr(row, key) for key in ("self_bleu", "purity") if getattr(row, key) is not None
            }
            rows.setdefault(row.place, {})[row.axis] = kept
    for place, hardness in zip(found.hard.places, found.hard.hardness, strict=True):
        (entry,) = found.entries.at([place])
        measures = {key: float(v) for key in ITEMS if (v := found.items[key][place]) == v}
        yield {
            "id": entry.id,
            "image": entry.image if Path(entry.image).is_file() else None,
            "hardness": hardness,
            **measures,
            "axes": {axis: {**captions(entry, axis), **rows[place].get(axis, {})} for axis in entry.axes},
        }


def captions(entry: Entry, axis: str) -> dict[str, Any]:
    """The captions of an axis, with their confidences where there are any."""
    own = entry.axes[axis]
    found: dict[str, Any] = {"captions": [caption.text for caption in own]}
    if any(caption.confidence is not None for caption in own):
        found["confidence"] = [caption.confidence for caption in own]
    return found


def _diversity(found: Analysis) -> Iterator[Sequence[Any]]:
    for row in found.rows:
        yield [getattr(row, key) for key in DIVERSITY]


def _items(found: Analysis) -> Iterator[Sequence[Any]]:
    place = 0
    for chunk in found.entries.chunks(1000):
        for entry in chunk:
            values = (float(found.items[key][place]) for key in ITEMS)
            yield [entry.id, *(value if value == value else None for value in values)]
            place += 1


def _write_rows(path: Path, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """A CSV file; None is an empty cell."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(rows)
    part.replace(path)


def _lines(objects: Iterable[Any]) -> Iterator[str]:
    encode = msgspec.json.Encoder().encode
    for one in objects:
        yield encode(one).decode() + "\n"
