"""Tutorials: notebooks that are run, and made into pages with what they print."""

import os
import re
import sys
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

LONGEST = 600
"""Seconds that a cell may take, on a machine that has other things to do."""
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


@dataclass(frozen=True)
class Ran:
    """A notebook after its run."""

    title: str
    page: str
    printed: int
    """Cells that left something to see."""


def ran_in(path: Path, folder: Path) -> Ran:
    """The notebook run whole in an empty folder; raises RuntimeError with the cell that fails."""
    folder.mkdir(parents=True)
    book = nbformat.read(path, as_version=4)
    programs = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    environment = {
        **os.environ,
        "PATH": programs,
        "COLUMNS": "110",
        "SIGHTLINE_CACHE": str(folder / "cache"),
        "NO_COLOR": "1",
    }
    client = NotebookClient(
        book,
        coalesce_streams=True,
        timeout=LONGEST,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        startup_timeout=300,
    )
    try:
        client.execute(env=environment)
    except CellExecutionError as fault:
        raise RuntimeError(f"{path.name}: {CONTROL.sub('', str(fault))}") from None
    cells = [cell_page(cell, folder) for cell in book.cells]
    printed = sum(bool(cell.get("outputs")) for cell in book.cells)
    return Ran(title("\n\n".join(cells)), "\n\n".join(cells) + "\n", printed)


def cell_page(cell: Any, folder: Path) -> str:
    if cell.cell_type == "markdown":
        return str(cell.source)
    code = "\n".join(line for line in cell.source.splitlines())
    kind = "sh" if all(line.startswith("!") for line in code.splitlines()) else "python"
    shown = re.sub(r"^!", "", code, flags=re.MULTILINE) if kind == "sh" else code
    return "\n\n".join(
        [f"```{kind}\n{shown}\n```", *filter(None, (output(one, folder) for one in cell.outputs))]
    )


def output(found: Any, folder: Path) -> str:
    """What a cell printed or showed, without the folder it ran in."""
    data = found.get("data", {})
    if "text/html" in data:
        bare = re.sub(r"<style.*?</style>", "", plain(data["text/html"], folder), flags=re.DOTALL)
        html = "\n".join(line for line in bare.replace("<th></th>", "<td></td>").splitlines() if line.strip())
        return f'<div class="output" tabindex="0">\n{html}\n</div>'
    text = plain(found.get("text") or data.get("text/plain") or "", folder).strip("\n")
    return f'<div class="output" tabindex="0"><pre>\n{escape(text)}\n</pre></div>' if text.strip() else ""


def plain(text: str, folder: Path) -> str:
    return CONTROL.sub("", text).replace(f"{folder}/", "").replace(str(folder), ".")


def title(page: str) -> str:
    found = re.search(r"^# (.+)$", page, re.MULTILINE)
    return found[1] if found else "?"


def opening(path: Path) -> tuple[str, str]:
    """A notebook's title and its first sentence, without running it."""
    first = str(nbformat.read(path, as_version=4).cells[0].source)
    words = " ".join(first.split("\n\n", 1)[1].split()) if "\n\n" in first else ""
    return title(first), re.split(r"(?<=[.!?])\s", words, maxsplit=1)[0]
