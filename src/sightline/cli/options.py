"""Options that several commands share, each written once: the same name, meaning and default wherever it is taken.

A command that measures takes them all by one decorator:

    @app.command()
    @measuring
    def score(file: Path, settings: "Settings", ...) -> None: ...

The parameter `settings` then stands for every parameter of `settings_of` below.
"""

import functools
import inspect
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from typer import Option

if TYPE_CHECKING:
    from sightline.pipeline.settings import Settings

PANEL = "What is measured with"

READ = "What is read"


class OnError(StrEnum):
    """What becomes of a line that is no item."""

    collect = "collect"
    stop = "stop"

    @property
    def reading(self) -> Literal["collect", "raise"]:
        return "raise" if self is OnError.stop else "collect"


FormatOption = Annotated[
    str | None, Option(help="The file's format, where it cannot be guessed.", rich_help_panel=READ)
]
OnErrorOption = Annotated[
    OnError,
    Option(
        help="A line that is no item: collect it in failures.jsonl and go on, or stop.", rich_help_panel=READ
    ),
]
EngineOption = Annotated[str, Option(help="local, or ray: on this machine or the cluster of RAY_ADDRESS.")]
WorkersOption = Annotated[
    int | None, Option(min=1, help="Processes that share the work; with ray all its cores by default.")
]
ResumeOption = Annotated[bool, Option("--resume", help="Go on with an unfinished run.")]
OverwriteOption = Annotated[bool, Option("--overwrite", help="Start over, whatever the folder holds.")]
OutOption = Annotated[Path, Option("--out", "-o", help="Folder for the results.")]


def _named(given: list[str] | None) -> list[str] | None:
    from sightline.registry import parse_specs

    return parse_specs(given) if given else given


_METRIC = Option(
    "--metric", "-m", help="NAME, NAME:key=value,… or NAME,NAME; may be repeated.", callback=_named
)
MetricOption = Annotated[list[str], _METRIC]
SomeMetricsOption = Annotated[list[str] | None, _METRIC]
JsonOption = Annotated[bool, Option("--json", help="Print what programs read instead of tables.")]
MaybeOutOption = Annotated[Path | None, Option("--out", "-o", help="Folder for the results.")]
RatingsOption = Annotated[
    Path | None,
    Option(help="Single ratings of the file's items, as 'sightline ratings export' writes them."),
]
NlpOption = Annotated[str, Option(help="embedded, or any spaCy pipeline.", rich_help_panel=PANEL)]
EncoderOption = Annotated[str, Option(help="pocket, or clip:NAME-or-PATH.", rich_help_panel=PANEL)]


def settings_of(
    encoder: EncoderOption = "pocket",
    nlp: NlpOption = "embedded",
    regions: Annotated[
        str, Option(help="proposer, windows, boxes, boxes:FILE.csv or detector:NAME.", rich_help_panel=PANEL)
    ] = "proposer",
    region_count: Annotated[int, Option(help="Regions per picture.", rich_help_panel=PANEL)] = 10,
    concreteness: Annotated[
        Path | None, Option(help="A word;rating file instead of the embedded lexicon.", rich_help_panel=PANEL)
    ] = None,
    theta: Annotated[
        str | None,
        Option(help="auto, corpus, shipped, a number, or a run's folder.", rich_help_panel=PANEL),
    ] = None,
    fit_on: Annotated[
        str | None,
        Option(
            help="The system that theta, idf and document frequencies are fitted on.", rich_help_panel=PANEL
        ),
    ] = None,
    idf: Annotated[
        str | None,
        Option(help="auto, corpus, shipped, a run's folder, or a saved idf file.", rich_help_panel=PANEL),
    ] = None,
    coherence: Annotated[
        str | None,
        Option(help="A sequence classifier for rovist-c: NAME or PATH.", rich_help_panel=PANEL),
    ] = None,
    vectors: Annotated[
        Path | None, Option(help="Word vectors (GloVe text form) for rovist-vg.", rich_help_panel=PANEL)
    ] = None,
    vg: Annotated[
        Path | None, Option(help="A model of `sightline train vg` for rovist-vg.", rich_help_panel=PANEL)
    ] = None,
    rater: Annotated[
        Path | None, Option(help="A model of `sightline train rater` for vicr.", rich_help_panel=PANEL)
    ] = None,
    judge_url: Annotated[
        str | None,
        Option(
            help="Address of the server that judges are behind: http://HOST:PORT/v1.", rich_help_panel=PANEL
        ),
    ] = None,
    judge_budget: Annotated[
        str | None,
        Option(help="What judges may cost: 500 requests, or '200000 tokens'.", rich_help_panel=PANEL),
    ] = None,
    option: Annotated[
        list[str] | None,
        Option(help="NAME=VALUE, a choice of single metrics; may be repeated.", rich_help_panel=PANEL),
    ] = None,
    cache: Annotated[Path | None, Option(help="Folder of the vector cache.", rich_help_panel=PANEL)] = None,
    no_cache: Annotated[
        bool, Option("--no-cache", help="Keep nothing between runs.", rich_help_panel=PANEL)
    ] = False,
    allow_urls: Annotated[
        bool,
        Option("--allow-urls", help="Fetch pictures from public addresses on the web.", rich_help_panel=READ),
    ] = False,
) -> "Settings":
    """What a run measures with, from what the user typed; pictures are fetched and kept as it says from now on."""
    from sightline.io.pictures import files
    from sightline.pipeline.settings import Settings

    chosen = (
        Settings(
            encoder=encoder, nlp=nlp, regions=regions, region_count=region_count, concreteness=concreteness
        )
        .with_options(
            theta=theta,
            fit_on=fit_on,
            idf=idf,
            coherence=coherence,
            vectors=str(vectors) if vectors else None,
            vg=str(vg) if vg else None,
            rater=str(rater) if rater else None,
            judge_url=judge_url,
            judge_budget=judge_budget,
        )
        .with_assignments(option or [])
    )
    if cache or no_cache:
        chosen = chosen.with_cache(None if no_cache else cache)
    files.keep_in(chosen.cache)
    files.allow_urls(allow_urls)
    return chosen


def measuring(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of `settings_of` in place of its parameter `settings`."""
    own = inspect.signature(command)
    if "settings" not in own.parameters:
        raise TypeError(f"{command.__name__} takes no settings")
    shared = inspect.signature(settings_of).parameters
    parameters = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, given in own.parameters.items()
        for parameter in (shared.values() if name == "settings" else (given,))
    ]

    @functools.wraps(command)
    def run(**given: Any) -> None:
        settings = settings_of(**{name: given.pop(name) for name in shared})
        command(**given, settings=settings)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
