"""100 simulated players whose quality is known: how often does the consensus reach the true level?

    python benchmarks/measure_players.py [--repeats 40] [--seed 20000] [--errors normal]

With and without training, gold items and gating, at the same number of ratings per item; each with the rounded
mean, the quality-weighted mean and the likely level (people/likely_levels.py). Careless players rate at random or
always the same; the others err around the truth: by rounded normal errors, or (`--errors slips`) right but for
slips to a neighbouring or to any level, which is not how the model of habits thinks. Differences are paired by
repeat, with 95 % t-intervals. "As much work": no gating, but as many ratings in all as training, checks and items
cost together.
"""

import argparse
import random
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from scipy import stats

from sightline.people.assignment import role_of_next
from sightline.people.consensus import Tally, expert
from sightline.people.likely_levels import likely_levels
from sightline.people.quality import quality_consensus, weights
from sightline.people.scales import scales
from sightline.people.training import Checks, Training, competency

SCALE = scales()["vicr"]
PLAYERS, ITEMS, PER_ITEM, TRIES = 100, 600, 5, 3
NEAR = {0.5: 0.25, 0.9: 0.45, 1.6: 0.5}
FAR = {0.5: 0.02, 0.9: 0.08, 1.6: 0.25}
"""With slips instead of normal errors: how often a player of that spread is off by one level, or anywhere."""
KINDS = (
    ("careful", 0.35, 0.5),
    ("middling", 0.3, 0.9),
    ("sloppy", 0.15, 1.6),
    ("random", 0.15, None),
    ("lazy", 0.05, 0),
)
"""Kind, share of the players, spread of their error: None rates at random, 0 always the same level."""


class Player:
    def __init__(self, number: int, lots: random.Random, slips: bool) -> None:
        self.name, self.lots, self.slips = f"p{number}", lots, slips
        lot, reached = lots.random(), 0.0
        for self.kind, share, self.spread in KINDS:
            reached += share
            if lot < reached:
                break
        self.bias = lots.gauss(0, 0.25)
        self.favourite = lots.randint(3, 5)

    def rate(self, truth: int) -> int:
        if self.spread is None:
            return self.lots.randint(1, 5)
        if self.spread == 0:
            return self.favourite
        if self.slips:
            lot = self.lots.random()
            if lot < FAR[self.spread]:
                return self.lots.randint(1, 5)
            near = lot < FAR[self.spread] + NEAR[self.spread]
            return min(max(truth + near * self.lots.choice((-1, 1)), 1), 5)
        return min(max(round(truth + self.bias + self.lots.gauss(0, self.spread)), 1), 5)


def passes(player: Player, training: Training, lots: random.Random) -> tuple[bool, int]:
    """Tutorial and probation, as in the game, and the ratings spent; a player gives up after a few failures."""
    spent = 0
    for _ in range(TRIES):
        spent += training.tutorial + training.probation
        right = points = 0
        for _ in range(training.probation):
            truth = lots.randint(1, 5)
            given = player.rate(truth)
            right += given == truth
            points += expert(SCALE, truth).points(given) or 0
        if training.unlocks(right, training.probation, points):
            return True, spent
    return False, spent


@dataclass
class Collected:
    truth: dict[str, int]
    ratings: list[tuple[str, str, int]]
    gold: dict[str, list[tuple[int, int]]]
    careless: int
    """Players let in who rate at random or always the same."""
    work: int
    """Ratings in all, training and checks among them."""


def collect(
    training: Training | None, seed: int, *, slips: bool = False, per_item: int = PER_ITEM
) -> Collected:
    """A study played to its end; without training there are no checks either."""
    lots = random.Random(seed)
    players = [Player(number, lots, slips) for number in range(PLAYERS)]
    truth = {f"i{number}": lots.randint(1, 5) for number in range(ITEMS)}
    checks, work, playing = Checks(), 0, []
    for player in players:
        allowed, spent = passes(player, training, lots) if training else (True, 0)
        work += spent
        playing += [player] * allowed
    careless = sum(player.kind in ("random", "lazy") for player in playing)
    need = dict.fromkeys(truth, per_item)
    seen: dict[str, set[str]] = defaultdict(set)
    recent: dict[str, list[int]] = defaultdict(list)
    gold: dict[str, list[tuple[int, int]]] = defaultdict(list)
    place: dict[str, int] = defaultdict(int)
    ratings: list[tuple[str, str, int]] = []
    open_items = list(truth)
    while open_items and playing:
        for player in list(playing):
            place[player.name] += 1
            if training and role_of_next(checks, f"{seed}{player.name}", place[player.name]) != "main":
                level = lots.randint(1, 5)
                given = player.rate(level)
                gold[player.name].append((given, level))
                recent[player.name].append(competency(given, level))
                if checks.falls(recent[player.name]):
                    recent[player.name].clear()
                    allowed, spent = passes(player, training, lots)
                    work += spent
                    if not allowed:
                        playing.remove(player)
                continue
            item = next((item for item in open_items if item not in seen[player.name]), None)
            if item is None:
                continue
            seen[player.name].add(item)
            ratings.append((item, player.name, player.rate(truth[item])))
            need[item] -= 1
            if not need[item]:
                open_items.remove(item)
        if all(item in seen[player.name] for player in playing for item in open_items):
            break
    work += len(ratings) + sum(map(len, gold.values()))
    return Collected(truth, ratings, gold, careless, work)


