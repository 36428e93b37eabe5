"""A comparison in the terminal: two tables that fit 80 columns, and the verdict in sentences."""

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from sightline.charts import counted
from sightline.meta.comparison.files import chance, four_digits, published
from sightline.meta.comparison.verdict import Comparison
from sightline.meta.comparison.words import size, verdicts


def told(found: Comparison, systems: Mapping[str, Any]) -> Iterator[RenderableType]:
    """What the terminal shows of a comparison."""
    yield _values(found, systems)
    yield _pairs(found)
    for name, one in found.distances.items():
        parts = ", ".join(f"{metric} {part.deviation:.4f}" for metric, part in one.parts.items())
        d_hm = "undefined: a part is missing" if one.d_hm is None else f"{one.d_hm:.4f}"
        yield Text(f"d_HM of {name}: {d_hm} ({parts})")
    for line in verdicts(found, systems):
        yield Text(line)
    for note in found.notes:
        yield Text(f"Note: {note}")


def _values(found: Comparison, systems: Mapping[str, Any]) -> Table:
    """A row for each system and metric: however many metrics there are, it is no wider."""
    n = max(pair.contest.n for pair in found.pairs)
    table = Table(title=f"{counted(len(found.systems), 'system')}, {counted(n, found.noun)}")
    table.add_column("metric", overflow="fold")
    table.add_column("system", overflow="fold")
    for name in ("value", "95 %", "n", "failed"):
        table.add_column(name, justify="right", overflow="fold")
    for metric in found.metrics:
        for name in found.systems:
            row = systems.get(name, {}).get(metric)
            if row is None:
                continue
            value, low, high = published(row)
            span = "–" if low is None or high is None else f"{low:.4f} {high:.4f}"
            table.add_row(
                Text(metric), Text(name), four_digits(value), span, str(row["n"]), str(row["failed"])
            )
    return table


def _pairs(found: Comparison) -> Table:
    table = Table(
        caption=f"p after Holm's correction over {counted(len(found.pairs), 'comparison')}",
        caption_justify="left",
    )
    for name in ("metric", "a", "b"):
        table.add_column(name, overflow="fold")
    for name in ("a − b", "95 %", "p", "won tied lost"):
        table.add_column(name, justify="right", overflow="fold")
    for pair in found.pairs:
        one = pair.contest
        span = "–" if one.low is None or one.high is None else f"{size(one.low)} {size(one.high)}"
        counts = f"{one.wins} {one.ties} {one.losses}"
        table.add_row(
            Text(pair.metric),
            Text(pair.a),
            Text(pair.b),
            size(one.difference),
            span,
            chance(one.p_holm),
            counts,
        )
    return table
