"""A comparison in sentences: who is better in what, by how much, and what could not be told apart."""

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.charts import counted, enumerated, number
from sightline.meta.comparison.files import chance, headline
from sightline.meta.comparison.verdict import Comparison, Pair

Systems = Mapping[str, Mapping[str, Mapping[str, Any]]]


def verdicts(found: Comparison, systems: Systems) -> list[str]:
    """One sentence for each metric."""
    return [_verdict(found, systems, metric) for metric in found.metrics if _of(found, metric)]


def _of(found: Comparison, metric: str) -> list[Pair]:
    return [pair for pair in found.pairs if pair.metric == metric]


def _verdict(found: Comparison, systems: Systems, metric: str) -> str:
    pairs = _of(found, metric)
    if len(pairs) == 1:
        return _of_two(pairs[0], found.noun)
    return _of_many(metric, pairs, systems, found.against)


def _of_two(pair: Pair, noun: str) -> str:
    one = pair.contest
    ahead = (one.difference <= 0) if pair.faults else (one.difference >= 0)
    first, second, values = (pair.a, pair.b, (one.a, one.b)) if ahead else (pair.b, pair.a, (one.b, one.a))
    gap, between = size(abs(one.difference)), interval(pair, turned=one.difference < 0)
    counts = (one.wins, one.losses) if first == pair.a else (one.losses, one.wins)
    better, metric = how(pair.faults), named(pair.metric, pair.faults)
    wins = (
        f"{first} scores {better} in {counted(counts[0], noun)}, {second} in {counts[1]:,}; {one.ties:,} tie"
    )
    if one.wins == one.losses == 0:
        return f"{metric}: {pair.a} and {pair.b} have the same score in {_every(one.n, noun)}."
    if pair.winner is None:
        shown = f"; {size(one.detectable)} could have been shown" if one.detectable else ""
        return (
            f"{metric}: {first} and {second} are not told apart ({number(values[0], 4)} and"
            f" {number(values[1], 4)}, difference {gap}{between}, p {chance(one.p_holm)}{shown}). {wins}."
        )
    return (
        f"{metric}: {first} is {better} than {second}, {number(values[0], 4)} against {number(values[1], 4)},"
        f" by {gap}{between}, p {chance(one.p_holm)}. {wins}."
    )


def how(faults: bool) -> str:
    """How the better of two systems is in a metric."""
    return "lower" if faults else "higher"


def named(metric: str, faults: bool) -> str:
    """A metric; where it counts faults, with the word that it is read the other way."""
    return f"{metric} (lower is better)" if faults else metric


def _every(n: int, noun: str) -> str:
    return f"the one {noun}" if n == 1 else f"all {counted(n, noun)}"


def _of_many(metric: str, pairs: Sequence[Pair], systems: Systems, against: str | None) -> str:
    beaten = {(pair.winner, pair.b if pair.winner == pair.a else pair.a) for pair in pairs if pair.winner}
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    values = {name: headline(systems.get(name, {}).get(metric)) for name in names}
    faults = pairs[0].faults
    better, worse = how(faults), how(not faults)
    ranked = sorted(names, key=lambda name: (values[name] or 0.0) * (1 if faults else -1))
    told = (
        f"{named(metric, faults)}: " + ", ".join(f"{name} {number(values[name], 4)}" for name in ranked) + "."
    )
    if against is not None:
        others = [name for name in ranked if name != against]
        ahead = [name for name in others if (name, against) in beaten]
        behind = [name for name in others if (against, name) in beaten]
        rest = [name for name in others if name not in ahead and name not in behind]
        parts = [
            f"{enumerated(group)} {'is' if len(group) == 1 else 'are'} {stands} {against}"
            for group, stands in (
                (ahead, f"{better} than"),
                (behind, f"{worse} than"),
                (rest, "not told apart from"),
            )
            if group
        ]
        return f"{told} {'; '.join(parts)}."
    best = ranked[0]
    behind = [name for name in ranked[1:] if (best, name) in beaten]
    level = [name for name in ranked[1:] if name not in behind]
    if not behind:
        return f"{told} {best}, the {better[:-2]}est, is not told apart from {enumerated(level)}."
    close = f", and not told apart from {enumerated(level)}" if level else ""
    return f"{told} {best} is {better} than {enumerated(behind)} beyond chance{close}."


def size(value: float | None) -> str:
    """A difference with as many decimals as it needs."""
    if value is None:
        return "–"
    return number(value, 4 if abs(value) >= 0.00095 or value == 0 else 6)


def interval(pair: Pair, turned: bool = False) -> str:
    low, high = pair.contest.low, pair.contest.high
    if low is None or high is None:
        return ""
    low, high = (-high, -low) if turned else (low, high)
    return f" (95\u00a0%: {size(low)} to {size(high)})"
