"""The whole of `sightline train rater`: sources in; a model, its test and a report out."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.encoders import Embedder
from sightline.encoders.pair_vectors import PairVectors
from sightline.encoders.together import Together
from sightline.errors import UsageError
from sightline.io.results import ResultFolder
from sightline.metrics.clipscore import clipscore
from sightline.train.rater import report
from sightline.train.rater.pairs import RatedSet, check_scale, combined, encode, parse_scale, unique
from sightline.train.rater.report import RaterFindings
from sightline.train.rater.run import FILE, Form, cross_test, final_model, save
from sightline.train.rater.sources import rated_items
from sightline.train.rater.splits import folds
from sightline.vision import Pictures


def load(
    sources: Sequence[str],
    data: Path | None,
    criterion: str | None,
    embedder: Embedder,
    pictures: Pictures,
    progress: Callable[[str, int], None] = lambda stage, done: None,
    format: str | None = None,
    ratings: Path | None = None,
    reader: Together | None = None,
) -> list[RatedSet]:
    """Every source's rated pairs, encoded (and read together), under a name that no other has."""
    if ratings is not None and len(sources) > 1:
        raise UsageError("--ratings belongs to one file of items; give that file alone")
    found = [rated_items(source, data, criterion, format, ratings) for source in sources]
    names = unique(one.name for one in found)
    return [
        encode(name, one.items, embedder, pictures, progress, one.failures, reader)
        for name, one in zip(names, found, strict=True)
    ]


def told(one: RatedSet) -> str:
    """A line on a data set: how much, what was left out and why, copies."""
    about = one.told()
    text = f"{one.name}: {about['pairs']:,} pairs of {about['pictures']:,} pictures, {about['ratings']:,} ratings"
    if one.failures:
        text += f"; {len(one.failures):,} left out (the first: {one.failures[0].reason})"
    if one.copies:
        text += f"; {one.copies:,} pictures are copies of others under another name and stay in one split with them"
    return text


def clipscores(sets: Sequence[RatedSet], embedder: Embedder) -> list[NDArray[np.float64]]:
    """clipscore of each pair with the encoder's vectors."""
    return [np.array([clipscore(float(c)) for c in embedder.calibration(one.cosine)]) for one in sets]


def looked_at(sets: Sequence[RatedSet], vectors: PairVectors | None, form: Form) -> list[RatedSet]:
    """The pairs with the encoder's vectors, or with those of a file."""
    if vectors is None:
        return list(sets)
    found = [one.seen_as(vectors) for one in sets]
    if form in ("bilinear", "network") and found[0].image.shape[1] != found[0].text.shape[1]:
        raise UsageError(
            f"--form {form} compares a picture's vector with its text's, and {vectors.resource.given} holds vectors of "
            "pairs: give --form paper or --recipe paper"
        )
    return found


def train(
    sets: list[RatedSet],
    embedder: Embedder,
    out: Path,
    form: Form,
    scale: str | None,
    count: int,
    samples: int,
    seed: int,
    log: Callable[[str], None],
    vectors: PairVectors | None = None,
    reader: Together | None = None,
) -> RaterFindings:
    """Test on held-out pictures, fit on all, save both with a report."""
    ends = check_scale(sets, parse_scale(scale) if scale else None)
    with ResultFolder(out) as results:
        together = reader.signature if reader else ""
        return _tested_and_saved(
            sets, embedder, results, form, ends, count, samples, seed, log, vectors, together
        )


def _tested_and_saved(
    sets: list[RatedSet],
    embedder: Embedder,
    results: ResultFolder,
    form: Form,
    ends: tuple[float, float],
    count: int,
    samples: int,
    seed: int,
    log: Callable[[str], None],
    vectors: PairVectors | None,
    together: str,
) -> RaterFindings:
    pairs, clip = combined(looked_at(sets, vectors, form)), clipscores(sets, embedder)
    signature = vectors.signature if vectors else embedder.signature
    splits = folds(pairs.group, count, seed)
    tested = cross_test(pairs, np.concatenate(clip), splits, form, log, seed)
    found = report.find(tested, ends, samples, seed)
    model = final_model(form, pairs, tested, splits[0], seed)
    about = {
        "form": form,
        "encoder": signature,
        "together": together,
        "scale": list(ends),
        "folds": count,
        "seed": seed,
        "learned_from": [one.told() for one in sets],
        "recipe": model.chosen,
    }
    with results.staged() as place:
        save(place / FILE, model, tested, pairs, signature, ends, [one.told() for one in sets], together)
    report.write(results, found, sets, about)
    return found
