"""What a run fitted to its corpus, kept beside its scores, so that a later run can be held against it.

`statistics.json` has every statistic's source, digest and value; arrays (the document frequencies of n-grams) lie in
`statistics.npz`.
"""

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sightline.errors import UsageError
from sightline.features.base import Fit, Fitted, Statistic, digest_of
from sightline.io.results import ResultFolder

V = TypeVar("V")
NAME = "statistics.json"
ARRAYS = "statistics.npz"


def write_statistics(out: ResultFolder, fitted: Fitted, others: Mapping[str, Any] | None = None) -> None:
    """Put the statistics of a run into its folder, beside `others` that stood there (as `read_entries` gives them)."""
    told: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    entries = dict(others or {}) | {
        statistic.key: _entry(statistic, fit) for statistic, fit in fitted.items()
    }
    for key, entry in entries.items():
        told[key] = {name: value for name, value in entry.items() if name != "arrays"}
        arrays |= {f"{key}/{name}": array for name, array in entry.get("arrays", {}).items()}
    out.text(NAME, json.dumps(told, indent=2, allow_nan=False) + "\n")
    if arrays:
        packed = io.BytesIO()
        np.savez_compressed(packed, **arrays)
        out.bytes(ARRAYS, packed.getvalue())
    else:
        out.remove(ARRAYS)


def _entry(statistic: Statistic[Any], fit: Fit[Any]) -> dict[str, Any]:
    saved = statistic.save(fit.value)
    entry = {"source": fit.source, "digest": digest_of(saved), "signature": statistic.told(fit)}
    arrays = isinstance(saved, Mapping) and any(isinstance(value, np.ndarray) for value in saved.values())
    return {**entry, "arrays" if arrays else "value": saved}


def read_entries(path: Path) -> dict[str, dict[str, Any]] | None:
    """The statistics in a run's folder (or its statistics.json) by key; None where there are none."""
    path = path / NAME if path.is_dir() else path
    if not path.is_file() or path.suffix != ".json":
        return None
    try:
        found = json.loads(path.read_text("utf-8"))
        if not isinstance(found, dict):
            raise ValueError("not a statistics file")
        entries = {key: entry for key, entry in found.items() if _is_entry(entry)}
        if not entries and found:
            return None
        packed = path.with_name(ARRAYS)
        if packed.is_file():
            with np.load(packed, allow_pickle=False) as arrays:
                for name in arrays.files:
                    key, _, part = name.rpartition("/")
                    if key in entries:
                        entries[key].setdefault("arrays", {})[part] = arrays[name]
    except (OSError, ValueError, KeyError, zipfile.BadZipFile) as fault:
        raise UsageError(f"{path}: not the statistics of a run ({fault})") from None
    return entries


def _is_entry(entry: Any) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("source"), str) and "digest" in entry


def stored(path: Path, statistic: Statistic[V]) -> Fit[V] | None:
    """A statistic of an earlier run; None where the path is neither a run's folder nor its statistics.json."""
    entries = read_entries(path)
    if entries is None:
        if path.is_dir():
            raise UsageError(f"{path}: no {NAME} in it; score into it first")
        return None
    entry = entries.get(statistic.key)
    if entry is None:
        raise UsageError(f"{path}: no {statistic.key} in it, only {', '.join(entries) or 'nothing'}")
    try:
        return Fit(statistic.load(entry["arrays"] if "arrays" in entry else entry["value"]), entry["source"])
    except (KeyError, ValueError, AttributeError, TypeError) as fault:
        raise UsageError(f"{path}: its {statistic.key} cannot be read ({fault})") from None
