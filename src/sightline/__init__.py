"""Sightline tells how true a text is to its pictures.

>>> import sightline
>>> result = sightline.score("stories.jsonl", metrics=["groovist", "rovist-nr"])  # doctest: +SKIP
>>> result.to_pandas()  # doctest: +SKIP
"""

from typing import TYPE_CHECKING, Any

from sightline.items import Evidence, Failure, Item, Rating, Score

if TYPE_CHECKING:
    from sightline.api import score
    from sightline.result import Result

__all__ = ["Evidence", "Failure", "Item", "Rating", "Result", "Score", "score"]


def __getattr__(name: str) -> Any:
    """The pipeline is imported when first used, so that importing one room does not load them all."""
    if name in ("Result", "score"):
        from sightline import api

        return getattr(api, name)
    raise AttributeError(f"module 'sightline' has no attribute '{name}'")
