"""The public face: what a user asks of Sightline, each a function. The command line is thin over these."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from sightline.errors import UsageError
from sightline.generate.base import Decoding, axes_named
from sightline.generate.given import Captions, captions_of
from sightline.generate.run import Captioning, Describing
from sightline.io import BadLine, read_items
from sightline.io.given import items_given
from sightline.io.item_file import ItemFile
from sightline.io.pictures import files
from sightline.io.results import ResultFolder
from sightline.items import Item
from sightline.meta.comparison.board import UNNAMED
from sightline.meta.comparison.contest import SAMPLES
from sightline.meta.comparison.distance import PARTS
from sightline.meta.comparison.run import Asked, compared_scores, compared_texts, judged, write_told
from sightline.meta.comparison.sources import Reading, SystemSource, named, named_sources
from sightline.meta.comparison.verdict import Comparison
from sightline.meta.rivals import with_rivals
from sightline.pipeline.files import scored_into
from sightline.pipeline.memory import score_in_memory
from sightline.pipeline.plan import Plan
from sightline.pipeline.run import Progress, Run
from sightline.pipeline.settings import Settings
from sightline.report import write_report
from sightline.resources import Holder
from sightline.result import Result, Verdict


def score_file(
    source: Path | Sequence[Item],
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
    """Score a file, or items, into a folder of results with its report page, and return the summary.

    A run that is killed can be resumed. `summary["failures"]` counts the scores that could not be made.
    """
    items = ItemFile(source, format=format, on_error=on_error) if isinstance(source, Path) else source
    with (
        ResultFolder(folder, overwrite=overwrite, resume=resume) as out,
        scored_into(out, items, run, progress) as written,
    ):
        write_report(
            folder / "report.html",
            written.items(),
            written.stored_scores(),
            list(written.failures()),
            title=title or (source.name if isinstance(source, Path) else f"{len(source)} texts"),
            summary=written.summary,
        )
    return {**written.summary, "failures": out.failed}


def score(
    items: Any,
    metrics: Sequence[str] = ("groovist",),
    *,
    engine: str = "local",
    workers: int | None = None,
    cache: str | Path | bool | None = True,
    base: str | Path = ".",
    encoder: str = Settings.encoder,
    nlp: str = Settings.nlp,
    regions: str = Settings.regions,
    region_count: int = Settings.region_count,
    concreteness: str | Path | None = None,
    holder: Holder | None = None,
    format: str | None = None,
    allow_urls: bool = False,
    **options: str | float | None,
) -> Result:
    """Score items with metrics, as `sightline score` does.

    Arguments: `items`: the path of a file, or a list of Items and of dictionaries with the fields of JSON Lines, a data
    frame (pandas, polars), or a data set of Hugging Face; an item without an id has its number. A picture is a path
    relative to `base`, a PIL image, an array, bytes, or with `allow_urls` an address on the web. `metrics`: their names
    with options. `format` of a file. The rest are choices as on the command line; `options` are those of single
    metrics: `theta`, `idf`, `coherence`, … `cache`: a folder, True for the usual one, None or False for none. `workers`
    processes share the work; a script that asks for them does so under `if __name__ == "__main__":`.
    What is loaded is let go at the end; with a `Holder` of the caller's own it stays loaded for the next call.

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
    run = Run(
        metrics, settings, engine, holder, workers
    )  # what is wrong with the choices is told before anything is read
    files.keep_in(settings.cache)
    with files.from_the_web(allow_urls):
        ready = tuple(_read(items, base, format))
    kept = score_in_memory(ready, run)
    found = tuple(item for item in ready if isinstance(item, Item))
    return Result(found, kept.scores, kept.failures, kept.summary)


def _read(items: Any, base: str | Path, format: str | None) -> Iterator[Item | BadLine]:
    """The items of a file, its bad lines among them, or those that a program has at hand."""
    if isinstance(items, str | Path):
        return read_items(Path(items), format=format, on_error="collect")
    return items_given(items, Path(base))


