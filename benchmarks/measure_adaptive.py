"""How many ratings adaptive assignment saves: 1,000 items, 60 raters, against a fixed number per item.

    python benchmarks/measure_adaptive.py [--repeats 20]

Raters lean up or down (sd 0.25 levels); items differ in how far people scatter around them (lognormal, median 0.5
levels). Both designs use the server's own rule (`people.assignment`). A fixed number is held against a rule in two
ways: the number at which as many items as under the rule have an interval of the mean under the asked width, and
the number at which the intervals are as wide on average. `held` is the share of intervals that hold the item's
mean over all raters.
"""

import argparse
import random
from statistics import mean

from sightline.people.assignment import Hard, Until, wanted
from sightline.people.consensus import Tally
from sightline.people.scales import scale

ITEMS, RATERS, MOST = 1000, 60, 40
RULES = (
    Until(until=1.5, most=7),
    Until(until=1.5, most=10),
    Until(until=1.0, most=10),
    Until(until=1.0, most=15),
)
LEVELS = scale("likert")


class Item:
    """One item's level and scatter, and every rater's rating of it in the order in which they come."""

    def __init__(self, lots: random.Random, leans: list[float]) -> None:
        level, scatter = lots.uniform(1, 5), 0.5 * lots.lognormvariate(0, 0.6)
        all_ratings = [min(max(round(level + lean + lots.gauss(0, scatter)), 1), 5) for lean in leans]
        self.truth = mean(all_ratings)
        lots.shuffle(all_ratings)
        self.ratings = all_ratings[:MOST]

    def tally(self, count: int) -> Tally:
        return Tally.of(LEVELS, self.ratings[:count])


def stops_at(item: Item, rule: Until) -> int:
    """Ratings an item gets: one more as long as the server wants one more."""
    tally = item.tally(0)
    while tally.people < wanted(rule, Hard(), tally):
        tally = tally.add(item.ratings[tally.people])
    return tally.people


def compare(items: list[Item], rule: Until) -> tuple[float, float, float, float, float]:
    """Mean ratings under the rule; the fixed numbers for as many narrow intervals and as narrow ones on average;
    the share of narrow intervals; the share that hold the item's mean."""
    counts = [stops_at(item, rule) for item in items]
    widths = [rule.width(item.tally(count)) for item, count in zip(items, counts, strict=True)]
    narrow, wide = mean(width < rule.until for width in widths), mean(widths)
    held = mean(
        abs(item.tally(count).mean - item.truth) <= width / 2  # type: ignore[operator]
        for item, count, width in zip(items, counts, widths, strict=True)
    )
    same_share = same_mean = float(MOST)
    before = 0.0
    for count in range(1, MOST + 1):
        fixed = [rule.width(item.tally(count)) for item in items]
        if same_share == MOST and mean(width < rule.until for width in fixed) >= narrow:
            same_share = count
        if same_mean == MOST and count > 1 and mean(fixed) <= wide:
            same_mean = count - (wide - mean(fixed)) / (before - mean(fixed))  # between two whole numbers
        before = mean(fixed)
        if max(same_share, same_mean) < MOST:
            break
    return mean(counts), same_share, same_mean, narrow, held


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    print(
        "| rule | ratings an item | as many narrow: fixed | saved | as wide on average: fixed | saved | narrow | held |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for rule in RULES:
        found = []
        for seed in range(repeats):
            lots = random.Random(seed)
            leans = [lots.gauss(0, 0.25) for _ in range(RATERS)]
            found.append(compare([Item(lots, leans) for _ in range(ITEMS)], rule))
        given, share, same, narrow, held = (mean(column) for column in zip(*found, strict=True))
        print(
            f"| under {rule.until} wide, {rule.least} to {rule.most} | {given:.2f} | {share:.1f} "
            f"| {1 - given / share:.0%} "
            f"| {same:.2f} | {1 - given / same:.0%} | {narrow:.0%} | {held:.1%} |"
        )


if __name__ == "__main__":
    main()
