"""Seeds of the rating game: what the caption rater would give stands in until two people have rated (VICR, 3.2)."""

import math
from collections.abc import Sequence

from sightline.errors import UsageError
from sightline.items import Item
from sightline.people.study import Study

METRIC = "vicr"


def rater_seeds(study: Study, items: Sequence[Item]) -> dict[str, int]:
    """The rater's level, rounded half up, for each caption without a seed; none where a picture cannot be read."""
    import sightline

    scale = study.levels
    if not study.is_game or scale.low != 1 or scale.high not in (4, 5):
        raise UsageError(
            'seeds = "rater" is for rating games on levels 1 to 5 (or 1 to 4), which is what the caption rater '
            f"learned; this is a {study.kind} on levels {scale.low} to {scale.high}"
        )
    wanted = [
        item
        for item in items
        if item.is_caption and item.extra.get("role", "main") == "main" and item.extra.get("seed") is None
    ]
    if not wanted:
        return {}
    found = sightline.score(wanted, [METRIC], cache=None)
    return {
        score.id: min(max(math.floor(score.score + 0.5), scale.low), scale.high) for score in found.scores
    }
