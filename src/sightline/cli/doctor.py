"""`sightline doctor`: what is installed, what is missing, and what to do about it."""

import json
from typing import Annotated

import typer
from rich import box
from rich.markup import escape
from rich.table import Table

from sightline.cli.app import app, console
from sightline.cli.examination import Finding, State, examine
from sightline.cli.options import JsonOption
from sightline.errors import UsageError

MARKS = {
    State.good: "[green]✓[/]",
    State.absent: "[dim]–[/]",
    State.note: "[yellow]![/]",
    State.broken: "[red]✗[/]",
}


@app.command(epilog="Example: sightline doctor --whole")
def doctor(
    as_json: JsonOption = False,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Also read every installed file, whether it is what was published."),
    ] = False,
) -> None:
    """Look at what is installed: extras, models, caches, GPU, Java; and say what mends what is missing."""
    found = examine(whole)
    if as_json:
        console.print_json(json.dumps([finding.told for finding in found]))
    else:
        show(found)
    broken = [finding for finding in found if finding.state is State.broken]
    if broken:
        raise UsageError(f"{broken[0].about} {broken[0].what}: {broken[0].remedy}")
    if not as_json:
        console.print("Everything that comes with Sightline works; a dash is what can be added.")


def show(found: list[Finding]) -> None:
    """A block for each part, each line with its mark."""
    table = Table(box=box.SIMPLE, show_header=False, padding=(0, 1, 0, 0))
    for _ in range(3):
        table.add_column(overflow="fold")
    for number, finding in enumerate(found):
        ends = number + 1 == len(found) or found[number + 1].part != finding.part
        what = escape(finding.what) + (f"\n[bold]{escape(finding.remedy)}[/]" if finding.remedy else "")
        table.add_row(MARKS[finding.state], escape(finding.about), what, end_section=ends)
    console.print(table)
