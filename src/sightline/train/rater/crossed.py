"""Train on one data set, test on another: every data set and all together, both ways (VICR, Table 5)."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError
from sightline.io.results import ResultFolder
from sightline.items import Item
from sightline.meta.evaluate import evaluate
from sightline.train.rater.pairs import RatedSet, combined
from sightline.train.rater.run import Form, fit_form
from sightline.train.rater.splits import Split, folds, rows_in

Floats = NDArray[np.float64]
CLIP = "clipscore"
TOGETHER = "combined"


@dataclass(frozen=True)
class Crossing:
    """One model on one test set: Kendall tau_c with single ratings."""

    trained_on: str
    tested_on: str
    tau_c: float | None
    low: float | None
    high: float | None
    pairs: int
    published: float | None = None
    """The paper's, where data sets of these names are crossed there; with ViLBERT's features."""


def crossed(
    sets: Sequence[RatedSet],
    clipscores: Sequence[Floats],
    form: Form,
    samples: int,
    seed: int,
    log: Callable[[str], None],
) -> list[Crossing]:
    """Each data set is split 64/16/20 by picture. A picture that several have is in the same part everywhere: no test
    picture of any is learned from."""
    if len(sets) < 2:
        raise UsageError("crossing needs at least two data sets")
    every = combined(sets)
    groups, clip = every.groups, np.concatenate(clipscores)
    starts = np.cumsum([0, *(len(one) for one in sets)])
    parts = {
        one.name: np.arange(start, end) for one, start, end in zip(sets, starts, starts[1:], strict=False)
    }
    split = _split([set(groups[part].tolist()) for part in parts.values()], seed)
    parts[TOGETHER] = np.arange(len(every))
    chosen = {kind: rows_in(groups, getattr(split, kind)) for kind in ("train", "validation", "test")}

    def rows(name: str, kind: str) -> NDArray[np.int64]:
        found = np.intersect1d(parts[name], chosen[kind])
        if len(found) < 2:
            raise UsageError(f"{name}: {len(found)} pairs to {kind} on are too few")
        return found

    printed = published()
    found = []
    for source in parts:
        model = fit_form(form, every.of(rows(source, "train")), every.of(rows(source, "validation")), seed)
        log(f"trained on {source}: {len(rows(source, 'train')):,} pairs")
        for target in parts:
            test = every.of(rows(target, "test"))
            tau = _tau(test, model.predict(test), samples, seed)
            found.append(Crossing(source, target, *tau, len(test), printed.get((source, target))))
    for target in parts:
        where = rows(target, "test")
        found.append(
            Crossing(CLIP, target, *_tau(every.of(where), clip[where], samples, seed), len(where),
                     printed.get((CLIP, target)))
        )  # fmt: skip
    return found


def _split(pictures: Sequence[set[str]], seed: int) -> Split:
    """The union of each data set's split; pictures of an earlier one stay where they are."""
    found = Split(frozenset(), frozenset(), frozenset())
    for own in pictures:
        fresh = sorted(own - found.seen - found.test)
        (more,) = folds(fresh, 1, seed) if fresh else (found,)
        found = Split(found.train | more.train, found.validation | more.validation, found.test | more.test)
    return found


def _tau(
    pairs: RatedSet, score: Floats, samples: int, seed: int
) -> tuple[float | None, float | None, float | None]:
    """Every single rating is an observation; pictures are resampled."""
    items = [
        Item(id, ratings={"rating": values}, extra={"group": str(group)})
        for id, values, group in zip(pairs.ids, pairs.ratings, pairs.groups, strict=True)
    ]
    scores = {"vicr": dict(zip((item.key for item in items), score.tolist(), strict=True))}
    (row,) = evaluate(items, scores, observations="each", samples=samples, seed=seed, agreement=False).rows
    low, high = row.ci["kendall_c"] or (None, None)
    return row.correlation.values["kendall_c"], low, high


def published() -> Mapping[tuple[str, str], float]:
    """The paper's Table 5, by what was trained on and tested on."""
    told = json.loads((files("sightline.meta") / "expected" / "crossed" / "vicr.json").read_text("utf-8"))
    return {(row["trained_on"], row["tested_on"]): row["value"] / 100 for row in told["numbers"]}


def table(found: Sequence[Crossing]) -> str:
    """Markdown: a row for each model, a column for each test set; times 100."""
    targets = list(dict.fromkeys(one.tested_on for one in found))
    rows = ["| trained on | " + " | ".join(targets) + " |", "|---" * (len(targets) + 1) + "|"]
    for source in dict.fromkeys(one.trained_on for one in found):
        cells = [_cell(one) for one in found if one.trained_on == source]
        rows.append(f"| {source} | " + " | ".join(cells) + " |")
    return "\n".join(rows) + "\n"


def _cell(one: Crossing) -> str:
    if one.tau_c is None:
        return "–"
    ends = (
        f" [{100 * one.low:.1f}, {100 * one.high:.1f}]"
        if one.low is not None and one.high is not None
        else ""
    )
    paper = f" (paper {100 * one.published:.1f})" if one.published is not None else ""
    return f"{100 * one.tau_c:.1f}{ends}{paper}"


def write(results: ResultFolder, found: Sequence[Crossing], about: Mapping[str, Any]) -> None:
    """crossed.json and crossed.md."""
    results.json("crossed.json", {**about, "rows": [vars(one) for one in found]})
    results.text(
        "crossed.md",
        "Kendall tau_c x 100 with single ratings, on test pictures that no model learned from (VICR, Table 5; "
        f"the paper's numbers are with ViLBERT's features on its own splits).\n\n{table(found)}",
    )
