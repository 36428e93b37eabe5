"""How good the caption rater is on pictures (and captions) it did not learn from. Needs the folder of real data.

    python benchmarks/measure_rater.py [--plain] [--part bilinear --part crowdflower …]

Flickr8k-Expert in five folds by picture: 64 % to learn from, 16 % to choose on, 20 % to test on. The photo's own
captions (158 pairs) are learned from but never tested on, so that the tested rows are those of the protocol
`flickr8k-expert`: 5,664 pairs, 16,992 ratings. `strict` also leaves out, for each test pair, every training pair with
its caption. `crowdflower` is five folds of a rater that learns from CrowdFlower's yes and no. Then a rater of all of
Expert is tested on VICR's public sample and on Composite, with the share of their ratings that the shipped rater's
intervals hold. `copies` tests the fingerprints of pictures. The pairs are read together too, unless `--plain`.
"""

import argparse
import io
import os
from pathlib import Path

import numpy as np
from PIL import Image

from sightline.encoders.rater import fingerprint, half_width_at, load_rater, same_picture
from sightline.encoders.together import Together, load_together
from sightline.items import Item
from sightline.meta.evaluate import MetricDifference, evaluate
from sightline.pipeline.settings import LocalTools, Settings
from sightline.train.rater import report
from sightline.train.rater.bilinear import READ_CHOICES, BilinearRecipe, fit
from sightline.train.rater.pairs import RatedSet, encode
from sightline.train.rater.run import FittedRater, Tested, cross_test
from sightline.train.rater.sources import rated_items
from sightline.train.rater.splits import folds
from sightline.train.rater.train import clipscores

DATA = Path(os.environ.get("SIGHTLINE_DATA", Path(__file__).parents[2] / "shared" / "data"))
SCALE = (1.0, 4.0)


def foreign(pairs: RatedSet) -> np.ndarray:
    """Pairs whose caption is not the photo's own: ids are `photo|photo#k`."""
    return np.array(
        [n for n, id in enumerate(pairs.ids) if id.split("|")[1].split("#")[0] != id.split("|")[0]]
    )


def show(title: str, tested: Tested, scale: tuple[float, float] = SCALE) -> None:
    found = report.find(tested, scale)
    print(f"\n{title}: {len(tested.pairs):,} pairs, {sum(map(len, tested.pairs.ratings)):,} ratings")
    for line in report.lines(found):
        print("  " + line)
    if found.error_ci:
        low, high = found.error_ci
        print(f"  absolute error saved against rescaled clipscore, 95 %: {low:.4f} to {high:.4f}")
    if found.coverage_ci:
        low, high = found.coverage_ci
        print(
            f"  held by the 80 % intervals, 95 %: {100 * low:.1f} to {100 * high:.1f}; half width {found.width:.2f}"
        )
    times = [len(values) for values in tested.pairs.ratings]
    values = np.concatenate([np.array(v) for v in tested.pairs.ratings])
    by_level = [
        f"{level:g}: {100 * tested.covered[values == level].mean():.0f} %" for level in np.unique(values)
    ]
    print(f"  held, by the rating itself: {', '.join(by_level)} (of {len(np.repeat(tested.fold, times)):,})")
    for part in (*found.ranges, *tested.ranges(scale, 3)[1:], *tested.ranges(scale, 6)[1:]):
        errors = ", ".join(f"{name} {value:.4f}" for name, value in part.error.items())
        print(f"  mean rating {part.name:12s} n = {part.n:5d}  {errors}")
    print("  chosen:", *sorted(set(tested.chosen)), sep="\n    ")


def gap(pair: MetricDifference) -> str:
    """The difference in tau_c with its interval."""
    low, high = pair.ci["kendall_c"] or (np.nan, np.nan)
    return f"{100 * (pair.difference['kendall_c'] or np.nan):+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def recipe(pairs: RatedSet) -> BilinearRecipe:
    """The penalties of the shipped rater, or of one that does not read."""
    return BilinearRecipe() if pairs.read is None else READ_CHOICES[1]


def strict(pairs: RatedSet, seed: int = 0, count: int = 5) -> np.ndarray:
    """Predictions of models that had seen neither the pair's picture nor its caption, with the shipped penalties."""
    rng = np.random.default_rng(seed)
    pictures = {name: n % count for n, name in enumerate(rng.permutation(sorted(set(pairs.group))))}
    picture = np.array([pictures[name] for name in pairs.groups])
    caption = (rng.permutation(len(pairs.text)) % count)[pairs.caption]
    found = np.zeros(len(pairs))
    for i in range(count):
        for j in range(count):
            test = np.flatnonzero((picture == i) & (caption == j))
            model = FittedRater(
                "bilinear",
                fit(pairs.of(np.flatnonzero((picture != i) & (caption != j))), recipe(pairs)),
                {},
                "",
            )
            found[test] = model.predict(pairs.of(test))
    return found


