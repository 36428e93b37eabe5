"""Captioners judged as in HL's paper: several runs with the same decoding, averaged, with intervals over pictures."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np
from numpy.typing import NDArray

from sightline.api import score
from sightline.errors import BadLine, UsageError
from sightline.generate.base import Axis, Decoding
from sightline.generate.files import known_or_described
from sightline.generate.journal import Journal
from sightline.generate.run import WHAT, Captioning, Described, Describing
from sightline.generate.subjects import Subject
from sightline.items import Failure, Item
from sightline.metrics.base import make_metric
from sightline.pipeline.resampling import drawn_sums, expanded_interval

METRICS: Final = {"cider": ("CIDEr", 100.0), "sacrebleu": ("SacreBLEU", 1.0), "rouge-l": ("ROUGE-L", 100.0)}
"""What is measured: its name in the paper, and what our number is multiplied by to be the paper's."""
SAMPLES: Final = 1000
Floats = NDArray[np.float64]
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Model:
    """A captioner in the table; it may have another model for each axis."""

    name: str
    specs: dict[str | None, str]
    """By axis; under None for all that has no own."""

    def spec(self, axis: str) -> str | None:
        return self.specs.get(axis, self.specs.get(None))


@dataclass(frozen=True)
class Value:
    """A metric of the paper, on the paper's scale."""

    mean: float
    """Over the runs."""
    low: float | None
    high: float | None
    """The 95 % interval of that mean, over pictures."""
    runs: tuple[float, ...]


@dataclass(frozen=True)
class Row:
    """A model on an axis."""

    model: str
    axis: Axis
    values: dict[str, Value]
    pictures: int
    runs: int
    failed: int
    """Captions that could not be made, over all runs; they are in no mean."""
    signature: str


@dataclass(frozen=True)
class Evaluated:
    rows: list[Row]
    described: dict[tuple[str, Axis], list[Described]]
    """Of the first run, for reading by eye."""
    items: list[Item]
    failures: list[Failure]


def models_named(specs: Sequence[str]) -> list[Model]:
    """`NAME=SPEC`, `NAME@AXIS=SPEC` for a model of one axis, or a bare spec, which is its own name."""
    found: dict[str, dict[str | None, str]] = {}
    for given in specs:
        name, equals, spec = given.partition("=")
        if not equals or ":" in name:
            name, spec = given, given
        name, _, axis = name.strip().partition("@") if equals and "@" in name else (name.strip(), "", "")
        own = found.setdefault(name, {})
        if (axis or None) in own:
            raise UsageError(f"--model: '{name}' has two captioners for {axis or 'all axes'}")
        own[axis or None] = spec
    return [Model(name, own) for name, own in found.items()]


@dataclass(frozen=True)
class Asked:
    """How captioners are judged."""

    models: Sequence[Model]
    axes: Sequence[Axis]
    decoding: Decoding
    runs: int

    @property
    def times(self) -> int:
        """Beam search has one outcome, so it is run once whatever is asked."""
        return self.runs if self.decoding.samples else 1


def evaluate(
    subjects: Iterable[Subject | BadLine], asked: Asked, journal: Journal, progress: Progress
) -> Evaluated:
    """Every model on every axis, over the pictures that have captions of it."""
    good: list[Subject] = []
    found = Evaluated([], {}, [], [])
    for one in subjects:
        if isinstance(one, Subject):
            good.append(one)
        else:
            found.failures.append(Failure(one.id, WHAT, one.reason, one.where))
    for axis in asked.axes:
        chosen = [one for one in good if one.told(axis) and len(one.images) == 1]
        if not chosen:
            has = sorted({caption.axis or "no axis" for one in good for caption in one.captions})
            raise UsageError(
                f"no picture has a caption of the axis '{axis}'; there are captions of {', '.join(has) or 'none'}"
            )
        _on_axis(axis, chosen, asked, journal, progress, found)
    return found


