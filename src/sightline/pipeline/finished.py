"""Finished runs side by side: whether they measured alike, where not, and their scores made again so that they do."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from sightline.errors import UsageError, unknown
from sightline.features.base import Features, Fitted
from sightline.io.scores import FAILURES, SCORES, read_failures, read_scores
from sightline.items import DUPLICATE, Failure, Item, Score
from sightline.metrics import Metric, make_metric
from sightline.pipeline.batches import BATCH_ITEMS
from sightline.pipeline.kept import NAME as ITEMS
from sightline.pipeline.kept import KeptItems
from sightline.pipeline.memory import Kept
from sightline.pipeline.scoring import score_batch
from sightline.pipeline.settings import LocalTools, Settings
from sightline.pipeline.statistics import read_entries
from sightline.pipeline.totals import Totals


@dataclass(frozen=True)
class Finished:
    """The folder of a run that is done."""

    folder: Path
    summary: Mapping[str, Any]

    @classmethod
    def open(cls, folder: Path) -> "Finished":
        """Raises UsageError where the folder holds no finished run, or one of a version that cannot be read."""
        path = folder / "summary.json"
        try:
            summary = json.loads(path.read_text("utf-8"))
            if not isinstance(summary, dict) or not isinstance(summary["metrics"], dict):
                raise ValueError("not a summary")
        except FileNotFoundError:
            raise UsageError(f"{folder}: no finished run in it (summary.json is missing)") from None
        except (OSError, ValueError, KeyError) as fault:
            raise UsageError(f"{path}: not the summary of a run ({fault})") from None
        if not all(name in summary for name in ("systems", "versions", "input", "settings")):
            raise UsageError(f"{folder}: results of an older version of Sightline; score the file again")
        return cls(folder, summary)

    @property
    def metrics(self) -> list[str]:
        return list(self.summary["metrics"])

    @property
    def version(self) -> str:
        return str(self.summary["versions"].get("sightline"))

    def signature(self, spec: str) -> str:
        return str(self.summary["metrics"][spec]["signature"])

    @cached_property
    def statistics(self) -> Mapping[str, Mapping[str, Any]]:
        """What was fitted, by the statistic's key: `source`, `digest`, `signature`, and `value` or `arrays`."""
        return read_entries(self.folder) or {}

    @cached_property
    def kept(self) -> KeptItems:
        return KeptItems(self.folder)

    @property
    def keeps_items(self) -> bool:
        return (self.folder / ITEMS).is_file()

    def items(self) -> Iterator[Item]:
        return self.kept.items()

    def scores(self) -> Iterator[Score]:
        return read_scores(self.folder / SCORES)

    def failures(self) -> Iterator[Failure]:
        return read_failures(self.folder / FAILURES)


@dataclass(frozen=True)
class Difference:
    """A part of a metric's signature in which runs differ."""

    metric: str
    part: str
    values: Mapping[str, str]
    """By run."""
    fitted: bool
    """Whether it is a corpus statistic, which features that were kept can be held against anew."""

    def __str__(self) -> str:
        told = ", ".join(f"{value or 'none'} in {name}" for name, value in self.values.items())
        return f"{self.metric}: {self.part} is {told}"


def differences(runs: Mapping[str, Finished], specs: Iterable[str] | None = None) -> list[Difference]:
    """Where runs that are to be compared measured differently, metric by metric; of all that they share by default."""
    found = []
    for spec in shared_metrics(runs) if specs is None else specs:
        names = {statistic.name for statistic in make_metric(spec).fits()}
        parts = {name: signature_parts(run.signature(spec)) for name, run in runs.items()}
        for part in dict.fromkeys(key for one in parts.values() for key in one):
            values = {name: one.get(part, "") for name, one in parts.items()}
            if len(set(values.values())) > 1:
                found.append(Difference(spec, part, values, part in names))
    return found


def shared_metrics(runs: Mapping[str, Finished]) -> list[str]:
    """Metrics that every run has, in the order of the first."""
    first, *others = runs.values()
    return [spec for spec in first.metrics if all(spec in run.metrics for run in others)]


def signature_parts(signature: str) -> dict[str, str]:
    """`name|key:value|…` by key."""
    pairs = (part.partition(":") for part in signature.split("|"))
    return {key: value for key, colon, value in pairs if colon}


def together(
    runs: Mapping[str, Finished], specs: Sequence[str] | None = None, settings: Settings | None = None
) -> Kept:
    """The scores of finished runs as one measurement, their systems beside each other.

    Where the runs' corpus statistics differ, scores are made again from the features that were kept, with statistics
    fitted over all (or as the options `theta`, `idf` and `fit_on` of `settings` say, where they are given). A run of
    one system gives it the run's name. Raises UsageError, with what would mend it, where runs measured differently in
    anything else, or features were not kept.
    """
    specs = shared_metrics(runs) if specs is None else list(specs)
    for name, run in runs.items():
        for spec in specs:
            if spec not in run.metrics:
                raise UsageError(
                    f"{run.folder}: {name} has no {spec}; sightline score FILE -m {spec} -o {run.folder}"
                )
    metrics = {spec: make_metric(spec) for spec in specs}
    found = differences(runs, specs)
    if other := [one for one in found if not one.fitted]:
        raise UsageError(f"{other[0]}; score all files anew: {_command(runs, specs)}")
    chosen = settings is not None and any(dict(settings.options).get(n) for n in ("theta", "idf", "fit_on"))
    anew = {
        spec: metric
        for spec, metric in metrics.items()
        if metric.fits() and (chosen or any(one.metric == spec for one in found))
    }
    for name, run in runs.items() if anew else ():
        if not run.kept.holds(list(anew.values())):
            why = found[0] if found else f"{name} keeps no features of {', '.join(anew)}"
            raise UsageError(
                f"{why}, and cannot be measured again; score all files together: {_command(runs, specs)}"
            )
    called = _names(runs)
    kept, totals = Kept(), Totals(metrics)
    groups: dict[tuple[str, str | None], Item] = {}
    for name, run in runs.items():
        for item in map(called[name], run.items()):
            groups[item.key] = item
            totals.meet(item)
    _copy(runs, called, set(specs) - set(anew), kept, totals, groups)
    signatures = {spec: next(iter(runs.values())).signature(spec) for spec in specs}
    if anew:
        signatures |= _score_again(runs, called, anew, settings, kept, totals)
    kept.summary = {**totals.summary(signatures), "items": len(groups)}
    return kept


