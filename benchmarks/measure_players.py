"""100 simulated players whose quality is known: how often does the consensus reach the true level?

    python benchmarks/measure_players.py [--repeats 20]

With and without training, gold items and gating, at the same number of ratings per item; each with the
rounded mean and with the quality-weighted consensus. Careless players rate at random or always the same; the
others err around the truth.
"""

import argparse
import random
import statistics
from collections import defaultdict

from sightline.people.assignment import role_of_next
from sightline.people.consensus import Tally, expert
from sightline.people.quality import quality_consensus, weights
from sightline.people.scales import scales
from sightline.people.training import Checks, Training, competency

SCALE = scales()["vicr"]
PLAYERS, ITEMS, PER_ITEM, TRIES = 100, 600, 5, 3
KINDS = (
    ("careful", 0.35, 0.5),
    ("middling", 0.3, 0.9),
    ("sloppy", 0.15, 1.6),
    ("random", 0.15, None),
    ("lazy", 0.05, 0),
)
"""Kind, share of the players, spread of their error: None rates at random, 0 always the same level."""


class Player:
    def __init__(self, number: int, lots: random.Random) -> None:
        self.name, self.lots = f"p{number}", lots
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
        return min(max(round(truth + self.bias + self.lots.gauss(0, self.spread)), 1), 5)


def passes(player: Player, training: Training, lots: random.Random) -> bool:
    """Tutorial and probation, as in the game; a player gives up after a few failures."""
    for _ in range(TRIES):
        right = points = 0
        for _ in range(training.probation):
            truth = lots.randint(1, 5)
            given = player.rate(truth)
            right += given == truth
            points += expert(SCALE, truth).points(given) or 0
        if training.unlocks(right, training.probation, points):
            return True
    return False


def collect(
    gated: bool, training: Training, seed: int
) -> tuple[dict[str, int], list[tuple[str, str, int]], dict, dict]:
    lots = random.Random(seed)
    players = [Player(number, lots) for number in range(PLAYERS)]
    truth = {f"i{number}": lots.randint(1, 5) for number in range(ITEMS)}
    checks = Checks()
    playing = [player for player in players if not gated or passes(player, training, lots)]
    admitted = defaultdict(int)
    for player in playing:
        admitted[player.kind] += 1
    need = dict.fromkeys(truth, PER_ITEM)
    seen: dict[str, set[str]] = defaultdict(set)
    recent: dict[str, list[int]] = defaultdict(list)
    gold: dict[str, list[tuple[int, int]]] = defaultdict(list)
    place: dict[str, int] = defaultdict(int)
    ratings: list[tuple[str, str, int]] = []
    open_items = list(truth)
    while open_items and playing:
        for player in list(playing):
            place[player.name] += 1
            if gated and role_of_next(checks, player.name, place[player.name]) != "main":
                level = lots.randint(1, 5)
                given = player.rate(level)
                gold[player.name].append((given, level))
                recent[player.name].append(competency(given, level))
                if checks.falls(recent[player.name]):
                    recent[player.name].clear()
                    if not passes(player, training, lots):
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
    return truth, ratings, gold, admitted


def share_right(truth: dict[str, int], found: dict[str, int]) -> float:
    return statistics.fmean(found.get(item) == level for item, level in truth.items())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    both, accuracy = Training(opens="either"), Training()
    settings = (
        ("no training, no checks", False, both),
        ("trained, .5 or 25 points", True, both),
        ("trained, .5 alone", True, accuracy),
    )
    print(f"{PLAYERS} players, {ITEMS} items of {PER_ITEM} ratings, {repeats} repeats: share of true levels")
    print(f"{'':28}{'rounded mean':>17}{'weighted':>17}{'wins':>9}{'careless in':>13}")
    for name, gated, training in settings:
        plain, weighted, careless = [], [], []
        for seed in range(repeats):
            truth, ratings, gold, admitted = collect(gated, training, seed)
            by_item = defaultdict(list)
            for item, _, value in ratings:
                by_item[item].append(value)
            rounded = {item: Tally.of(SCALE, values).consensus or 0 for item, values in by_item.items()}
            plain.append(share_right(truth, rounded))
            weighted.append(share_right(truth, quality_consensus(SCALE, ratings, weights(ratings, gold))))
            careless.append(admitted["random"] + admitted["lazy"])
        wins = sum(w > p for w, p in zip(weighted, plain, strict=True))
        columns = [f"{statistics.fmean(row):10.3f} ±{statistics.stdev(row):.3f}" for row in (plain, weighted)]
        print(f"{name:28}{''.join(columns)}{wins:>6}/{repeats}{statistics.fmean(careless):>10.1f}")


if __name__ == "__main__":
    main()
