"""The public face: what a user asks of Sightline, each a function. The command line is thin over these."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from sightline.errors import UsageError
from sightline.io import BadLine, read_items
from sightline.io.given import items_given
from sightline.io.pictures import files
from sightline.io.results import ResultFolder
from sightline.items import Item
from sightline.pipeline.files import scored_into
from sightline.pipeline.memory import score_in_memory
from sightline.pipeline.run import Progress, Run
from sightline.pipeline.settings import Settings
from sightline.report import write_report
from sightline.result import Result


def score_file(
    source: Path,
    run: Run,
    folder: Path,
    *,
    format: str | None = None,
    on_error: Literal["raise", "collect"] = "collect",
    resume: bool = False,
    overwrite: bool = False,
    title: str | None = None,
    progress: Progress,
) -> dict[str, Any]:
    """Score a file into a folder of results with its report page, and return the summary.

    A run that is killed can be resumed. `summary["failures"]` counts the scores that could not be made.
    """
    items: Iterator[Item | BadLine] = read_items(source, format=format, on_error=on_error)
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
    items: Any,
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
    format: str | None = None,
    allow_urls: bool = False,
    **options: str | float | None,
) -> Result:
    """Score items with metrics, as `sightline score` does.

    Arguments: `items`: the path of a file, or a list of Items and of dictionaries with the fields of JSON Lines, a data
    frame (pandas, polars), or a data set of Hugging Face; an item without an id has its number. A picture is a path
    relative to `base`, a PIL image, an array, bytes, or with `allow_urls` an address on the web. `metrics`: their names
    with options. `format` of a file. The rest are choices as on the command line; `options` are those of single
    metrics: `theta`, `idf`, `coherence`, … `cache`: a folder, True for the usual one, None or False for none.

    Returns the scores with their evidence, the failures and a summary. Bad lines of a file are failures.
    Raises UsageError where the metrics, the choices or the items are wrong, BadLine for a bad dictionary.
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
    run = Run(metrics, settings, engine)  # what is wrong with the choices is told before anything is read
    files.keep_in(settings.cache)
    with files.from_the_web(allow_urls):
        ready: tuple[Item | BadLine, ...] = (
            tuple(read_items(Path(items), format=format, on_error="collect"))
            if isinstance(items, str | Path)
            else tuple(items_given(items, Path(base)))
        )
    kept = score_in_memory(ready, run)
    found = tuple(item for item in ready if isinstance(item, Item))
    return Result(found, kept.scores, kept.failures, kept.summary)
