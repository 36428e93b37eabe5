"""Systems compared: every pair in every metric, over the items that both have a score for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np

from sightline.charts import counted, enumerated
from sightline.errors import UsageError
from sightline.meta.comparison.board import UNNAMED, Board
from sightline.meta.comparison.contest import SAMPLES, Contest, Side, contests, corrected, rounds_for
from sightline.meta.comparison.distance import Distance, distance

NAMED = 5
"""So many of the items that are left out are named in a note; compare.json has them all."""
ROUGH = 20
"""With fewer pictures or stories than this, an interval is rough."""


@dataclass(frozen=True)
class Pair:
    """System a beside system b in one metric."""

    metric: str
    a: str
    b: str
    level: str
    """`corpus` where corpus-level values are compared, `mean` where means of scores are."""
    contest: Contest
    only_a: tuple[str, ...] = ()
    """Items that only a has a score for: they are left out."""
    only_b: tuple[str, ...] = ()
    faults: bool = False
    """Whether the metric counts faults: the lower system is the better one, and wins."""

    @property
    def winner(self) -> str | None:
        """The system that is better beyond chance, all that was compared counted; None where that is not shown."""
        if self.contest.p_holm is None or self.contest.p_holm >= 0.05:
            return None
        return self.a if (self.contest.difference > 0) != self.faults else self.b


@dataclass(frozen=True)
class Comparison:
    """Every pair of systems in every metric, what was measured how, and what a reader must keep in mind."""

    systems: list[str]
    metrics: list[str]
    pairs: list[Pair]
    distances: dict[str, Distance] = field(default_factory=dict)
    """How far each system lies from people, where a human system is named."""
    human: str | None = None
    against: str | None = None
    noun: str = "item"
    """What is compared: `caption`, `story`, or `item` where that is not known."""
    notes: list[str] = field(default_factory=list)


def compared(
    board: Board,
    *,
    groups: Mapping[str, str] | None = None,
    against: str | None = None,
    human: str | None = None,
    noun: str = "item",
    notes: Sequence[str] = (),
    samples: int = SAMPLES,
    seed: int = 0,
) -> Comparison:
    """Compare all systems on a board with each other, or with the one named by `against`.

    `groups` tells each item's picture or story, by id; without it, each item is one of its own.
    Raises UsageError where a system that is named is not there, or no two systems share an item with a score.
    """
    systems = board.systems
    for option, name in (("--against", against), ("--human", human)):
        if name is not None and name not in systems:
            raise UsageError(f"{option} {name}: there is no such system; there are {', '.join(systems)}")
    if len(systems) < 2:
        if systems == [UNNAMED]:
            raise UsageError(
                'no system is named: say the "system" on each line, or give a file for each as NAME=FILE'
            )
        raise UsageError(f"there is one system, {', '.join(systems)}: nothing to compare it with")
    wanted = _pairs(systems, against)
    met = [meeting for spec in board.metrics for meeting in _meetings(board, spec, wanted)]
    if not met:
        raise UsageError(_nothing_shared(board, systems, noun))
    found = _fought(board, met, groups or {}, samples, seed)
    distances = {
        system: distance(*({s: board.scores(s, side) for s in board.metrics} for side in (human, system)))
        for system in systems
        if human is not None and system != human
    }
    return Comparison(
        systems, board.metrics, found, distances, human, against, noun,
        [*notes, *_notes(board, found, noun)],
    )  # fmt: skip


def _nothing_shared(board: Board, systems: Sequence[str], noun: str) -> str:
    """Why nothing can be compared: the systems have other ids, or a metric could score none of one's texts."""
    told = f"{enumerated(systems)} share no {noun} (by id) with a score in the same metric"
    for spec, by_system in board.failures.items():
        none = [name for name in by_system if not board.columns[spec][name].ids]
        if none:
            reason = next(iter(by_system[none[0]].values()), "")
            return f"{told}: {spec} could not score any {noun} of {enumerated(none)} ({reason})"
    ids = {name: ids[0] for name in systems if (ids := _ids(board, name))}
    examples = ", ".join(f"{name} has '{id}'" for name, id in list(ids.items())[:2])
    return f"{told}: their ids differ ({examples})" if len(ids) > 1 else told


def _ids(board: Board, system: str) -> list[str]:
    return [id for columns in board.columns.values() if system in columns for id in columns[system].ids]


