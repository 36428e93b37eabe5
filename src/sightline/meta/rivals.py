"""The other texts on an item's pictures, brought to the item: for metrics that hold texts against each other."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace

from sightline.errors import BadLine
from sightline.features.judgement import RIVALS
from sightline.items import Item
from sightline.pipeline.plan import Plan


def with_rivals(items: Iterable[Item | BadLine], plan: Plan) -> Iterable[Item | BadLine]:
    """Where a metric of the plan asks for them: items of one id, or of one pair where the study has pairs."""
    if not any(feature.reads_rivals for feature in plan.features):
        return items
    every = list(items)
    together: dict[tuple[object, ...], list[Item]] = defaultdict(list)
    for item in every:
        if not isinstance(item, BadLine):
            together[_place(item)].append(item)
    return [item if isinstance(item, BadLine) else _beside(item, together[_place(item)]) for item in every]


def _place(item: Item) -> tuple[object, ...]:
    """What items that are held against each other have in common."""
    pair = item.extra.get("pair")
    return (item.images, item.id) if pair is None else (item.images, item.group, pair)


def _beside(item: Item, others: list[Item]) -> Item:
    rivals = {
        other.system or other.id: list(other.sentences) if other.sentences else other.text
        for other in others
        if other.key != item.key
    }
    return replace(item, extra={**item.extra, RIVALS: rivals}) if rivals else item