def caption(
    pictures: Any,
    captioner: str = "pocket",
    axis: str | Sequence[str] = "object",
    *,
    beams: int = Decoding.beams,
    samples: int = Decoding.samples,
    temperature: float = Decoding.temperature,
    top_k: int = Decoding.top_k,
    top_p: float = Decoding.top_p,
    length: int = Decoding.length,
    seed: int = Decoding.seed,
    system: str | None = None,
    base: str | Path = ".",
    format: str | None = None,
    allow_urls: bool = False,
) -> Captions:
    """Describe pictures, as `sightline caption` does.

    Arguments: `pictures`: the path of a picture, a folder or a file of items; or a list of pictures (paths relative to
    `base`, PIL images, arrays, bytes), of Items or of dictionaries with `images`. `captioner`: its name, as
    `git:NAME-or-PATH`. `axis`: what to tell, one or several of object, scene, action, rationale, narrative. `beams` of
    the search, or how many `samples` to draw instead, with `temperature`, `top_k`, `top_p` and `seed`; tokens at most
    (`length`). `system`: what to call the captioner.

    Returns the captions as items and the failures. What people said of the pictures stands as references.
    Raises UsageError where the captioner or the choices are wrong.
    """
    decoding = Decoding(beams, samples, temperature, top_k, top_p, length, seed)
    axes = axes_named([axis] if isinstance(axis, str) else axis)
    describing = Describing(Captioning(captioner, axes, decoding, system))
    with files.from_the_web(allow_urls):
        return captions_of(describing, pictures, Path(base), format)


def compare(
    systems: Any,
    metrics: Sequence[str],
    *,
    against: str | None = None,
    human: str | None = None,
    samples: int = SAMPLES,
    base: str | Path = ".",
    **options: Any,
) -> Verdict:
    """Compare systems, measured as one: differences with intervals, who wins, and why.

    `systems` are items (or a file of them) that name their systems, or each system's items (or file) by its name.
    `against` compares all with one of them, not each with each; `human` names the system that is people, for d_HM;
    `fit_on` the one that theta, idf and document frequencies are fitted on. Other `options` are those of `score`.
    Bad lines of a file are failures of its system. Raises UsageError where no two systems share an item with a score.
    """
    several = list(systems.items()) if isinstance(systems, Mapping) else [("", systems)]
    with files.from_the_web(bool(options.get("allow_urls"))):
        items = [
            named(item, name or item.system or UNNAMED)
            for name, texts in several
            for item in _read(texts, base, options.get("format"))
        ]
    found = score(list(with_rivals(items, Plan.of(metrics))), metrics, **options)
    asked = Asked(against, human, tuple(metrics), samples=samples)
    return Verdict(
        judged(lambda: found.scores, found.failures, found.summary, asked, lambda: iter(found.items))
    )


def compare_paths(
    paths: Sequence[str],
    folder: Path,
    *,
    metrics: Sequence[str] | None = None,
    settings: Settings | None = None,
    against: str | None = None,
    human: str | None = None,
    as_measured: bool = False,
    samples: int = SAMPLES,
    sides: tuple[str | None, str | None] = (None, None),
    format: str | None = None,
    on_error: Literal["raise", "collect"] = "collect",
    engine: str = "local",
    workers: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    progress: Progress,
) -> tuple[Comparison, Mapping[str, Any], int]:
    """Compare systems into a folder of results: what they got, the verdict, and the exit status.

    `paths` are one file with a system on each line, `NAME=FILE` for each system, folders of runs, or two plain paths:
    people's texts and a system's. Texts are scored as one measurement; scores of runs are made one where they can be,
    else refused with the command that mends it.
    """
    settings = settings or Settings()
    sources = named_sources(paths, sides=sides)
    if len(sources) == 2 and all("=" not in path or Path(path).exists() for path in paths):
        human = human or sources[0].name
    scored = [source.holds_scores for source in sources]
    if not all(scored) and not metrics and human is None:
        raise UsageError("name what to compare them by: -m METRIC; 'sightline metrics' lists them")
    asked = Asked(
        against,
        human,
        tuple(metrics) if metrics else None,
        as_measured,
        samples,
    )
    with ResultFolder(folder, overwrite=overwrite, resume=resume) as out:
        run = None if all(scored) else Run(metrics or list(PARTS), settings, engine, workers=workers)
        reading = partial(read_items, format=format, on_error=on_error)
        if run is None:
            comparing = compared_scores(sources, out, asked, settings)
        elif any(scored):  # one of two plain paths is scored already: the other is, into a folder of its own
            sources = [
                source if source.holds_scores else _scored(source, run, out, reading, progress)
                for source in sources
            ]
            comparing = compared_scores(sources, out, asked, settings)
        else:
            items = chain.from_iterable(source.items(reading) for source in sources)
            comparing = compared_texts(items, run, out, asked, progress)
        with comparing as told:
            write_told(out, told)
    return told.found, told.summary["systems"], out.status


def _scored(
    source: SystemSource, run: Run, out: ResultFolder, reading: Reading, progress: Progress
) -> SystemSource:
    folder = out.path / str(source.name)
    with (
        ResultFolder(folder, overwrite=True) as inner,
        scored_into(inner, source.items(reading), run, progress),
    ):
        pass
    return SystemSource(folder, source.name)
