"""`sightline metrics`: every metric, built in or installed, with one line each; or all about one."""

import inspect
from typing import Annotated

import typer
from rich.text import Text

from sightline.cli.app import app, console
from sightline.features.base import options_of
from sightline.metrics import metrics


@app.command("metrics", epilog="Example: sightline metrics groovist")
def list_metrics(
    name: Annotated[str | None, typer.Argument(help="Tell all about this one.")] = None,
) -> None:
    """List the metrics, a line each, with options; or tell about one, a judge's prompts too."""
    if name is not None:
        tell(name)
        return
    width = max(map(len, metrics))
    for name in metrics:
        options = ",".join(f"{key}={value}" for key, value in options_of(metrics.get(name)()).items())
        line = Text.assemble(
            (f"{name:<{width}}  ", "bold"), metrics.describe(name), (f"  {options}" if options else "", "dim")
        )
        console.print(line, soft_wrap=True)


def tell(name: str) -> None:
    """A metric's whole description, its options, and what else it has to say."""
    found = metrics.get(name)
    console.print(Text(f"{name}\n", "bold"), Text(inspect.getdoc(found) or ""), soft_wrap=True)
    for key, value in options_of(found()).items():
        console.print(Text(f"  {key}={value}", "dim"), soft_wrap=True)
    if more := found.more():
        console.print(Text(f"\n{more}"), soft_wrap=True)