def _on_axis(
    axis: Axis,
    chosen: Sequence[Subject],
    asked: Asked,
    journal: Journal,
    progress: Progress,
    found: Evaluated,
) -> None:
    items: list[Item] = []
    failed: dict[str, int] = defaultdict(int)
    signatures: dict[str, str] = {}
    specs = {model.name: spec for model in asked.models if (spec := model.spec(axis)) is not None}
    if not specs:
        raise UsageError(f"no model is given for the axis '{axis}'")
    for name, spec in specs.items():
        for run in range(asked.times):
            decoding = replace(asked.decoding, seed=asked.decoding.seed + run)
            describing = Describing(Captioning(spec, (axis,), decoding, _system(name, run)))
            signature = describing.signatures[axis]
            signatures.setdefault(name, signature)
            label = f"{name}, {axis}" + f", run {run + 1}" * (asked.times > 1)
            told = known_or_described(
                describing, chosen, journal, partial(_tell, progress, label, len(chosen)), f"{signature}|"
            )
            made = [_named(one, _system(name, run)) for one in told if isinstance(one, Described)]
            items += [one.item for one in made if one.item]
            faults = [one.failure for one in made if one.failure]
            found.failures.extend(faults)
            failed[name] += len(faults)
            if run == 0:
                found.described[name, axis] = made
    if not items:
        raise UsageError(
            f"no captioner could tell the axis '{axis}' of any picture: {found.failures[-1].reason}"
        )
    measured = _values(items, list(specs), asked.times)
    for name in specs:
        values = measured[name]
        row = Row(name, axis, values, len(chosen), asked.times, failed[name], signatures[name])
        found.rows.append(row)
    found.items.extend(replace(item, id=f"{item.id}#{axis}") for item in items)


def _tell(progress: Progress, label: str, total: int, done: int) -> None:
    progress(label, done, total)


def _system(model: str, run: int) -> str:
    return f"{model} · run {run + 1}"


def _named(one: Described, system: str) -> Described:
    """Under this run's name, also where the journal remembers another model's by the same content."""
    item = replace(one.item, system=system) if one.item else None
    return replace(one, item=item, failure=replace(one.failure, system=system) if one.failure else None)


def _values(items: Sequence[Item], models: Sequence[str], times: int) -> dict[str, dict[str, Value]]:
    """Each model's metrics: pooled over the pictures of a run, the runs averaged; pictures resampled whole."""
    scored = score(list(items), list(METRICS), cache=None)
    pictures = {id: place for place, id in enumerate(dict.fromkeys(item.id for item in items))}
    found: dict[str, dict[str, Value]] = {}
    for name in models:
        found[name] = {}
        for spec, (_, scale) in METRICS.items():
            metric = make_metric(spec)
            sums: list[Floats] = []
            for run in range(times):
                system = _system(name, run)
                rows = [one for one in scored.scores if one.metric == spec and one.system == system]
                if not rows:
                    raise UsageError(f"{system}: no caption could be measured in {spec}")
                table = np.zeros((len(pictures), len(metric.addends(rows[0].evidence))))
                for one in rows:
                    table[pictures[one.id]] = metric.addends(one.evidence)
                sums.append(table)
            found[name][spec] = _value(metric.pooled, sums, scale)
    return found


def _value(pooled: Callable[[Floats], Floats], sums: Sequence[Floats], scale: float) -> Value:
    runs = [float(pooled(table.sum(0, keepdims=True))[0]) * scale for table in sums]
    count = len(sums[0])
    low = high = None
    if count > 1:
        drawn = drawn_sums(np.hstack(sums), SAMPLES, seed=0)
        widths = np.cumsum([table.shape[1] for table in sums])[:-1]
        each = np.array([pooled(part) for part in np.hsplit(drawn, widths)])
        low, high = (end * scale for end in expanded_interval(each.mean(0), count))
    return Value(sum(runs) / len(runs), low, high, tuple(runs))
