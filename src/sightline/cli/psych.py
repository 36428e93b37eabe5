"""`sightline psych`: how hard items are, how able raters are, how far they agree."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape
from rich.table import Table

from sightline.cli.app import app, console, errors
from sightline.errors import UsageError
from sightline.psychometrics.agreement.alpha import SCALES
from sightline.psychometrics.agreement.marking import check_phrases, word_agreement
from sightline.psychometrics.agreement.workers import GATES
from sightline.psychometrics.analysis import Analysis, PsychSettings, analyse
from sightline.psychometrics.choices import read_calls, read_choices
from sightline.psychometrics.model.preferences import fit_preferences
from sightline.psychometrics.pages.choices import (
    marking_in_short,
    preferences_in_short,
    write_marking,
    write_preferences,
)
from sightline.psychometrics.pages.files import write_analysis
from sightline.psychometrics.pages.verdicts import in_short
from sightline.psychometrics.reading import RatingTable, read_expert, read_ratings

SHOWN = 3
"""Items named in a line."""


@app.command(epilog="Example: sightline psych ratings.csv -o psych")
def psych(
    file: Annotated[
        Path, typer.Argument(help="Ratings: long (rater, item, rating) or wide CSV, JSON Lines or Parquet.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")],
    estimator: Annotated[
        str, typer.Option(help="mml (marginal) or cml (conditional).")
    ] = PsychSettings.estimator,
    model: Annotated[
        str, typer.Option(help="pcm (partial credit) or rsm (rating scale); two levels: Rasch.")
    ] = PsychSettings.model,
    covariate: Annotated[
        list[str] | None, typer.Option(help="A column that may explain ability; may be repeated.")
    ] = None,
    persons: Annotated[Path | None, typer.Option(help="A table with covariates, one row a person.")] = None,
    person: Annotated[str | None, typer.Option(help="The column that names people.")] = None,
    criterion: Annotated[str | None, typer.Option(help="Which criterion of a long file.")] = None,
    expert: Annotated[
        str | None,
        typer.Option(help="Expert ratings (a file item,rating[,image], or a rater's name): competency."),
    ] = None,
    gold: Annotated[
        list[str] | None, typer.Option(help="A gold annotator, for worker selection; repeat it.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(help="Keep workers with alpha_w / alpha_gold above this.")
    ] = PsychSettings.threshold,
    gate: Annotated[
        str,
        typer.Option(help="How workers are held against gold annotators: pooled (HL's words) or consensus."),
    ] = PsychSettings.gate,
    facets: Annotated[
        bool, typer.Option("--facets", help="Model each rater's severity and consistency.")
    ] = False,
    unused: Annotated[
        str, typer.Option(help="Levels nobody used: error, or collapse them.")
    ] = PsychSettings.unused,
    population: Annotated[
        str, typer.Option(help="Abilities: normal, or auto (normal unless the data say otherwise).")
    ] = PsychSettings.population,
    scale: Annotated[str, typer.Option(help=f"For alpha: {', '.join(SCALES)}.")] = PsychSettings.scale,
    evidence: Annotated[
        Path | None,
        typer.Option(help="A run folder whose metric's phrases are held against words that people marked."),
    ] = None,
    metric: Annotated[str, typer.Option(help="The metric of --evidence.")] = "groovist",
    samples: Annotated[
        int, typer.Option(min=1, help="Bootstrap samples for alpha's interval.")
    ] = PsychSettings.samples,
) -> None:
    """Partial credit model, latent regression, Wright map, agreement and worker selection."""
    if unused not in ("error", "collapse"):
        raise UsageError("--unused is error or collapse")
    if gate not in GATES:
        raise UsageError(f"--gate is one of {', '.join(GATES)}")
    if scale not in SCALES:
        raise UsageError(f"--scale is one of {', '.join(SCALES)}")
    if _choices(file, out, evidence, metric, samples):
        return
    ratings = read_ratings(
        file, person=person, covariates=covariate or (), criterion=criterion, persons_file=persons
    )
    known, images = _expert(expert, ratings) if expert else (None, {})
    if known is not None and expert in ratings.persons:
        ratings = ratings.without(expert)
    settings = PsychSettings(
        model=model,
        estimator=estimator,
        population=population,
        unused=unused,
        scale=next(s for s in SCALES if s == scale),
        gold=tuple(gold or ()),
        threshold=threshold,
        gate=next(g for g in GATES if g == gate),
        samples=samples,
        facets=facets,
        expert=known,
        images=images,
    )
    analysis = analyse(ratings, settings)
    write_analysis(analysis, out, file.name)
    console.print(items_table(analysis))
    for line in in_short(analysis):
        console.print(f"• {escape(line)}")
    for note in (*analysis.ratings.notes, *analysis.fit.responses.notes):
        console.print(f"Note: {escape(note)}.")
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
    if analysis.fit.responses.left_out:
        for line in _not_placed(analysis.fit.responses.left_out):
            errors.print(line, markup=False, soft_wrap=True)
        raise typer.Exit(3)


def _not_placed(left_out: Mapping[str, str]) -> Iterator[str]:
    """A line for each reason; items.csv has all of them."""
    for why in dict.fromkeys(left_out.values()):
        names = [name for name, reason in left_out.items() if reason == why]
        if len(names) == 1:
            yield f"sightline: item '{names[0]}' cannot be placed: {why}"
        else:
            more = f", … ({len(names)})" if len(names) > SHOWN else ""
            shown = ", ".join(f"'{name}'" for name in names[:SHOWN])
            yield f"sightline: items {shown}{more} cannot be placed: {why}"


def _choices(file: Path, out: Path, evidence: Path | None, metric: str, samples: int) -> bool:
    """Preferences and marked words have analyses of their own; False where the file holds ratings."""
    comparisons, marked = read_choices(file)
    if not comparisons and not marked:
        if evidence:
            raise UsageError("--evidence needs items with marked words (errors)")
        return False
    if comparisons:
        found = fit_preferences(comparisons)
        write_preferences(found, out, file.name)
        lines = preferences_in_short(found)
    else:
        agreement = word_agreement(marked, samples)
        check = check_phrases(marked, read_calls(evidence, metric), samples=samples) if evidence else None
        write_marking(marked, agreement, check, out, file.name)
        lines = marking_in_short(agreement, check)
    for line in lines:
        console.print(f"• {escape(line)}")
    console.print(f"Report: {out / 'report.html'}", soft_wrap=True)
    return True


def _expert(given: str, ratings: RatingTable) -> tuple[dict[str, float], dict[str, str]]:
    """Expert ratings from a file, or those of a rater of the same file."""
    if Path(given).is_file():
        return read_expert(Path(given))
    if given in ratings.persons:
        own = ratings.values[ratings.persons.index(given)]
        return {name: float(v) for name, v in zip(ratings.items, own, strict=True) if v == v}, {}
    raise UsageError(f"--expert '{given}' is neither a file nor a rater of the ratings")


def items_table(analysis: Analysis, most: int = 30) -> Table:
    """The items with their steps."""
    found = analysis.fit
    location, se = found.locations()
    steps = found.thresholds()[0]
    table = Table(
        title=f"{len(found.responses.persons)} people, log-likelihood {found.log_likelihood:.4f}",
        title_justify="left",
    )
    for name in ("item", "location", "± se", "steps"):
        table.add_column(name, justify="left" if name in ("item", "steps") else "right")
    for i, name in enumerate(found.responses.items[:most]):
        own = "  ".join(f"{step:+.3f}" for step in steps[found.design.item == i])
        table.add_row(escape(name), f"{location[i]:+.3f}", f"{se[i]:.3f}", own)
    if len(location) > most:
        table.caption = f"the first {most}; all are in items.csv"
    return table
