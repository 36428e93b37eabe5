"""The items of a comparison that its page shows: those in which systems differ most."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from sightline.items import Item
from sightline.meta.comparison.board import Board
from sightline.meta.comparison.verdict import Comparison, Pair
from sightline.report import page
from sightline.report.gather import STORIES

LISTED = 30
"""So many items are listed where their texts are not at hand."""


def _apart(found: Comparison, board: Board) -> dict[str, float]:
    """How far systems differ in each item, in units of the usual difference of the pair in the metric."""
    apart: dict[str, float] = {}
    for pair in found.pairs:
        a, b = board.scores(pair.metric, pair.a), board.scores(pair.metric, pair.b)
        ids = [id for id in a if id in b]
        gaps = np.abs(np.array([a[id] - b[id] for id in ids]))
        usual = float(gaps.std()) or 1.0
        for id, gap in zip(ids, gaps / usual, strict=True):
            apart[id] = max(apart.get(id, 0.0), float(gap))
        for id in (*pair.only_a, *pair.only_b):
            apart.setdefault(id, 0.0)
    return apart


def most_apart(found: Comparison, board: Board) -> dict[str, int]:
    """The items that the page shows, and where each stands: those that differ most, as many as a report takes."""
    apart = _apart(found, board)
    shown = sorted(apart, key=lambda id: (-apart[id], id))[: max(1, STORIES // len(found.systems))]
    return {id: place for place, id in enumerate(shown)}


def ordered(items: Iterable[Item], chosen: Mapping[str, int]) -> list[Item]:
    """The chosen items, those of one id beside each other, so that both are unpacked at once."""
    return sorted((item for item in items if item.id in chosen), key=lambda item: chosen[item.id])


def total(board: Board) -> int:
    """How many items there are by id."""
    return len({id for columns in board.columns.values() for column in columns.values() for id in column.ids})


def first(found: Comparison) -> list[int]:
    """Which systems and metric the page opens with: the pair that differs most surely."""
    pair = max(found.pairs, key=_strength)
    return [found.systems.index(pair.a), found.systems.index(pair.b), found.metrics.index(pair.metric)]


def _strength(pair: Pair) -> float:
    one = pair.contest
    width = (one.high - one.low) if one.low is not None and one.high is not None else 0.0
    return abs(one.difference) / width if width > 0 else 0.0


def listed(found: Comparison, board: Board) -> page.Section:
    """The items that differ most, where their texts are not at hand."""
    rows: list[list[Any]] = []
    for pair in found.pairs:
        a, b = board.scores(pair.metric, pair.a), board.scores(pair.metric, pair.b)
        far = sorted((id for id in a if id in b), key=lambda id: (-abs(a[id] - b[id]), id))
        rows += [
            [pair.metric, id, pair.a, a[id], pair.b, b[id], a[id] - b[id]]
            for id in far[: max(3, LISTED // len(found.pairs))]
        ]
    intro = "Only scores are known here; compare the files of texts to see them side by side."
    return page.Section(
        "Furthest apart",
        page.table(["metric", found.noun, "a", "score", "b", "score", "a − b"], rows, head=False),
        intro,
    )
