"""A comparison from what the user named to its files: texts are scored in one run, runs become one measurement."""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from sightline.charts import counted
from sightline.errors import UsageError
from sightline.io import BadLine
from sightline.io.provenance import provenance
from sightline.io.results import ResultFolder
from sightline.io.scores import SCORES, ScoreWriter, read_scores
from sightline.items import Failure, Item, Score
from sightline.meta.comparison.board import UNNAMED, Board, no_number
from sightline.meta.comparison.contest import SAMPLES
from sightline.meta.comparison.files import write_comparison
from sightline.meta.comparison.kept_folder import (
    digest_of,
    is_own,
    metrics_there,
    refuse_other_options,
)
from sightline.meta.comparison.makings import Making, noted
from sightline.meta.comparison.one_measure import measured_alike
from sightline.meta.comparison.page import Told, write_page
from sightline.meta.comparison.sources import SystemSource, named
from sightline.meta.comparison.verdict import Comparison, compared
from sightline.meta.rivals import with_rivals
from sightline.metrics import Metric
from sightline.pipeline.files import scored_into
from sightline.pipeline.finished import (
    Finished,
    differences,
    settings_of,
    shared_metrics,
    signature_parts,
    together,
)
from sightline.pipeline.run import Progress, Run
from sightline.pipeline.settings import Settings
from sightline.pipeline.totals import Totals
from sightline.text.sentences import is_caption


@dataclass(frozen=True)
class Asked:
    """What a comparison is asked for besides its systems."""

    against: str | None = None
    human: str | None = None
    metrics: tuple[str, ...] | None = None
    """Of scores: those to compare, or all."""
    as_measured: bool = False
    samples: int = SAMPLES

    @property
    def options(self) -> dict[str, Any]:
        """What compare.json tells of how systems were compared."""
        return {"against": self.against, "human": self.human, "samples": self.samples}


@contextmanager
def compared_texts(
    items: Iterable[Item | BadLine], run: Run, out: ResultFolder, asked: Asked, progress: Progress
) -> Iterator[Told]:
    """Score the texts of all systems in one run, into a folder, and compare them there."""
    refuse_other_options(out, asked.options)
    named = with_rivals(map(_with_system, items), run.plan)
    with scored_into(out, named, run, progress) as written:
        failures = list(written.failures())
        told = judged(written.scores, failures, written.summary, asked, written.items)
        yield told


@contextmanager
def compared_scores(
    sources: Sequence[SystemSource], out: ResultFolder, asked: Asked, settings: Settings | None = None
) -> Iterator[Told]:
    """Bring the scores of several runs together in a folder, as one measurement, and compare them there."""
    refuse_other_options(out, asked.options)
    runs = {str(source.name or source.path.name): source.finished for source in sources}
    finished = {name: run for name, run in runs.items() if run is not None}
    if len(finished) < len(sources) or asked.as_measured:
        yield _of_scores(sources, out, asked)
        return
    own = [name for name, run in finished.items() if is_own(run.folder, out)]
    if own and len(finished) > 1:
        raise UsageError(f"{out.path} is one of the runs that are compared ({own[0]}); give another folder")
    specs = None if asked.metrics is None else list(asked.metrics)
    about = _of_runs(finished, settings)
    if not own and (there := metrics_there(out, about)):
        specs = list(dict.fromkeys([*there, *(shared_metrics(finished) if specs is None else specs)]))
    found = together(finished, specs, settings)
    items = {item.key: item for name, run in finished.items() for item in _called(name, run)}
    summary = {**found.summary, **provenance(), "captions": sum(map(is_caption, items.values()))}
    summary |= {"items": len(items), **about}
    if own:
        out.failed = len(found.failures)
    else:
        writer = ScoreWriter(out)
        writer.add(found.scores, found.failures)
        writer.close()
        out.json("summary.json", summary)
    remade = [
        f"{one}: all were measured again as one, with {one.part} {signature_parts(now)[one.part]}"
        for one in differences(finished, specs)
        if (now := summary["metrics"][one.metric]["signature"])
    ]
    yield judged(lambda: found.scores, found.failures, summary, asked, lambda: items.values(), remade)


def _of_runs(finished: Mapping[str, Finished], settings: Settings | None) -> dict[str, Any]:
    """What a summary says of the input and the settings, where it is that of runs brought together."""
    inputs = {name: run.summary["input"] for name, run in finished.items()}
    first = next(iter(finished.values()))
    return {"input": {"digest": None, "runs": inputs}, "settings": settings_of(first, settings).told}


def _called(name: str, run: Finished) -> Iterator[Item]:
    """The items of a run; a run of one system gives it the run's name."""
    own = len(run.summary["systems"]) > 1
    return (item if own else replace(item, system=name) for item in run.items())


