"""The command line: finds the commands, and turns wrong use into one clear line."""

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
console = Console()
errors = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)


def load_commands() -> typer.Typer:
    """Import every module of this folder, so that each adds its command."""
    for module in pkgutil.iter_modules(importlib.import_module("sightline.cli").__path__):
        importlib.import_module(f"sightline.cli.{module.name}")
    return app


def main() -> None:
    """Entry point of the `sightline` command."""
    try:
        load_commands()()
    except UsageError as fault:
        errors.print(f"sightline: {fault}")
        sys.exit(2)
