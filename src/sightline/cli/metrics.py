"""`sightline metrics`: every metric, built in or installed, with one line each."""

from rich.table import Table

from sightline.cli.app import app, console
from sightline.features.base import options_of
from sightline.metrics import metrics


@app.command("metrics")
def list_metrics() -> None:
    """List the metrics with their options."""
    table = Table(show_lines=False)
    for name in ("metric", "what it measures", "options (defaults)"):
        table.add_column(name, overflow="fold")
    for name in metrics:
        options = ", ".join(f"{key}={value}" for key, value in options_of(metrics.get(name)()).items())
        table.add_row(name, metrics.describe(name), options)
    console.print(table)
