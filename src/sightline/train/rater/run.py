"""From rated pairs to a rater: tested on pictures it did not learn from, intervals fitted there, then fitted on all."""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.encoders.rater import predicted
from sightline.errors import UsageError, extra
from sightline.items import Item
from sightline.meta.evaluate import Evaluation, evaluate
from sightline.train.rater.bilinear import CHOICES, READ_CHOICES, BilinearRecipe, fit
from sightline.train.rater.errors import Range, ranges, rescale
from sightline.train.rater.intervals import coverage_of, half_widths
from sightline.train.rater.pairs import RatedSet
from sightline.train.rater.splits import Split, rows_in

Form = Literal["bilinear", "paper", "network", "exact"]
"""`paper` is its regressor with early stopping, `exact` the same to the letter."""
Floats = NDArray[np.float64]
Log = Callable[[str], None]
FILE = "rater.npz"


@dataclass(frozen=True)
class FittedRater:
    """A model's arrays and settings, and what was chosen on the way."""

    form: str
    arrays: Mapping[str, NDArray[Any]]
    settings: Mapping[str, Any]
    chosen: str

    def predict(self, pairs: RatedSet) -> Floats:
        return predicted(self.form, self.arrays, self.settings, *pairs.vectors, pairs.read)


def fit_form(form: Form, train: RatedSet, validation: RatedSet, seed: int = 0) -> FittedRater:
    """Fit on the training pictures; the validation pictures choose the penalties (and are then learned from too), or
    say when a network has to stop."""
    if form == "bilinear":
        losses = {
            recipe: float(np.mean((_bilinear(train, recipe).predict(validation) - validation.mean) ** 2))
            for recipe in (CHOICES if train.read is None else READ_CHOICES)
        }
        return _bilinear(_both(train, validation), min(losses, key=losses.__getitem__))
    extra("torch", "train")
    from sightline.train.rater.network import PAPER, REGULAR, NetworkRecipe, fit_network

    recipe = replace({"paper": NetworkRecipe(), "exact": PAPER}.get(form, REGULAR), seed=seed)
    arrays, settings = fit_network(train, validation, recipe)
    return FittedRater("network", arrays, settings, json.dumps(asdict(recipe)))


def _bilinear(pairs: RatedSet, recipe: BilinearRecipe) -> FittedRater:
    return FittedRater("bilinear", fit(pairs, recipe), {}, json.dumps(asdict(recipe)))


def _both(one: RatedSet, other: RatedSet) -> RatedSet:
    """Two parts of one data set."""
    return replace(
        one,
        picture=np.concatenate([one.picture, other.picture]),
        caption=np.concatenate([one.caption, other.caption]),
        ratings=one.ratings + other.ratings,
        ids=one.ids + other.ids,
        read=None if one.read is None or other.read is None else np.concatenate([one.read, other.read]),
    )


@dataclass(frozen=True)
class Tested:
    """Predictions for pairs whose pictures the model that made them had not seen, beside rescaled clipscore."""

    pairs: RatedSet
    fold: NDArray[np.int64]
    prediction: Floats
    rescaled: Floats
    clipscore: Floats
    covered: Floats
    """For every single rating: whether its 80 % interval holds it."""
    chosen: tuple[str, ...]

    def evaluation(self, samples: int = 1000, seed: int = 0) -> Evaluation:
        """Every single rating is an observation; pictures are resampled, both scores on the same ones."""
        groups = self.pairs.groups
        items = [
            Item(id, ratings={"rating": values}, extra={"group": str(group)})
            for id, values, group in zip(self.pairs.ids, self.pairs.ratings, groups, strict=True)
        ]
        keys = [item.key for item in items]
        scores = {
            "vicr": dict(zip(keys, self.prediction.tolist(), strict=True)),
            "clipscore": dict(zip(keys, self.clipscore.tolist(), strict=True)),
        }
        return evaluate(items, scores, observations="each", samples=samples, seed=seed)

    def ranges(self, scale: tuple[float, float], parts: int | None = None) -> list[Range]:
        """Absolute errors over the whole scale and by sub-range."""
        found = {"vicr": self.prediction, "clipscore, rescaled": self.rescaled}
        return ranges(self.pairs.mean, found, scale, parts)

    def only(self, rows: NDArray[np.int64]) -> "Tested":
        """Some of the pairs; intervals are counted rating by rating, so these are picked with their pairs."""
        ends = np.cumsum([0, *(len(values) for values in self.pairs.ratings)])
        kept = np.concatenate([np.arange(ends[n], ends[n + 1]) for n in rows])
        return Tested(
            self.pairs.of(rows),
            self.fold[rows],
            self.prediction[rows],
            self.rescaled[rows],
            self.clipscore[rows],
            self.covered[kept],
            self.chosen,
        )


