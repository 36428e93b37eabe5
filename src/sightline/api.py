"""The public face: what a user asks of Sightline, each a function. The command line is thin over these."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from sightline.errors import UsageError
from sightline.io import BadLine, item_from_dict, read_items
from sightline.io.results import ResultFolder
from sightline.items import Item
from sightline.pipeline.files import scored_into
from sightline.pipeline.memory import score_in_memory
from sightline.pipeline.run import Progress, Run
from sightline.pipeline.settings import Settings
from sightline.report import write_report
from sightline.resources import Holder
from sightline.result import Result


def score_file(
    source: Path,
    run: Run,
    folder: Path,
    *,
    format: str | None = None,
    resume: bool = False,
    overwrite: bool = False,
    title: str | None = None,
    progress: Progress,
) -> dict[str, Any]:
    """Score a file into a folder of results with its report page, and return the summary.

    A run that is killed can be resumed. `summary["failures"]` counts the scores that could not be made.
    """
    items = read_items(source, format=format, on_error="collect")
    with (
        ResultFolder(folder, overwrite=overwrite, resume=resume) as out,
        scored_into(out, items, run, progress) as written,
    ):
        write_report(
            folder / "report.html",
            written.items(),
            written.scores(),
            list(written.failures()),
            title=title or source.name,
            summary=written.summary,
        )
    return {**written.summary, "failures": out.failed}


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
    holder: Holder | None = None,
    **options: str | float | None,
) -> Result:
    """Score items (objects, dictionaries in the form of the JSON Lines contract, or a file) with metrics.

    Image paths in dictionaries are relative to `base`. Bad lines of a file are failures, a bad dictionary is an error.
    What is loaded is let go at the end; with a `Holder` of your own it stays loaded for the next call.
    `options` are named choices of single metrics: `theta`, `idf`,
    `coherence`, …
    """
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
    kept = score_in_memory(ready, Run(metrics, settings, engine, holder))
    found = tuple(item for item in ready if isinstance(item, Item))
    return Result(found, kept.scores, kept.failures, kept.summary)


def _item(given: object, base: Path, where: str) -> Item:
    if isinstance(given, Item):
        return given
    if not isinstance(given, Mapping):
        raise UsageError(
            f"{where} is a {type(given).__name__}; give an Item, or a dictionary as in JSON Lines"
        )
    return item_from_dict(given, base, where)
