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
    help="How true is a text to its pictures?",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
M_ARENA_MAX = -8
"""Name of the setting in glibc's malloc.h."""

console = Console()
errors = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


def load_commands() -> typer.Typer:
    """Import every module of this folder, so that each adds its command."""
    for module in pkgutil.iter_modules(importlib.import_module("sightline.cli").__path__):
        importlib.import_module(f"sightline.cli.{module.name}")
    return app


def share_heaps() -> None:
    """glibc gives each thread a heap of its own and little of it back: two for all save a quarter of the memory."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 2)


def main() -> None:
    """Entry point of the `sightline` command."""
    share_heaps()
    try:
        load_commands()()
    except UsageError as fault:
        errors.print(f"sightline: {fault}")
        sys.exit(2)
