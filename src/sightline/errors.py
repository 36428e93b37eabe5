"""Everything Sightline raises on purpose. Each message is one clear line for the person who reads it.

SightlineError            catches all of it
├── UsageError            the user must change something; the command exits with status 2
│   ├── BadLine           a line, row or record of a file is not an item: `where`, `reason`, `id`
│   ├── MissingExtra      a package that comes with an optional extra is not installed
│   └── UnwritableError   a full disk, no permission, a folder or file in the way of the results
└── Unscorable            a verdict on one item: a metric raises it, and it becomes a failure, never a number
"""

import difflib
import importlib
import importlib.metadata
import sys
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType


class SightlineError(Exception):
    """Base of all errors below."""


class UsageError(SightlineError):
    """Wrong use. The message is one clear line for the person who typed it; the command exits with status 2."""


class BadLine(UsageError):  # noqa: N818 - it is also handed on as a value
    """A line, row or record that is not an item: where it is, and what is wrong with it, and whose it is if known."""

    def __init__(self, where: str, reason: str, id: str = "", system: str | None = None) -> None:
        super().__init__(f"{where}: {reason}")
        self.where = where
        self.reason = reason
        self.id = id
        self.system = system

    def __reduce__(self) -> tuple[type["BadLine"], tuple[str, str, str, str | None]]:
        return type(self), (self.where, self.reason, self.id, self.system)  # whole on its way from a worker

    def of(self, system: str | None) -> "BadLine":
        """The same line, of this system."""
        return BadLine(self.where, self.reason, self.id, system)


class MissingExtra(UsageError):  # noqa: N818 - named for what is missing
    """A package that comes with an optional extra is not installed; the message has the command that installs it."""


class UnwritableError(UsageError):
    """A full disk, no permission, a folder or file in the way: what was wrong, and where."""


class Unscorable(SightlineError):  # noqa: N818 - a verdict on an item, not a fault of the program
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
        raise MissingExtra(f"this needs {package}: {install_command(f'sightline[{name}]')}") from missing


def install_command(what: str) -> str:
    """What to type for a package to be installed beside Sightline, by the installer that installed Sightline."""
    quoted = f"'{what}'" if "[" in what else what
    environment = Path(sys.prefix)
    own = what.startswith("sightline[")
    if (environment / "uv-receipt.toml").is_file():
        return f"uv tool install {quoted}" if own else f"uv tool install sightline --with {quoted}"
    if (environment / "pipx_metadata.json").is_file():
        return f"pipx install --force {quoted}" if own else f"pipx inject sightline {quoted}"
    try:
        installer = importlib.metadata.distribution("sightline").read_text("INSTALLER") or ""
    except importlib.metadata.PackageNotFoundError:
        installer = ""
    return f"{'uv pip' if installer.strip() == 'uv' else 'pip'} install {quoted}"
