"""Published numbers, and whether they come out here: reproduced, how far off, or not runnable and why."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from sightline.errors import UsageError, unknown
from sightline.io.table import Row, read_rows
from sightline.items import Item
from sightline.meta.correlation import ACCURACY
from sightline.meta.evaluate import Evaluation, evaluate
from sightline.meta.protocols import make_protocol
from sightline.meta.protocols import protocols as known_protocols
from sightline.meta.protocols.base import find
from sightline.meta.scoring import reads_pictures, score_items
from sightline.metrics import metrics as known_metrics
from sightline.pipeline.run import Progress
from sightline.pipeline.settings import Settings
from sightline.registry import parse_spec

NEAR = 0.3
"""How near a coefficient, times 100, must come to count as reproduced."""
EXACTLY = 1e-4
"""How near a corpus value, times 100, must come: it has no rounding and no ties."""
AREL = "vist-arel"
"""Not people's ratings but published scores of published stories."""


@dataclass(frozen=True)
class PublishedNumber:
    """One number of a paper."""

    protocol: str
    criterion: str
    metric: str
    coefficient: str
    value: float
    n: int | None
    source: str
    encoder: str | None = None
    """The kind of encoder it was measured with, for metrics that see pictures."""
    not_here: str | None = None
    """Why nobody can run it with public data."""
    option: str | None = None
    """The option of a run without which another thing would be measured: METEOR without its paraphrase table."""


@dataclass(frozen=True)
class CheckedNumber:
    """What became of a published number here."""

    published: PublishedNumber
    found: float | None
    n: int | None
    verdict: str

    def to_json(self) -> dict[str, Any]:
        about = {name: getattr(self.published, name) for name in PublishedNumber.__dataclass_fields__}
        return {**about, "found": self.found, "found_n": self.n, "verdict": self.verdict}


def published_numbers() -> list[PublishedNumber]:
    """Every number in `expected/`, with its source spelled out."""
    found: list[PublishedNumber] = []
    for entry in sorted((files("sightline.meta") / "expected").iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".json"):
            data = json.loads(entry.read_text("utf-8"))
            for row in data["numbers"]:
                about = {"source": data["source"][row["source"]]}
                reason = data.get("not_here", {}).get(row["source"])
                found.append(PublishedNumber(**{**row, **about, "not_here": reason}))
    return found


def check(
    protocols: Sequence[str], metrics: Sequence[str], data: Path, settings: Settings, progress: Progress
) -> list[CheckedNumber]:
    """Every published number of the protocols; all metrics where none is named."""
    if not data.is_dir():
        raise UsageError(f"{data} is no folder; --data names the folder of the protocols' files")
    verdicts: list[CheckedNumber] = []
    wanted = _wanted(protocols, metrics)
    for name in dict.fromkeys(row.protocol for row in wanted):
        rows = [row for row in wanted if row.protocol == name]
        reasons: dict[str, str] = {}
        evaluations: dict[str, Evaluation] = {}
        corpus: dict[str, tuple[float | None, int]] = {}
        for metric in dict.fromkeys(row.metric for row in rows if not row.not_here):
            lacking = [row.option for row in rows if row.metric == metric and row.option]
            if lacking and lacking[0] not in dict(settings.options):
                reasons[metric] = f"published with --option {lacking[0]}=FILE"
                continue
            if all(
                row.encoder and not settings.encoder.startswith(row.encoder)
                for row in rows
                if row.metric == metric
            ):
                reasons[metric] = (
                    f"published with a {rows[0].encoder or 'clip'} encoder; this run has {settings.encoder}"
                )
                continue
            try:
                if name == AREL:
                    corpus[metric] = arel_corpus(metric, data, settings, progress)
                else:
                    evaluations[metric] = _evaluate(name, metric, data, settings, progress)
            except UsageError as fault:
                reasons[metric] = str(fault)
        for row in rows:
            reason = row.not_here or reasons.get(row.metric)
            if name == AREL and reason is None:
                verdicts.append(_corpus_verdict(row, corpus[row.metric]))
            else:
                verdicts.append(_verdict(row, evaluations.get(row.metric), reason))
    return verdicts