def _pairs(systems: Sequence[str], against: str | None) -> list[tuple[str, str]]:
    if against is None:
        return list(combinations(systems, 2))
    return [(system, against) for system in systems if system != against]


@dataclass(frozen=True)
class _Meeting:
    """Two systems in one metric, and the items they share in it."""

    spec: str
    a: str
    b: str
    shared: tuple[str, ...]


def _meetings(board: Board, spec: str, wanted: Iterable[tuple[str, str]]) -> list[_Meeting]:
    columns = board.columns[spec]
    found = []
    for a, b in wanted:
        if a in columns and b in columns:
            # In the order of ids, so that a pair's samples do not depend on the order of files.
            shared = tuple(sorted(columns[a].place.keys() & columns[b].place.keys()))
            if shared:
                found.append(_Meeting(spec, a, b, shared))
    return found


def _fought(
    board: Board, met: Sequence[_Meeting], groups: Mapping[str, str], samples: int, seed: int
) -> list[Pair]:
    """The outcome of each meeting. Those over the same items are resampled together, once."""
    alike: dict[tuple[str, ...], list[int]] = {}
    for number, meeting in enumerate(met):
        alike.setdefault(meeting.shared, []).append(number)
    outcomes: dict[int, Contest] = {}
    levels = {meeting: board.level(meeting.spec, (meeting.a, meeting.b)) for meeting in met}
    for shared, numbers in alike.items():
        group = np.unique([groups.get(id, id) for id in shared], return_inverse=True)[1].astype(np.int64)
        sides: dict[tuple[str, str, str], Side] = {}
        for meeting in (met[number] for number in numbers):
            for system in (meeting.a, meeting.b):
                key = (meeting.spec, system, levels[meeting])
                if key not in sides:
                    sides[key] = board.side(meeting.spec, system, shared, levels[meeting])
        pairs = [
            (sides[m.spec, m.a, levels[m]], sides[m.spec, m.b, levels[m]])
            for m in (met[number] for number in numbers)
        ]
        rounds = rounds_for(len(met), samples)
        found = contests(pairs, group, samples=samples, rounds=rounds, seed=seed)
        outcomes.update(zip(numbers, found, strict=True))
    told = corrected([outcomes[number] for number in range(len(met))])
    return [
        Pair(m.spec, m.a, m.b, levels[m], _won(contest, faults), *_left_out(board, m), faults)
        for m, contest in zip(met, told, strict=True)
        for faults in [board.counts_faults(m.spec)]
    ]


def _won(contest: Contest, faults: bool) -> Contest:
    """An item is won by the better of its two scores: by the lower one of a metric that counts faults."""
    return replace(contest, wins=contest.losses, losses=contest.wins) if faults else contest


def _left_out(board: Board, met: _Meeting) -> tuple[tuple[str, ...], tuple[str, ...]]:
    a, b = (board.columns[met.spec][system].place for system in (met.a, met.b))
    return tuple(id for id in a if id not in b), tuple(id for id in b if id not in a)


def _notes(board: Board, pairs: Sequence[Pair], noun: str) -> list[str]:
    notes = []
    alike: dict[tuple[str, str, tuple[str, ...], tuple[str, ...]], list[Pair]] = {}
    for pair in pairs:
        if pair.only_a or pair.only_b:
            alike.setdefault((pair.a, pair.b, pair.only_a, pair.only_b), []).append(pair)
    for (a, b, only_a, only_b), some in alike.items():
        left = " and ".join(
            f"{counted(len(ids), noun)} of {name} ({_some(ids)})"
            for name, ids in ((a, only_a), (b, only_b))
            if ids
        )
        where = ", ".join(pair.metric for pair in some)
        notes.append(
            f"{where}: {left} {'has' if len(only_a) + len(only_b) == 1 else 'have'} no counterpart"
            f" with a score; {a} and {b} are compared on the {counted(some[0].contest.n, noun)} they share"
        )
    for spec in board.metrics:
        for system in board.systems:
            if system not in board.columns[spec]:
                notes.append(f"{spec}: {system} has no score and is not compared")
    few = min((pair.contest.groups for pair in pairs), default=0)
    if few == 1:
        notes.append(f"one {noun} has no interval: there is nothing to resample")
    elif few < ROUGH:
        notes.append(f"intervals over {counted(few, noun)} are rough")
    return notes


def _some(ids: Sequence[str]) -> str:
    more = len(ids) - NAMED
    return ", ".join(ids[:NAMED]) + (f" and {more:,} more" if more > 0 else "")
