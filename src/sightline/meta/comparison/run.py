"""A comparison from what the user named to its files: texts are scored in one run, runs become one measurement."""

import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from sightline.charts import counted
from sightline.errors import UsageError
from sightline.io import BadLine, read_items
from sightline.io.provenance import provenance
from sightline.io.results import ResultFolder
from sightline.io.scores import SCORES, ScoreWriter, read_scores
from sightline.items import Failure, Item, Score
from sightline.meta.comparison.board import UNNAMED, Board
from sightline.meta.comparison.contest import SAMPLES
from sightline.meta.comparison.one_measure import OneMeasure
from sightline.meta.comparison.output import write_comparison
from sightline.meta.comparison.page import Told, write_page
from sightline.meta.comparison.sources import Source
from sightline.meta.comparison.verdict import Comparison, compared
from sightline.metrics import Metric
from sightline.pipeline.files import scored_into
from sightline.pipeline.journal import InputDigest
from sightline.pipeline.run import Progress, Run
from sightline.pipeline.totals import Totals
from sightline.text.sentences import is_caption


@dataclass(frozen=True)
class Asked:
    """What a comparison is asked for besides its systems."""

    against: str | None = None
    human: str | None = None
    metrics: tuple[str, ...] | None = None
    """Of scores: those to compare, or all."""
    fit_on: str | None = None
    as_measured: bool = False
    samples: int = SAMPLES


@contextmanager
def compared_texts(
    items: Iterable[Item | BadLine], run: Run, out: ResultFolder, asked: Asked, progress: Progress
) -> Iterator[Told]:
    """Score the texts of all systems in one run, into a folder, and compare them there."""
    with scored_into(out, map(_with_system, items), run, progress) as written:
        failures = list(written.failures())
        told = judged(written.scores, failures, written.summary, asked, written.items)
        yield told


@contextmanager
def compared_scores(sources: Sequence[Source], out: ResultFolder, asked: Asked) -> Iterator[Told]:
    """Bring the scores of several runs together in a folder, as one measurement, and compare them there."""

    def every() -> Iterator[Score]:
        for score in chain.from_iterable(source.scores() for source in sources):
            if asked.metrics is None or score.metric in asked.metrics:
                yield score if score.system is not None else replace(score, system=UNNAMED)

    texts = {source: _texts_of(source) for source in sources}
    files = {source.name: str(texts[source] or source.path) for source in sources if source.name is not None}
    measure = OneMeasure(every, files=files, fit_on=asked.fit_on, as_measured=asked.as_measured)
    failures = [
        failure
        for failure in chain.from_iterable(source.failures() for source in sources)
        if asked.metrics is None or failure.metric in asked.metrics
    ]
    items = _known_items(texts) if all(texts.values()) else None
    groups, digest, captions = {}, InputDigest(), 0
    for item in items() if items else ():
        groups[item.id] = item.group
        digest.add(item)
        captions += is_caption(item)
    board = Board.of(measure, failures)
    summary = _put_together(out, board, measure, failures, groups)
    summary |= {**provenance(), "input": {"digest": str(digest)}}
    if items:
        summary |= {"captions": captions, "items": sum(1 for _ in items())}
    out.json("summary.json", summary)
    path = out.path / SCORES
    yield judged(lambda: read_scores(path), failures, summary, asked, items, measure.notes)


def _put_together(
    out: ResultFolder,
    board: Board,
    scores: Iterable[Score],
    failures: Sequence[Failure],
    groups: Mapping[str, str],
) -> dict[str, Any]:
    """All scores in one file, and the summary of them."""
    every = {spec: board.level(spec, board.columns[spec]) for spec in board.metrics}
    metrics = {
        spec: (board.metric(spec) or Metric()) if level == "corpus" else Metric()
        for spec, level in every.items()
    }
    totals, writer = Totals(metrics), ScoreWriter(out)
    try:
        for score in scores:
            if score.score == score.score:
                group = {"group": groups[score.id]} if score.id in groups else {}
                totals.add(score.metric, [Item(score.id, system=score.system, extra=group)], [score])
                writer.add([score], [])
        known = [failure for failure in failures if failure.metric in metrics]
        totals.fail(known)
        writer.add([], known)
    except BaseException:
        writer.abandon()
        raise
    writer.close()
    signatures = {spec: " / ".join(filter(None, board.signatures(spec))) for spec in board.metrics}
    found = totals.summary(signatures)
    return {
        **found,
        "items": len({id for columns in board.columns.values() for c in columns.values() for id in c.ids}),
    }


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
    board = Board.of(scores(), own)
    groups: dict[str, str] = {}
    for item in items() if items else ():
        groups.setdefault(item.id, item.group)
    lost = len({failure.source for failure in failures if failure.system is None})
    more = [f"{counted(lost, 'line')} could not be read as an item: failures.jsonl says why"] if lost else []
    found = compared(
        board, groups=groups, against=asked.against, human=asked.human, noun=_noun(summary, asked),
        notes=[*notes, *_of_failures(board), *more], samples=asked.samples,
    )  # fmt: skip
    return Told(found, board, summary, scores, failures, items)


def _noun(summary: Mapping[str, Any], asked: Asked) -> str:
    captions = summary.get("captions")
    if captions is None:
        return "story" if asked.human else "item"
    return "caption" if captions == summary["items"] else "item" if captions else "story"


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
    write_comparison(out, told.found, told.summary["systems"], {"signatures": signatures, **about})
    write_page(out.path / "report.html", told)
    return told.found


def _with_system(item: Item | BadLine) -> Item | BadLine:
    return item if isinstance(item, BadLine) or item.system is not None else replace(item, system=UNNAMED)


def _texts_of(source: Source) -> Path | None:
    """The file that a run's folder was made from, where it still lies there unchanged."""
    if not source.path.is_dir():
        return None
    try:
        summary = json.loads((source.path / "summary.json").read_text("utf-8"))
        words = shlex.split(summary["command"])
        digest = summary["input"]["digest"]
        path = next(Path(word) for word in words[2:] if Path(word).is_file())
        found = InputDigest()
        for item in read_items(path, on_error="collect"):
            if not isinstance(item, BadLine):
                found.add(item)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, StopIteration, UsageError):
        return None  # then the scores are all there is
    return path if str(found) == digest else None


def _known_items(texts: Mapping[Source, Path | None]) -> Callable[[], Iterator[Item]]:
    def every() -> Iterator[Item]:
        for source, path in texts.items():
            if path is not None:
                for item in replace(source, path=path).items(partial(read_items, on_error="collect")):
                    if isinstance(item, Item):
                        yield replace(item, system=item.system or UNNAMED)

    return every
