"""`sightline meta`: do the metrics agree with people?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from sightline.cli.app import app, console
from sightline.cli.options import (
    EngineOption,
    FormatOption,
    OnError,
    OnErrorOption,
    OutOption,
    RatingsOption,
    SomeMetricsOption,
    WorkersOption,
    measuring,
)
from sightline.cli.progress import run_progress
from sightline.errors import BadLine, UsageError
from sightline.io import read_items
from sightline.io.results import ResultFolder
from sightline.items import Item
from sightline.meta.check import check as check_numbers
from sightline.meta.evaluate import SAMPLES, evaluate
from sightline.meta.experiments import ExperimentTable, ExperimentTask, make_experiment
from sightline.meta.experiments.files import write_experiment
from sightline.meta.experiments.words import compact
from sightline.meta.findings.files import write_findings
from sightline.meta.findings.words import (
    PEOPLE,
    TITLES,
    Findings,
    Value,
    criteria,
    numeric,
    pair_lines,
    reasons,
    table_of,
)
from sightline.meta.leaderboard import folders_for, made, write_leaderboard
from sightline.meta.leaderboard import table_of as board_table
from sightline.meta.protocols import make_protocol
from sightline.meta.protocols.likert import Likert
from sightline.meta.scoring import Scored, reads_pictures, score_items, shared_notes
from sightline.pipeline.settings import Settings


@app.command(
    epilog="Example: sightline meta --protocol flickr8k-expert --data flickr8k -m clipscore -m cider -o agreement"
)
@measuring
def meta(
    out: OutOption,
    settings: Settings,
    file: Annotated[Path | None, typer.Argument(help="Items with ratings, for a study of your own.")] = None,
    metric: SomeMetricsOption = None,
    protocol: Annotated[
        list[str] | None,
        typer.Option(help="A published protocol, or likert:scale=1-5; several make one table of all."),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder of a published protocol's files; of several: one for all, or one for each."
        ),
    ] = None,
    samples: Annotated[int, typer.Option(min=0, help="Bootstrap samples; 0 for no intervals.")] = SAMPLES,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap.")] = 0,
    ratings: RatingsOption = None,
    experiment: Annotated[
        str | None,
        typer.Option(
            help="ablation, random, references, splits (also splits:p=0.2325,t=1), ranking, length or order."
        ),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Hold published numbers against this run.")] = False,
    format: FormatOption = None,
    on_error: OnErrorOption = OnError.collect,
    engine: EngineOption = "local",
    workers: WorkersOption = None,
) -> None:
    """Correlate metrics with people's ratings: intervals, significance, and how far people agree."""
    with ResultFolder(out) as results:
        specs, folders = protocol or ["likert"], data or []
        if check:
            run_check(protocol or [], metric or [], folders, settings, results)
            return
        if len(specs) > 1:
            if experiment or ratings or file:
                raise UsageError(
                    "several protocols make one table: give -m and --data, no FILE and no experiment"
                )
            run_leaderboard(
                specs,
                folders,
                metric or [],
                partial(score_items, settings=settings, engine=engine, workers=workers),
                (samples, seed),
                results,
            )
            return
        spec = specs[0]
        name, run = make_experiment(experiment) if experiment else ("", None)
        if not metric and name not in ("ablation", "ranking"):
            raise UsageError("no metric is named; give -m NAME ('sightline metrics' lists them)")
        chosen = make_protocol(spec)
        if ratings is not None:
            if not isinstance(chosen, Likert) or file is None:
                raise UsageError("--ratings is for a study of your own: give its FILE of items")
            chosen = replace(chosen, ratings=ratings)
        place = one_folder(folders) or file
        if place is None:
            raise UsageError("give a FILE of items with ratings, or --protocol NAME with --data DIR")
        if data and file and name != "ablation":
            raise UsageError("give either a FILE or --data DIR, not both")
        metrics = list(dict.fromkeys(metric or ()))
        bad: list[BadLine] = []
        if format and not isinstance(chosen, Likert):
            raise UsageError(f"--format is for a file of your own; {spec} says which files it reads")
        if isinstance(chosen, Likert):
            own = _own(place, format, on_error, bad)
            items = list(own) if name == "order" else chosen.checked(own, place)  # order asks no people
        else:
            items = chosen.items(place, pictures=run is not None or reads_pictures(metrics))
        if run:
            found_items = [*items, *(read_items(file) if data and file else ())]
            with run_progress() as progress:
                score = partial(
                    score_items, settings=settings, engine=engine, workers=workers, progress=progress
                )
                work = ExperimentTask(
                    found_items,
                    metrics,
                    score,
                    headline=chosen.headline,
                    samples=samples,
                    seed=seed,
                    **chosen.rules(),
                )
                found_table = run(work)
            show_experiment(found_table, name, results)
            return
        with run_progress() as progress:
            scored = score_items(
                [*items, *bad], metrics, settings, engine=engine, workers=workers, progress=progress
            )
        found = evaluate(items, scored.scores, **chosen.rules(), samples=samples, seed=seed)
        found = replace(found, notes=(*found.notes, *scored.notes, *shared_notes(scored.evidence)))
        study = Findings(chosen, found, scored.signatures, scored.failures, place.name)
        write_findings(study, results)
        show_findings(study)
        console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
        tell_failures(results)