def _of_scores(sources: Sequence[SystemSource], out: ResultFolder, asked: Asked) -> Told:
    """Of scores that cannot be made again: they are taken as they are, where they were measured alike."""

    def every() -> Iterator[Score]:
        for score in chain.from_iterable(source.scores() for source in sources):
            if asked.metrics is None or score.metric in asked.metrics:
                yield score if score.system is not None else replace(score, system=UNNAMED)

    failures = [
        failure
        for failure in chain.from_iterable(source.failures() for source in sources)
        if asked.metrics is None or failure.metric in asked.metrics
    ]
    about = {"input": {"digest": digest_of([source.path for source in sources])}, "settings": {}}
    metrics_there(out, about)
    board = Board.of(every(), failures)
    notes = measured_alike(board, as_measured=asked.as_measured)
    failures += [no_number(one) for one in every() if not math.isfinite(one.score)]
    summary = _put_together(out, board, every(), failures) | provenance()
    summary |= about
    out.json("summary.json", summary)
    path = out.path / SCORES
    return judged(lambda: read_scores(path), failures, summary, asked, None, notes)


def _put_together(
    out: ResultFolder, board: Board, scores: Iterable[Score], failures: Sequence[Failure]
) -> dict[str, Any]:
    """All scores in one file, and the summary of them."""
    plain = Metric()  # compared by the mean: what a corpus-level value is made of is not there
    metrics = {
        spec: (board.metric(spec) or plain) if board.level(spec, columns) == "corpus" else plain
        for spec, columns in board.columns.items()
    }
    totals, writer = Totals(metrics), ScoreWriter(out)
    for score in scores:
        if math.isfinite(score.score):
            totals.add(score.metric, [Item(score.id, system=score.system)], [score])
            writer.add([score], [])
    known = [failure for failure in failures if failure.metric in metrics]
    totals.fail(known)
    writer.add([], known)
    writer.close()
    signatures = {spec: " / ".join(filter(None, board.signatures(spec))) for spec in board.metrics}
    ids = {id for columns in board.columns.values() for column in columns.values() for id in column.ids}
    return {**totals.summary(signatures), "items": len(ids)}


def judged(
    scores: Callable[[], Iterable[Score]],
    failures: Sequence[Failure],
    summary: Mapping[str, Any],
    asked: Asked,
    items: Callable[[], Iterable[Item]] | None,
    notes: Sequence[str] = (),
) -> Told:
    """The comparison of what was scored, with all that its files are made of."""
    own = [
        failure for failure in failures if failure.system is not None
    ]  # a line that is no item has no system
    made: dict[str, dict[str, Making]] = {}
    board = Board.of(noted(scores(), made), own)
    board.columns = {spec: board.columns[spec] for spec in summary["metrics"] if spec in board.columns}
    groups: dict[str, str] = {}
    for item in items() if items else ():
        groups.setdefault(item.id, item.group)
    lost = len({failure.source for failure in failures if failure.system is None})
    more = [f"{counted(lost, 'line')} could not be read as an item: failures.jsonl says why"] if lost else []
    found = compared(
        board, groups=groups, against=asked.against, human=asked.human, noun=_noun(summary, asked),
        notes=[*notes, *_of_faults(board), *_of_failures(board), *more], samples=asked.samples,
    )  # fmt: skip
    return Told(found, board, summary, scores, failures, items, asked.samples, made)


def _noun(summary: Mapping[str, Any], asked: Asked) -> str:
    captions = summary.get("captions")
    if captions is None:
        return "story" if asked.human else "item"
    return "caption" if captions == summary["items"] else "item" if captions else "story"


def _of_faults(board: Board) -> list[str]:
    """Which metrics are to be read the other way."""
    return [f"{spec} counts faults: lower is better" for spec in board.columns if board.counts_faults(spec)]


def _of_failures(board: Board) -> list[str]:
    """How many texts each system has no score for, and the most frequent reason."""
    notes = []
    for spec, by_system in board.failures.items():
        for system, reasons in by_system.items():
            most = max(
                set(reasons.values()), key=lambda reason: (list(reasons.values()).count(reason), reason)
            )
            notes.append(f"{spec}: {counted(len(reasons), 'item')} of {system} could not be scored ({most})")
    return notes


def write_told(out: ResultFolder, told: Told) -> Comparison:
    """compare.json, .md, .tex, .csv and report.html."""
    kept = ("command", "date", "versions", "input", "settings")
    about = {name: told.summary[name] for name in kept if name in told.summary}
    signatures = {spec: row["signature"] for spec, row in told.summary["metrics"].items()}
    told_of = {
        "why": [one.row for one in told.reasons],
        "signatures": signatures,
        "samples": told.samples,
        **about,
    }
    write_comparison(out, told.found, told.summary["systems"], told_of)
    write_page(out.path / "report.html", told)
    return told.found


def _with_system(item: Item | BadLine) -> Item | BadLine:
    return item if isinstance(item, BadLine) or item.system is not None else named(item, UNNAMED)
