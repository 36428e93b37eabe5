"""Sightline tells how true a text is to its pictures."""

from sightline.items import Evidence, Item, Rating, Score

__all__ = ["Evidence", "Item", "Rating", "Score"]
