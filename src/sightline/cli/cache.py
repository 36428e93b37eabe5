"""`sightline cache`: what is kept between runs, how much of it, and whether it is whole."""

import re
from pathlib import Path
from typing import Annotated

import typer

from sightline.cli.app import app, console
from sightline.errors import UsageError
from sightline.io.pictures import default_cache
from sightline.pipeline import cache as room

UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size(text: str) -> int:
    """Bytes, from `500M` or `2 GB`."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?\s*", text, re.IGNORECASE)
    if not found:
        raise UsageError(f"--prune {text}: write a size as 500M or 2G")
    return int(float(found[1]) * UNITS[found[2].upper()])


@app.command("cache", epilog="Example: sightline cache --prune 2G")
def look_at_cache(
    folder: Annotated[Path | None, typer.Argument(help="The cache's folder; else the usual one.")] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Look at every row; damaged ones go, and are computed again.")
    ] = False,
    prune: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="Keep at most so much (500M, 2G), the newest; 0 for none."),
    ] = None,
) -> None:
    """Show the cache of vectors and regions; prune or verify it."""
    folder = folder or default_cache()
    most = None if prune is None else size(prune)
    if not (folder / room.FILE).exists():
        raise UsageError(f"{folder}: there is no cache; the first run that looks at pictures makes one")
    if verify:
        found = room.verify(folder)
        if not found.whole:
            console.print(
                f"{folder / room.FILE} was damaged as a file: it was made anew, empty.", soft_wrap=True
            )
        else:
            console.print(f"{found.rows:,} rows looked at, {found.damaged:,} damaged ones removed.")
    try:
        if most is not None:
            room.prune(folder, most)
        rows, held = room.look(folder)
    except room.FAULTS as fault:
        raise UsageError(f"{folder / room.FILE} cannot be read ({fault}); --verify mends it") from None
    console.print(f"{folder / room.FILE}: {rows:,} rows, {held / (1 << 20):,.1f} MiB", soft_wrap=True)