Renamed = Callable[[Item], Item]


def _names(runs: Mapping[str, Finished]) -> dict[str, Renamed]:
    """How the items of each run are called."""
    taken: dict[str, str] = {}
    called: dict[str, Renamed] = {}
    for name, run in runs.items():
        own = list(run.summary["systems"])
        systems = own if len(own) > 1 else [name]
        for system in systems:
            if system in taken:
                raise UsageError(
                    f"two systems are called '{system}', in {taken[system]} and {run.folder}; give one as NAME=FOLDER"
                )
            taken[system] = str(run.folder)
        called[name] = (lambda item: item) if len(own) > 1 else _renamed(name)
    return called


def _renamed(name: str) -> Renamed:
    return lambda item: replace(item, system=name)


def _copy(
    runs: Mapping[str, Finished],
    called: Mapping[str, Renamed],
    specs: set[str],
    kept: Kept,
    totals: Totals,
    items: Mapping[tuple[str, str | None], Item],
) -> None:
    """Scores that need not be made again, as they are."""
    for name, run in runs.items():
        own = len(run.summary["systems"]) > 1
        scores = [one if own else replace(one, system=name) for one in run.scores() if one.metric in specs]
        failures = [
            one
            for found in run.failures()
            if (one := found if own else replace(found, system=name)).metric in specs or _left_out(one, items)
        ]
        kept.add(scores, failures)
        totals.fail(failures)
        for score in scores:
            totals.add(score.metric, [items[score.key]], [score])


def _left_out(failure: Failure, items: Mapping[tuple[str, str | None], Item]) -> bool:
    """Whether it is of a line that is no item: it counts in every metric, also where scores are made again."""
    return failure.reason == DUPLICATE or failure.key not in items


def _score_again(
    runs: Mapping[str, Finished],
    called: Mapping[str, Renamed],
    metrics: Mapping[str, Metric],
    settings: Settings | None,
    kept: Kept,
    totals: Totals,
) -> dict[str, str]:
    """Scores from features; returns the signatures they then have."""
    first = next(iter(runs.values()))
    tools = LocalTools(settings_of(first, settings))
    corpus = _Corpus(runs, called, list(metrics.values()))
    chosen = tools.option("fit_on")
    if chosen is not None and chosen not in totals.systems:
        raise unknown("system", chosen, [name for name in totals.systems if name is not None])
    learned = corpus if chosen is None else _Corpus(runs, called, corpus.metrics, chosen)
    statistics = dict.fromkeys(statistic for metric in metrics.values() for statistic in metric.fits())
    try:
        fitted = Fitted({statistic: statistic.fit(learned, tools) for statistic in statistics})
    finally:
        tools.close()
    signatures = {spec: _signed(first.signature(spec), metric, fitted) for spec, metric in metrics.items()}
    stream = iter(corpus)
    while batch := list(islice(stream, BATCH_ITEMS)):
        for spec, metric in metrics.items():
            items, scores, failures = score_batch(spec, metric, batch, fitted, signatures[spec])
            kept.add(scores, failures)
            totals.add(spec, items, scores)
            totals.fail(failures)
    return signatures


def _signed(signature: str, metric: Metric, fitted: Fitted) -> str:
    """A signature with the statistics that are fitted now."""
    now = {statistic.name: fitted.told(statistic) for statistic in metric.fits()}
    parts = [part.partition(":")[0] for part in signature.split("|")]
    old = signature.split("|")
    return "|".join(f"{key}:{now[key]}" if key in now and n else old[n] for n, key in enumerate(parts))


@dataclass(frozen=True)
class _Corpus:
    """The kept features of several runs, as something statistics can stream over as often as they like."""

    runs: Mapping[str, Finished]
    called: Mapping[str, Renamed]
    metrics: Sequence[Metric]
    system: str | None = None

    def __iter__(self) -> Iterator[Features]:
        for name, run in self.runs.items():
            for got in run.kept.features(self.metrics):
                got.item = self.called[name](got.item)
                if self.system is None or got.item.system == self.system:
                    yield got


def settings_of(run: Finished, chosen: Settings | None = None) -> Settings:
    """What a run was measured with; where statistics come from as chosen now, or afresh."""
    told = dict(run.summary["settings"])
    concreteness = told.pop("concreteness", "embedded")
    made = Settings(
        encoder=str(told.pop("encoder", Settings.encoder)),
        nlp=str(told.pop("nlp", Settings.nlp)),
        regions=str(told.pop("regions", Settings.regions)),
        region_count=int(told.pop("region_count", Settings.region_count)),
        concreteness=None if concreteness == "embedded" else Path(concreteness),
    )
    kept = {name: str(value) for name, value in told.items() if name not in ("theta", "idf", "fit_on")}
    return made.with_options(**kept, **(dict(chosen.options) if chosen else {}))


def _command(runs: Mapping[str, Finished], specs: Sequence[str]) -> str:
    files = " ".join(f"{name}=FILE" for name in runs)
    return f"sightline compare {files} {' '.join(f'-m {spec}' for spec in specs)} -o DIR"