WAYS = ("rounded mean", "weighted mean", "likely level")


def hits(got: Collected) -> tuple[float, float, float]:
    """Share of items whose true level is found, in each way."""
    by_item = defaultdict(list)
    for item, _, value in got.ratings:
        by_item[item].append(value)
    rounded = {item: Tally.of(SCALE, values).consensus for item, values in by_item.items()}
    weighted = quality_consensus(SCALE, got.ratings, weights(got.ratings, got.gold))
    likely = {item: found.level for item, found in likely_levels(SCALE, got.ratings, got.gold).items()}
    mean = statistics.fmean
    return tuple(
        mean(found.get(i) == level for i, level in got.truth.items()) for found in (rounded, weighted, likely)
    )


def interval(values: Sequence[float]) -> str:
    """Mean with its 95 % t-interval."""
    half = stats.t.ppf(0.975, len(values) - 1) * statistics.stdev(values) / len(values) ** 0.5
    mean = statistics.fmean(values)
    return f"{mean:.3f} [{mean - half:.3f}, {mean + half:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--seed", type=int, default=20_000)
    parser.add_argument("--errors", choices=("normal", "slips"), default="normal")
    asked = parser.parse_args()
    seeds, slips = range(asked.seed, asked.seed + asked.repeats), asked.errors == "slips"
    settings = {
        "no training, no checks": None,
        "trained, .5 or 25 points": Training(opens="either"),
        "trained, .5 alone": Training(),
    }
    runs = {name: [collect(way, seed, slips=slips) for seed in seeds] for name, way in settings.items()}
    effort = statistics.fmean(got.work for got in runs["trained, .5 alone"])
    more = min(round(effort / ITEMS), PLAYERS)
    runs[f"as much work ({more} an item)"] = [collect(None, s, slips=slips, per_item=more) for s in seeds]
    found = {name: [hits(got) for got in each] for name, each in runs.items()}
    print(
        f"{PLAYERS} players, {asked.errors} errors, {ITEMS} items, {asked.repeats} repeats from seed {asked.seed}"
    )
    print("share of true levels, [95 % interval of the mean]")
    print(f"{'':28}{''.join(f'{way:>25}' for way in WAYS)}{'careless in':>13}{'ratings':>9}{'in all':>8}")
    for name, each in runs.items():
        columns = "".join(f"{interval([row[way] for row in found[name]]):>25}" for way in range(3))
        means = [
            statistics.fmean(v)
            for v in zip(*((g.careless, len(g.ratings), g.work) for g in each), strict=True)
        ]
        print(f"{name:28}{columns}{means[0]:>13.1f}{means[1]:>9.0f}{means[2]:>8.0f}")
    print("paired differences")
    compare(found, ("trained, .5 alone", 0), ("no training, no checks", 0))
    for name in found:
        compare(found, (name, 1), (name, 0))
        compare(found, (name, 2), (name, 1))


def compare(found: dict[str, list], better: tuple[str, int], worse: tuple[str, int]) -> None:
    pairs = zip(
        (row[better[1]] for row in found[better[0]]), (row[worse[1]] for row in found[worse[0]]), strict=True
    )
    gains = [one - other for one, other in pairs]
    what = f"{better[0]}: {WAYS[better[1]]} - {WAYS[worse[1]]}"
    if better[0] != worse[0]:
        what = f"{WAYS[better[1]]}: {better[0]} - {worse[0]}"
    print(f"  {what:66} {interval(gains)}  wins {sum(gain > 0 for gain in gains)}/{len(gains)}")


if __name__ == "__main__":
    main()