def _wanted(protocols: Sequence[str], metrics: Sequence[str]) -> list[PublishedNumber]:
    """The numbers asked for; a name that has none is a mistake, not an empty table."""
    found = published_numbers()
    for kind, names, registry in (
        ("protocol", protocols, known_protocols),
        ("metric", metrics, known_metrics),
    ):
        there = {getattr(row, kind) for row in found}
        for name in names:
            if name not in there and parse_spec(name)[0] not in set(registry):
                raise unknown(kind, name, {*there, *registry})
        found = [row for row in found if not names or getattr(row, kind) in names]
        for name in names:
            if not any(getattr(row, kind) == name for row in found):
                where = f" on {', '.join(protocols)}" if kind == "metric" and protocols else ""
                raise UsageError(f"no published numbers for {name}{where}")
    return found


def arel_corpus(metric: str, data: Path, settings: Settings, progress: Progress) -> tuple[float | None, int]:
    """A metric's corpus value on AREL's published stories, and how many stories it scored."""
    known = {
        str(row["album_id"]): _texts(row["references"], where)
        for where, row in _rows(data, "vist_test_references.jsonl", "references")
    }
    pictures = tuple(Path(f"{n}.jpg") for n in range(5))  # never opened: five pictures make it a story
    items: list[Item] = []
    for where, row in _rows(data, "vist_arel_stories.jsonl", "story"):
        album = str(row["album_id"])
        if album not in known:
            raise UsageError(f"{where}: there are no references of album '{album}'")
        (text,) = _texts([row["story"]], where)
        items.append(Item(album, images=pictures, text=text, references=known[album], source=where))
    scored = score_items(items, [metric], settings, progress=progress)
    return scored.corpus[metric], len(scored.scores[metric])


def _rows(data: Path, name: str, need: str) -> Iterator[Row]:
    return read_rows(find(data, name), ("album_id", need))


def _texts(given: Any, where: str) -> tuple[str, ...]:
    if not isinstance(given, list) or not all(isinstance(text, str) for text in given):
        raise UsageError(f"{where}: not a list of texts")
    return tuple(given)


def _corpus_verdict(row: PublishedNumber, found: tuple[float | None, int]) -> CheckedNumber:
    value, n = found
    if value is None:
        return CheckedNumber(row, None, n, "not defined here: the metric has no corpus value")
    gap = 100 * value - row.value
    verdict = "reproduced" if abs(gap) <= EXACTLY else f"differs by {gap:+.3f}"
    return CheckedNumber(row, 100 * value, n, verdict)


def _evaluate(name: str, metric: str, data: Path, settings: Settings, progress: Progress) -> Evaluation:
    protocol = make_protocol(name)
    items = protocol.items(data, pictures=reads_pictures([metric]))
    scored = score_items(items, [metric], settings, progress=progress)
    return evaluate(items, scored.scores, **protocol.rules(), samples=0)


def _verdict(row: PublishedNumber, evaluation: Evaluation | None, reason: str | None) -> CheckedNumber:
    if evaluation is None:
        return CheckedNumber(row, None, None, f"not runnable here: {reason}")
    correlation = evaluation.row(row.metric, row.criterion).correlation
    found = evaluation.row(row.metric, row.criterion)
    value, n = found.values[row.coefficient], correlation.n
    if row.coefficient == ACCURACY:
        n = found.preferences.pairs
    if value is None:
        return CheckedNumber(row, None, correlation.n, f"not defined here: {correlation.why}")
    gap = 100 * value - row.value
    verdict = "reproduced" if abs(gap) <= NEAR else f"differs by {gap:+.1f}"
    if row.n is not None and row.n != n:
        verdict += f" on {n:,} of {row.n:,} observations"
    return CheckedNumber(row, 100 * value, n, verdict)
