"""How a result came about: the command, when it ran, and the versions of what it was made with."""

import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

PACKAGES = ("sightline", "numpy", "scipy", "onnxruntime", "spacy", "pillow")
"""Packages whose version may change a number."""

_config: dict[str, Any] = {}
"""The file that options of this process's command come from, and those options."""


def say_config(file: str = "", options: Mapping[str, Any] | None = None) -> None:
    """Have every result tell which options of its command were not typed but come from a file; none, to forget it."""
    _config.clear()
    if options:
        _config.update(file=file, options=dict(options))


def provenance(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """`command`, `date` (UTC) and `versions`, as a summary and a page name them.

    Without a command line of Sightline's own the command is `Python`.
    """
    given = sys.argv if arguments is None else list(arguments)
    own = bool(given) and Path(given[0]).name.removesuffix(".exe") in ("sightline", "__main__.py")
    return {
        "command": shlex.join(["sightline", *given[1:]]) if own else "Python",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": {"python": platform.python_version(), **_versions()},
        **({"config": dict(_config)} if own and _config else {}),
    }


def without_places(command: str) -> str:
    """A command as a page that travels may show it: no folder of this machine in it."""
    try:
        words = shlex.split(command)
    except ValueError:
        return command
    return " ".join(shlex.quote(_named(word)) for word in words)


def _named(word: str) -> str:
    head, equals, tail = word.rpartition("=")
    return f"{head}{equals}{Path(tail).name}" if Path(tail).is_absolute() and len(tail) > 1 else word


def _versions() -> dict[str, str]:
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
