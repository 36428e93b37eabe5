"""What a run in Python gives back: scores with their evidence, as objects, as tables, as a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from sightline.errors import extra
from sightline.io.paper_tables import latex_table, latex_text, markdown_table
from sightline.items import Failure, Item, Key, Score
from sightline.meta.comparison import files
from sightline.meta.comparison.page import Told, write_page
from sightline.meta.comparison.words import verdicts
from sightline.pipeline.finished import Finished
from sightline.report import write_report


@dataclass
class Result:
    """The scores of a run, the items that could not be scored, and a summary by metric."""

    items: tuple[Item, ...]
    """Empty where a folder was loaded that keeps none, as that of runs compared."""
    scores: list[Score] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    summary: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: str | Path) -> Result:
        """The results that a folder holds, as `sightline score` and `compare` leave them.

        Raises UsageError where there is no finished run in it, or one of a version that cannot be read.
        """
        run = Finished.open(Path(folder))
        items = tuple(run.items()) if run.keeps_items else ()
        return cls(items, list(run.scores()), list(run.failures()), run.summary)

    def to_pandas(self) -> Any:
        """One row per item, one column per metric; NaN where an item could not be scored."""
        pandas = extra("pandas", "pandas")
        columns = self._columns()
        index = pandas.Index(columns.pop("id"), name="id")
        return pandas.DataFrame(columns, index=index)

    def to_polars(self) -> Any:
        """The same of polars, with the ids in a column; null where an item could not be scored."""
        polars = extra("polars", "polars")
        columns = self._columns()
        return polars.DataFrame(
            {
                name: [None if value != value else value for value in column]
                for name, column in columns.items()
            },
            schema_overrides=dict.fromkeys(self.summary["metrics"], polars.Float64),
        )

    def to_markdown(self) -> str:
        """A table for a text: a row per system, each metric's published number with its interval."""
        head, rows = self._by_system()
        return "\n".join(markdown_table(head, rows)) + "\n"

    def to_latex(self) -> str:
        """The same as a booktabs table."""
        head, rows = self._by_system()
        cells = [[latex_text(cell) for cell in row] for row in rows]
        table = latex_table([latex_text(name) for name in head], cells, "l" + "r" * (len(head) - 1))
        return "\n".join(["% \\usepackage{booktabs}", *table, ""])

    def report(self, path: str | Path, title: str = "Sightline report") -> Path:
        """Write the HTML report and return where it is."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_report(path, self.items, self.scores, self.failures, title=title, summary=self.summary)
        return path

    def _columns(self) -> dict[str, list[Any]]:
        """Ids, systems where any is named, and the scores of each metric, an item a place."""
        found: dict[str, dict[Key, float]] = {spec: {} for spec in self.summary["metrics"]}
        for score in self.scores:
            found.setdefault(score.metric, {})[score.key] = score.score
        of_items = [item.key for item in self.items]
        of_scores = [*(score.key for score in self.scores), *(failure.key for failure in self.failures)]
        keys = list(dict.fromkeys(of_items or of_scores))
        columns: dict[str, list[Any]] = {"id": [id for id, _ in keys]}
        if any(system for _, system in keys):
            columns["system"] = [system for _, system in keys]
        return columns | {spec: [by_key.get(key, math.nan) for key in keys] for spec, by_key in found.items()}

    def _by_system(self) -> tuple[list[str], list[list[str]]]:
        metrics, systems = list(self.summary["metrics"]), self.summary.get("systems") or {}
        rows = systems or {"all": self.summary["metrics"]}
        return ["system", *metrics], [
            [name, *(files.spanned(found.get(metric)) for metric in metrics)] for name, found in rows.items()
        ]

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td><code>{escape(spec)}</code></td><td>{files.four_digits(files.published(row)[0])}</td>"
            f"<td>{escape(row['headline'])}</td><td>{row['n']}</td>"
            f"<td>{row['failed']}</td><td><small>{escape(row['signature'])}</small></td></tr>"
            for spec, row in self.summary["metrics"].items()
        )
        names = ("metric", "value", "of", "n", "failed", "signature")
        head = "".join(f"<th>{name}</th>" for name in names)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"

    def __repr__(self) -> str:
        values = ", ".join(
            f"{spec} {files.four_digits(files.published(row)[0])} (n={row['n']})"
            for spec, row in self.summary["metrics"].items()
        )
        return f"<Result: {values}; {len(self.failures)} failures>"


@dataclass
class Verdict:
    """Systems compared: each pair in each metric, why they differ, and the tables and the page that tell it."""

    told: Told

    @property
    def summary(self) -> dict[str, Any]:
        """What compare.json holds: `systems`, `pairs`, `d_hm`, `notes`, `why`."""
        told = files.told(self.told.found, self.told.summary["systems"])
        return {**told, "why": [reason.row for reason in self.told.reasons]}

    @property
    def failures(self) -> Sequence[Failure]:
        """The scores that could not be made, with the reason."""
        return self.told.failures

    def to_pandas(self) -> Any:
        """One row per metric and pair of systems."""
        pandas = extra("pandas", "pandas")
        return pandas.DataFrame(self.summary["pairs"])

    def to_polars(self) -> Any:
        """The same of polars."""
        polars = extra("polars", "polars")
        return polars.DataFrame(self.summary["pairs"])

    def to_markdown(self) -> str:
        """As compare.md: each system's values, each pair, why systems are worse, what to keep in mind."""
        why = [reason.sentence for reason in self.told.reasons]
        return files.markdown(self.told.found, self.told.summary["systems"], why)

    def to_latex(self) -> str:
        """Two booktabs tables."""
        return files.latex(self.told.found, self.told.summary["systems"])

    def report(self, path: str | Path) -> Path:
        """Write the HTML report and return where it is."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_page(path, self.told)
        return path

    def __repr__(self) -> str:
        return "\n".join(verdicts(self.told.found, self.told.summary["systems"]))

    def _repr_html_(self) -> str:
        told = verdicts(self.told.found, self.told.summary["systems"])
        return f"<ul>{''.join(f'<li>{escape(line)}</li>' for line in told)}</ul>"