def transfer(
    model: FittedRater,
    known: RatedSet,
    source: str,
    tools: LocalTools,
    reader: Together | None,
    criterion: str | None = None,
) -> None:
    """A rater of all of Expert on another study's ratings."""
    name, items, _ = rated_items(source, DATA, criterion)
    other = encode(name, items, tools.embedder, tools.pictures, reader=reader)
    seen = same_picture(other.prints, known.prints).any(axis=1)[other.picture]
    ids = other.ids
    rows = [
        Item(id, ratings={"rating": values}, extra={"group": str(group)})
        for id, values, group in zip(ids, other.ratings, other.groups, strict=True)
    ]
    scores = {
        "vicr": dict(zip(ids, model.predict(other).tolist(), strict=True)),
        "clipscore": dict(zip(ids, clipscores([other], tools.embedder)[0].tolist(), strict=True)),
    }
    found = evaluate(rows, scores, observations="each")
    print(f"\nlearned from Expert, tested on {name} {criterion or ''}: {len(other):,} pairs", end="")
    print(f" ({len(other.failures)} without a picture), {int(seen.sum()):,} of them of pictures in Expert")
    for row in found.rows:
        for coefficient in ("kendall_c", "kendall_b"):
            low, high = row.ci[coefficient] or (np.nan, np.nan)
            value = row.correlation.values[coefficient] or np.nan
            print(
                f"  {row.metric:10s} {coefficient} {100 * value:.1f} [{100 * low:.1f}, {100 * high:.1f}]",
                end="",
            )
        print(f"  n = {row.correlation.n:,}")
    (pair,) = found.comparisons
    print(f"  difference in tau_c {gap(pair)}")
    if reader is not None:
        shipped = load_rater(None)
        raw = shipped.raw(*other.vectors, other.read)
        half = half_width_at(raw, shipped.arrays["edges"], shipped.arrays["half_width"])
        held = [abs(value - raw[n]) <= half[n] for n, values in enumerate(other.ratings) for value in values]
        print(
            f"  the shipped rater's 80 % intervals hold {100 * np.mean(held):.1f} % of {len(held):,} ratings"
        )


def crowdflower(tools: LocalTools) -> None:
    """Five folds on CrowdFlower, whose ratings are single people's yes (1) and no (0)."""
    name, items, _ = rated_items("flickr8k-cf", DATA, None)
    pairs = encode(name, items, tools.embedder, tools.pictures)
    (clip,) = clipscores([pairs], tools.embedder)
    tested = cross_test(pairs, clip, folds(pairs.group, 5), "bilinear", lambda line: None)
    show("CrowdFlower, five folds by picture, bilinear", tested, (0.0, 1.0))


def copies(tools: LocalTools) -> None:
    """Whether fingerprints know smaller, badly compressed copies of photographs, and tell the photographs apart."""
    sources = [rated_items("flickr8k-expert", DATA, None), rated_items("composite", DATA, "coco")]
    paths = dict.fromkeys(item.images[0] for one in sources for item in one.items)
    whole, small = [], []
    for path in paths:
        image, content = tools.pictures.load(path).crop(), io.BytesIO()
        image.resize((image.width // 2, image.height // 2)).save(content, "JPEG", quality=30)
        whole.append(fingerprint(image))
        small.append(fingerprint(Image.open(content)))
    known = np.diag(same_picture(np.stack(whole), np.stack(small)))
    alike = same_picture(np.stack(whole), np.stack(whole))
    print(
        f"\nfingerprints: {known.sum():,} of {len(known):,} copies of half the size and quality 30 known",
        end="",
    )
    print(f"; {(alike.sum() - len(alike)) // 2} pairs of different photographs taken for one")


PARTS = ("bilinear", "paper", "network", "strict", "crowdflower", "transfer", "copies")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=PARTS)
    parser.add_argument("--plain", action="store_true", help="without the reading network")
    given = parser.parse_args()
    chosen, reader = given.part or PARTS, None if given.plain else load_together()
    tools = LocalTools(Settings())
    _, items, _ = rated_items("flickr8k-expert:own=keep", DATA, None)
    pairs = encode("flickr8k-expert", items, tools.embedder, tools.pictures, reader=reader)
    (clip,) = clipscores([pairs], tools.embedder)
    rows = foreign(pairs)
    for form in ("bilinear", "paper", "network"):
        if form in chosen:
            tested = cross_test(pairs, clip, folds(pairs.group, 5), form, lambda line: None)
            show(f"five folds by picture, {form}", tested.only(rows))
    if "strict" in chosen:
        nothing = np.zeros(sum(map(len, pairs.ratings)))
        alone = Tested(pairs, np.zeros(len(pairs), np.int64), strict(pairs), clip, clip, nothing, ())
        evaluation = alone.only(rows).evaluation()
        (pair,) = evaluation.comparisons
        value = evaluation.rows[0].correlation.values["kendall_c"] or np.nan
        print("\nstrict: neither picture nor caption seen, 64 % of the pairs learned from")
        print(f"  tau_c {100 * value:.1f}, against clipscore {gap(pair)}")
    if "crowdflower" in chosen:
        crowdflower(tools)
    if "transfer" in chosen:
        model = FittedRater("bilinear", fit(pairs, recipe(pairs)), {}, "")
        transfer(model, pairs, "vicr", tools, reader)
        for part in ("coco", "flickr8k"):
            transfer(model, pairs, "composite", tools, reader, part)
    if "copies" in chosen:
        copies(tools)


if __name__ == "__main__":
    main()
