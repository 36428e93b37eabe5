"""`sightline metrics`: every metric, built in or installed, with one line each."""

from rich.text import Text

from sightline.cli.app import app, console
from sightline.features.base import options_of
from sightline.metrics import metrics


@app.command("metrics")
def list_metrics() -> None:
    """List the metrics, one line each, with their options and defaults."""
    width = max(map(len, metrics))
    for name in metrics:
        options = ",".join(f"{key}={value}" for key, value in options_of(metrics.get(name)()).items())
        line = Text.assemble(
            (f"{name:<{width}}  ", "bold"), metrics.describe(name), (f"  {options}" if options else "", "dim")
        )
        console.print(line, soft_wrap=True)
