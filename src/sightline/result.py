"""What a run in Python gives back: scores with their evidence, as objects, as a table, as a report."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from sightline.errors import extra
from sightline.items import Failure, Item, Score
from sightline.meta.comparison import output
from sightline.meta.comparison.page import Told, write_page
from sightline.meta.comparison.words import verdicts
from sightline.report import write_report


@dataclass
class Result:
    """The scores of a run, the items that could not be scored, and a summary by metric."""

    items: tuple[Item, ...]
    scores: list[Score] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    summary: Mapping[str, Any] = field(default_factory=dict)

    def to_pandas(self) -> Any:
        """One row per item, one column per metric; NaN where an item could not be scored."""
        pandas = extra("pandas", "pandas")
        columns = {
            spec: {s.key: s.score for s in self.scores if s.metric == spec}
            for spec in self.summary["metrics"]
        }
        keys = list(dict.fromkeys(item.key for item in self.items))
        frame = pandas.DataFrame(
            {spec: [found.get(key, math.nan) for key in keys] for spec, found in columns.items()},
            index=pandas.Index([id for id, _ in keys], name="id"),
        )
        if any(system for _, system in keys):
            frame.insert(0, "system", [system for _, system in keys])
        return frame

    def report(self, path: str | Path, title: str = "Sightline report") -> Path:
        """Write the HTML report and return where it is."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_report(path, self.items, self.scores, self.failures, title=title, summary=self.summary)
        return path

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{escape(spec)}</code></td>"
            f"<td>{'–' if row['mean'] is None else format(row['mean'], '.4f')}</td><td>{row['n']}</td>"
            f"<td>{row['failed']}</td><td><small>{escape(row['signature'])}</small></td></tr>"
            for spec, row in self.summary["metrics"].items()
        )
        head = "".join(f"<th>{name}</th>" for name in ("metric", "mean", "n", "failed", "signature"))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def __repr__(self) -> str:
        means = ", ".join(
            f"{spec} {'undefined' if row['mean'] is None else format(row['mean'], '.4f')} (n={row['n']})"
            for spec, row in self.summary["metrics"].items()
        )
        return f"<Result: {means}; {len(self.failures)} failures>"


@dataclass
class Verdict:
    """Systems compared: each pair in each metric, why they differ, and the tables and the page that tell it."""

    told: Told

    @property
    def summary(self) -> dict[str, Any]:
        """What compare.json holds: `systems`, `pairs`, `d_hm`, `notes`."""
        return output.told(self.told.found, self.told.summary["systems"])

    def to_pandas(self) -> Any:
        """One row per metric and pair of systems."""
        pandas = extra("pandas", "pandas")
        return pandas.DataFrame(self.summary["pairs"])

    def to_markdown(self) -> str:
        return output.markdown(self.told.found, self.told.summary["systems"])

    def to_latex(self) -> str:
        """Two booktabs tables."""
        return output.latex(self.told.found, self.told.summary["systems"])

    def report(self, path: str | Path) -> Path:
        """Write the HTML report and return where it is."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_page(path, self.told)
        return path

    def __repr__(self) -> str:
        return "\n".join(verdicts(self.told.found, self.told.summary["systems"]))
