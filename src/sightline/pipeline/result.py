"""What a run in Python gives back: scores with their evidence, as objects, as a table, as a report."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import Any

from sightline.errors import UsageError, extra
from sightline.io.source import BadLine
from sightline.items import Evidence, Failure, Item, Score
from sightline.pipeline.journal import Journal
from sightline.pipeline.run import Run
from sightline.pipeline.settings import Settings


@dataclass
class Result:
    """The scores of a run, the items that could not be scored, and a summary by metric."""

    items: tuple[Item, ...]
    scores: list[Score] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    summary: Mapping[str, Any] = field(default_factory=dict)

    def add(self, scores: Sequence[Score], failures: Sequence[Failure]) -> None:
        self.scores.extend(scores)
        self.failures.extend(failures)

    def evidence(self, metric: str) -> Iterable[Evidence]:
        return (score.evidence for score in self.scores if score.metric == metric)

    def to_pandas(self) -> Any:
        """One row per item, one column per metric; NaN where an item could not be scored."""
        pandas = extra("pandas", "pandas")
        columns = {
            spec: {s.id: s.score for s in self.scores if s.metric == spec} for spec in self.summary["metrics"]
        }
        frame = pandas.DataFrame(
            columns, index=pandas.Index(dict.fromkeys(item.id for item in self.items), name="id")
        )
        systems = {item.id: item.system for item in self.items}
        if any(systems.values()):
            frame.insert(0, "system", [systems[id] for id in frame.index])
        return frame

    def report(self, path: str | Path, title: str = "Sightline report") -> Path:
        """Write the HTML report and return where it is."""
        from sightline.report import write_report

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


def score(
    items: Iterable[Item | Mapping[str, Any]] | str | Path,
    metrics: Sequence[str] = ("groovist",),
    *,
    engine: str = "local",
    cache: str | Path | bool | None = True,
    base: str | Path = ".",
    encoder: str = Settings.encoder,
    nlp: str = Settings.nlp,
    regions: str = Settings.regions,
    region_count: int = Settings.region_count,
    concreteness: str | Path | None = None,
    **options: str | float | None,
) -> Result:
    """Score items (objects, dictionaries in the form of the JSON Lines contract, or a file) with metrics.

    Image paths in dictionaries are relative to `base`. Bad lines of a file are failures, a bad dictionary is an error.
    `options` are named choices of single metrics: `theta`, `idf`,
    `coherence`, …
    """
    from sightline.io import read_items

    if isinstance(metrics, str):
        raise UsageError("metrics is a list of names: metrics=['groovist']")
    settings = Settings(
        encoder=encoder,
        nlp=nlp,
        regions=regions,
        region_count=region_count,
        concreteness=Path(concreteness) if concreteness else None,
    ).with_options(**{key: None if value is None else str(value) for key, value in options.items()})
    if cache is not True:
        settings = settings.with_cache(Path(cache) if cache else None)
    if isinstance(items, Item | Mapping):
        raise UsageError("items is a list of items, of dictionaries as in JSON Lines, or the path of a file")
    ready: tuple[Item | BadLine, ...] = (
        tuple(read_items(Path(items), on_error="collect"))
        if isinstance(items, str | Path)
        else tuple(_item(item, Path(base), f"item {number}") for number, item in enumerate(items, 1))
    )
    run = Run(metrics, settings, engine)
    result = Result(tuple(item for item in ready if isinstance(item, Item)))
    journal = Journal(None, run.fingerprint)
    result.summary = run.score(ready, journal, result, lambda stage, done: None)
    journal.close()
    return result


def _item(given: object, base: Path, where: str) -> Item:
    from sightline.io import item_from_dict

    if isinstance(given, Item):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(
            f"{where} is a {type(given).__name__}; give an Item, or a dictionary as in JSON Lines"
        )
    return item_from_dict(given, base, where)