def _own(file: Path, format: str | None, on_error: OnError, bad: list[BadLine]) -> Iterator[Item]:
    """The items of somebody's own file; lines that are none are put aside, or end the run."""
    for found in read_items(file, format=format, on_error="collect"):
        if isinstance(found, BadLine):
            if on_error is OnError.stop:
                raise found
            bad.append(found)
        else:
            yield found


def tell_failures(results: ResultFolder) -> None:
    """Say how many scores could not be made, and exit with status 3 if any."""
    if results.failed:
        said = f"{results.failed} scores could not be made: {results.path / 'failures.jsonl'} says why."
        console.print(said, soft_wrap=True)
        raise typer.Exit(results.status)


def one_folder(data: Sequence[Path]) -> Path | None:
    """The folder that `--data` names, once."""
    if len(data) > 1:
        raise UsageError("--data is given several times for one protocol")
    return data[0] if data else None


def run_leaderboard(
    specs: list[str],
    data: list[Path],
    metrics: list[str],
    score: Callable[..., Scored],
    bootstrap: tuple[int, int],
    results: ResultFolder,
) -> None:
    """Metrics by benchmarks: one table on the screen, as a page, in Markdown and LaTeX."""
    if not data:
        raise UsageError("give --data DIR, the folder of the protocols' files, once or once for each")
    with run_progress() as progress:
        told = partial(score, progress=progress)
        board = made(specs, folders_for(specs, data), list(dict.fromkeys(metrics)), told, *bootstrap)
    write_leaderboard(board, results)
    console.print(screen_table("Metrics by benchmarks (times 100)", *board_table(board)))
    for note in board.notes:
        console.print(escape(note))
    console.print(f"Report: {results.path / 'report.html'}", soft_wrap=True)
    tell_failures(results)


def run_check(
    protocols: list[str],
    metrics: list[str],
    folders: Sequence[Path],
    settings: Settings,
    results: ResultFolder,
) -> None:
    """Print a verdict on every published number, and leave them all in check.json."""
    data = one_folder(folders)
    if data is None:
        raise UsageError("--check needs --data DIR, the folder of the protocols' files")
    with run_progress() as progress:
        verdicts = check_numbers(protocols, metrics, data, settings, progress)
    results.json("check.json", [verdict.to_json() for verdict in verdicts])
    table = Table(title="Published numbers (times 100)", title_justify="left")
    for name in ("protocol", "criterion", "metric", "coefficient", "published", "here", "verdict", "source"):
        table.add_column(name, justify="right" if name in ("published", "here") else "left", overflow="fold")
    for verdict in verdicts:
        row = verdict.published
        digits = 4 if row.coefficient == "corpus" else 1
        here = "–" if verdict.found is None else f"{verdict.found:.{digits}f}"
        named = TITLES.get(row.coefficient, row.coefficient)
        cells = (row.protocol, row.criterion, row.metric, named, f"{row.value:.{digits}f}", here)
        table.add_row(*map(escape, (*cells, verdict.verdict, row.source)))
    console.print(table)


def show_experiment(found: ExperimentTable, name: str, results: ResultFolder) -> None:
    """An experiment's table on the screen, in files (Markdown, JSON), and as a page with its plots."""
    write_experiment(found, results, name)
    console.print(screen_table(found.title, *compact(found, brief=True)))
    for note in found.notes:
        console.print(escape(note))
    console.print(f"Report: {results.path / f'{name}.html'}", soft_wrap=True)
    tell_failures(results)


def show_findings(study: Findings) -> None:
    """One table for each criterion, each with the reasons for what is missing."""
    for criterion in criteria(study.evaluation):
        title = f"{study.protocol.name}: {escape(criterion)} (times 100)"
        console.print(screen_table(title, *table_of(study, criterion, pairwise=False)))
        for line in (*reasons(study.evaluation, criterion), *pair_lines(study.evaluation, criterion)):
            console.print(escape(line))
    for note in study.evaluation.notes:
        console.print(escape(note))


def screen_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[Value]]) -> Table:
    """Values with their intervals below them."""
    table = Table(title=title, title_justify="left")
    for place, head in enumerate(heads):
        table.add_column(head, justify="right" if place and numeric(rows, place) else "left", overflow="fold")
    for row in rows:
        cells = [escape("\n".join(filter(None, value))) for value in row]
        table.add_row(*cells, style="dim" if row[0][0] == PEOPLE else None)
    return table
