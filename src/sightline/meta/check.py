"""Published numbers, and whether they come out here: reproduced, how far off, or not runnable and why."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from sightline.errors import UsageError
from sightline.meta.evaluate import Evaluation, evaluate
from sightline.meta.protocols import make_protocol
from sightline.meta.scoring import reads_pictures, score_items
from sightline.pipeline.run import Progress
from sightline.pipeline.settings import Settings

NEAR = 0.3
"""How near a coefficient, times 100, must come to count as reproduced."""


@dataclass(frozen=True)
class Published:
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


@dataclass(frozen=True)
class Verdict:
    """What became of a published number here."""

    published: Published
    found: float | None
    n: int | None
    verdict: str

    def to_json(self) -> dict[str, Any]:
        about = {name: getattr(self.published, name) for name in Published.__dataclass_fields__}
        return {**about, "found": self.found, "found_n": self.n, "verdict": self.verdict}


def published_numbers() -> list[Published]:
    """Every number in `expected/`, with its source spelled out."""
    found: list[Published] = []
    for entry in sorted((files("sightline.meta") / "expected").iterdir(), key=lambda e: e.name):
        if entry.name.endswith(".json"):
            data = json.loads(entry.read_text("utf-8"))
            found += [
                Published(**{**row, "source": data["source"][row["source"]]}) for row in data["numbers"]
            ]
    return found


def check(
    protocols: Sequence[str], metrics: Sequence[str], data: Path, settings: Settings, progress: Progress
) -> list[Verdict]:
    """Every published number of the protocols; all metrics where none is named."""
    verdicts: list[Verdict] = []
    wanted = [row for row in published_numbers() if not metrics or row.metric in metrics]
    for name in protocols or dict.fromkeys(row.protocol for row in wanted):
        rows = [row for row in wanted if row.protocol == name]
        reasons: dict[str, str] = {}
        evaluations: dict[str, Evaluation] = {}
        for metric in dict.fromkeys(row.metric for row in rows):
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
                evaluations[metric] = _evaluate(name, metric, data, settings, progress)
            except UsageError as fault:
                reasons[metric] = str(fault)
        verdicts += [_verdict(row, evaluations.get(row.metric), reasons.get(row.metric)) for row in rows]
    return verdicts


def _evaluate(name: str, metric: str, data: Path, settings: Settings, progress: Progress) -> Evaluation:
    protocol = make_protocol(name)
    items = protocol.items(data, pictures=reads_pictures([metric]))
    scored = score_items(items, [metric], settings, progress=progress)
    return evaluate(items, scored.scores, observations=protocol.observations, samples=0)


def _verdict(row: Published, evaluation: Evaluation | None, reason: str | None) -> Verdict:
    if evaluation is None:
        return Verdict(row, None, None, f"not runnable here: {reason}")
    correlation = evaluation.row(row.metric, row.criterion).correlation
    value = correlation.values[row.coefficient]
    if value is None:
        return Verdict(row, None, correlation.n, f"not defined here: {correlation.why}")
    gap = 100 * value - row.value
    verdict = "reproduced" if abs(gap) <= NEAR else f"differs by {gap:+.1f}"
    if row.n is not None and row.n != correlation.n:
        verdict += f" on {correlation.n:,} of {row.n:,} observations"
    return Verdict(row, 100 * value, correlation.n, verdict)
