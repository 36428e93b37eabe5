"""What a folder holds already when a comparison is to be written to it: nothing is replaced in silence."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sightline.errors import UsageError
from sightline.io.results import ResultFolder
from sightline.io.scores import SCORES
from sightline.pipeline.finished import Finished

SUMMARY = "summary.json"
COMPARISON = "compare.json"
OF_ONE_RUN = ("items.parquet", "statistics.json", "statistics.npz")
"""What the folder of a run holds and that of a comparison of runs does not."""
MENDS = "give another folder, or --overwrite to replace them"


def refuse_other_options(out: ResultFolder, options: Mapping[str, Any]) -> None:
    """Raises UsageError where the folder holds a comparison that was made with other options."""
    if out.overwrite or not out.holds(COMPARISON):
        return
    was = _read(out.path / COMPARISON)
    for name, value in options.items():
        if name in was and was[name] != value:
            told = f"{name} {was[name] or 'not given'}, not {value or 'not given'}"
            raise UsageError(f"{out.path} holds a comparison made with {told}; {MENDS}")


def metrics_there(out: ResultFolder, about: Mapping[str, Any]) -> list[str]:
    """The metrics that the folder has of this very input, which are compared again beside the new ones.

    `about` is the input and the settings as a summary tells them. Raises UsageError where the folder holds results of
    anything else. Where they are to be replaced, what does not belong to a comparison of runs goes.
    """
    if out.overwrite:
        out.remove(SUMMARY, *OF_ONE_RUN)
    elif out.holds(SUMMARY):
        was = Finished.open(out.path).summary
        if {name: was.get(name) for name in about} != json.loads(json.dumps(about)):
            raise UsageError(f"{out.path} holds results of another input ({was.get('items')} items); {MENDS}")
        return list(was["metrics"])
    return []


def is_own(path: Path, out: ResultFolder) -> bool:
    """Whether a run that is compared lies in the folder that the comparison goes to."""
    return path.resolve() == out.path.resolve()


def digest_of(paths: Sequence[Path]) -> str:
    """Of files of scores, or of those in folders."""
    found = hashlib.blake2b(digest_size=16)
    for path in paths:
        found.update((path / SCORES if path.is_dir() else path).read_bytes())
    return found.hexdigest()


def _read(path: Path) -> Mapping[str, Any]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as fault:
        raise UsageError(f"{path}: cannot be read ({fault}); {MENDS}") from None
    return found if isinstance(found, Mapping) else {}
