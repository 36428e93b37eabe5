"""The command line: finds the commands, and turns wrong use into one clear line."""

import contextlib
import ctypes
import importlib
import pkgutil
import sys

import typer
from rich.console import Console

from sightline.errors import UsageError

app = typer.Typer(
    name="sightline",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
M_ARENA_MAX = -8
"""Name of the setting in glibc's malloc.h."""

console = Console()
errors = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


@app.callback()
def sightline() -> None:
    """How true is a text to its pictures?"""


def load_commands(asked: str | None = None) -> typer.Typer:
    """Import the modules of this folder, so that each adds its command.

    Where a command is asked for by name, only its own module: what the others stand on takes seconds to import and a
    hundred megabytes.
    """
    names = [
        module.name for module in pkgutil.iter_modules(importlib.import_module("sightline.cli").__path__)
    ]
    own = [name for name in names if asked and (name == asked or name.startswith(f"{asked}_"))]
    for name in own or names:
        importlib.import_module(f"sightline.cli.{name}")
    return app


def share_heaps() -> None:
    """glibc gives each thread a heap of its own and little of it back: two for all save a quarter of the memory."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def main() -> None:
    """Entry point of the `sightline` command."""
    share_heaps()
    try:
        asked = load_commands(sys.argv[1] if len(sys.argv) > 1 else None)
        sys.exit(asked(standalone_mode=False) or 0)
    except UsageError as fault:
        errors.print(f"sightline: {fault}")
        sys.exit(2)
    except typer.TyperException as fault:
        errors.print(_one_line(fault), end="")
        sys.exit(2)
    except typer.Abort:
        sys.exit(1)


def _one_line(fault: typer.TyperException) -> str:
    """What Typer has to say of wrong use; nothing where it has shown a command's help already."""
    told = str(getattr(fault, "format_message", fault.__str__)()).strip()
    context = getattr(fault, "ctx", None)
    more = f" ('{context.command_path} --help' tells more)" if context else ""
    return f"sightline: {told}{more}\n" if told else ""
