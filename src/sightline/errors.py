"""Two kinds of trouble: the user must change something, or one item cannot be scored."""

import difflib
import importlib
from collections.abc import Iterable
from types import ModuleType


class UsageError(Exception):
    """Wrong use. The message is one clear line for the person who typed it; the command exits with status 2."""


class Unscorable(Exception):  # noqa: N818 - a verdict on an item, not a fault of the program
    """This item cannot be scored, and why. It becomes a line in failures.jsonl, never a number."""


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """An error for a name that does not exist, with the nearest one that does."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f"did you mean '{near[0]}'?" if near else f"known: {', '.join(known)}"
    return UsageError(f"unknown {kind} '{name}'; {hint}")


def extra(module: str, name: str) -> ModuleType:
    """Import a module that comes with an optional extra, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.split(".")[0] != module.split(".")[0]:
            raise
        package = module.split(".")[0]
        raise UsageError(f"this needs {package}: pip install 'sightline[{name}]'") from missing
