"""Sightline tells how true a text is to its pictures.

>>> import sightline
>>> result = sightline.score("stories.jsonl", metrics=["groovist", "rovist-nr"])  # doctest: +SKIP
>>> result.to_pandas()  # doctest: +SKIP

`sightline.functional` has each formula as a function on plain values; `sightline.errors` tells what can be caught.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sightline import errors, functional
    from sightline.api import caption, compare, score
    from sightline.errors import (
        BadLine,
        MissingExtra,
        SightlineError,
        Unscorable,
        UnwritableError,
        UsageError,
    )
    from sightline.generate.given import Captions
    from sightline.io import read_items
    from sightline.items import Evidence, Failure, Item, Rating, Score
    from sightline.resources import Holder
    from sightline.result import Result, Verdict

    __version__: str

_HOME = {
    "sightline.api": ("caption", "compare", "score"),
    "sightline.generate.given": ("Captions",),
    "sightline.io": ("read_items",),
    "sightline.resources": ("Holder",),
    "sightline.result": ("Result", "Verdict"),
    "sightline.items": ("Evidence", "Failure", "Item", "Rating", "Score"),
    "sightline.errors": (
        "BadLine",
        "MissingExtra",
        "SightlineError",
        "Unscorable",
        "UnwritableError",
        "UsageError",
    ),
}
"""Where each public name lives. It is imported when first used, so that `import sightline` loads nothing else."""

__all__ = [
    "BadLine",
    "Captions",
    "Evidence",
    "Failure",
    "Holder",
    "Item",
    "MissingExtra",
    "Rating",
    "Result",
    "Score",
    "SightlineError",
    "Unscorable",
    "UnwritableError",
    "UsageError",
    "Verdict",
    "__version__",
    "caption",
    "compare",
    "errors",
    "functional",
    "read_items",
    "score",
]


def __getattr__(name: str) -> Any:
    if name in ("errors", "functional"):
        return importlib.import_module(f"sightline.{name}")
    if name == "__version__":
        from sightline.version import package_version

        found: Any = package_version()
    else:
        home = next((home for home, names in _HOME.items() if name in names), None)
        if home is None:
            raise AttributeError(f"module 'sightline' has no attribute '{name}'")
        found = getattr(importlib.import_module(home), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