def cross_test(
    pairs: RatedSet, clipscore: Floats, splits: list[Split], form: Form, log: Log, seed: int = 0
) -> Tested:
    """Fit once per split and predict its test pictures; intervals come from the other splits' test pictures."""
    prediction, rescaled = np.full(len(pairs), np.nan), np.full(len(pairs), np.nan)
    fold: NDArray[np.int64] = np.full(len(pairs), -1)
    held: list[tuple[Floats, RatedSet]] = []
    chosen: list[str] = []
    groups = pairs.groups
    for number, split in enumerate(splits):
        train, validation, test = (
            pairs.of(rows_in(groups, part)) for part in (split.train, split.validation, split.test)
        )
        model = fit_form(form, train, validation, seed)
        rows, seen = rows_in(groups, split.test), rows_in(groups, split.seen)
        fold[rows], prediction[rows] = number, model.predict(test)
        slope, intercept = rescale(clipscore[seen], pairs.mean[seen])
        rescaled[rows] = intercept + slope * clipscore[rows]
        chosen.append(model.chosen)
        if len(splits) == 1:
            alone = _alone(form, train, model, seed, validation)
            held.append((alone.predict(validation), validation))
        log(
            f"split {number + 1} of {len(splits)}: {len(train)} + {len(validation)} pairs, {len(test)} to test on"
        )
    tested = np.flatnonzero(fold >= 0)
    whole = Tested(pairs, fold, prediction, rescaled, clipscore, np.zeros(0), tuple(chosen))
    covered = _covered(whole, held)
    return (
        replace(whole, covered=covered).only(tested)
        if len(tested) < len(pairs)
        else replace(whole, covered=covered)
    )


def _alone(form: Form, train: RatedSet, model: FittedRater, seed: int, validation: RatedSet) -> FittedRater:
    """The model that has not learned from the validation pictures: networks never do."""
    return _bilinear(train, BilinearRecipe(**json.loads(model.chosen))) if form == "bilinear" else model


def _covered(whole: Tested, held: list[tuple[Floats, RatedSet]]) -> Floats:
    pairs, fold = whole.pairs, whole.fold
    found = [np.zeros(len(values)) for values in pairs.ratings]
    for number in sorted(set(fold[fold >= 0].tolist())):
        rows, others = np.flatnonzero(fold == number), np.flatnonzero((fold >= 0) & (fold != number))
        if len(others):
            edges, half = half_widths(whole.prediction[others], [pairs.ratings[n] for n in others])
        else:
            edges, half = half_widths(held[0][0], held[0][1].ratings)
        ratings = [pairs.ratings[n] for n in rows]
        inside = coverage_of(whole.prediction[rows], ratings, edges, half)
        for n, part in zip(rows, np.split(inside, np.cumsum([len(v) for v in ratings])[:-1]), strict=True):
            found[n] = part
    return np.concatenate(found)


def final_model(form: Form, pairs: RatedSet, tested: Tested, split: Split, seed: int = 0) -> FittedRater:
    """Fitted on all pairs, with the settings most splits chose; a network keeps a validation part to stop on."""
    if form == "bilinear":
        name = Counter(tested.chosen).most_common(1)[0][0]
        return _bilinear(pairs, BilinearRecipe(**json.loads(name)))
    groups = pairs.groups
    rest = split.train | split.test
    return fit_form(form, pairs.of(rows_in(groups, rest)), pairs.of(rows_in(groups, split.validation)), seed)


def save(
    path: Path, model: FittedRater, tested: Tested, pairs: RatedSet, encoder: str, scale: tuple[float, float],
    sets: list[dict[str, Any]], together: str = "",
) -> None:  # fmt: skip
    """One file without pickles: weights in half precision, interval, fingerprints of the pictures, and what it is."""
    if len(tested.pairs) < 2:
        raise UsageError("too few pairs were tested for an interval")
    edges, half = half_widths(tested.prediction, tested.pairs.ratings)
    shown = pairs.prints[np.unique(pairs.picture)]
    about = {
        "form": model.form,
        "encoder": encoder,
        "low": scale[0],
        "high": scale[1],
        "learned_from": sets,
        "recipe": json.loads(model.chosen),
        **({"together": together} if together else {}),
        **model.settings,
    }
    arrays: dict[str, Any] = {name: _stored(name, value) for name, value in model.arrays.items()}
    arrays |= {"edges": edges, "half_width": half, "seen": np.unique(shown, axis=0)}
    np.savez_compressed(path, about=np.array(json.dumps(about)), **arrays)


def _stored(name: str, weights: NDArray[Any]) -> NDArray[Any]:
    """In half precision; the cosine's curve in full, and so what half precision cannot hold (ratings to a million)."""
    small = name not in ("beta", "read_mean", "read_spread") and float(np.abs(weights).max()) < float(
        np.finfo(np.float16).max
    )
    return np.asarray(weights, np.float16 if small else np.float32)
