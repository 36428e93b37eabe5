"""Sample stories and captions over a few free photographs: some true to them, some vague, some wrong."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from sightline.api import caption
from sightline.io import read_items
from sightline.items import Item, Score

STORIES = Path(__file__).parent / "stories.jsonl"

CAPTIONER = "pocket"
VERSIONS = ("good", "mediocre", "wrong", "shuffled", CAPTIONER)
"""Of each set of pictures. `shuffled` is the good story in a wrong order: all is there, but elsewhere; the last is what
the embedded captioner says of the pictures."""

METRICS = ("groovist", "clipscore", "vicr", "rovist-vg", "rovist-c", "rovist-nr")
"""What needs neither references nor further models. Coherence (rovist-c) fails on captions, as it should."""


def with_captions() -> list[Item]:
    """The bundled texts, and beside them a sentence of the embedded captioner for each picture."""
    written = [item for item in read_items(STORIES) if isinstance(item, Item)]
    found = list(written)
    for pictures in dict.fromkeys(item.id.rpartition("-")[0] for item in written):
        images = next(item.images for item in written if item.id.startswith(f"{pictures}-"))
        subject = Item(f"{pictures}-{CAPTIONER}", images, text="")
        found += [replace(item, extra={"set": pictures}) for item in caption([subject], CAPTIONER).items]
    return found


def by_version(scores: Iterable[Score]) -> dict[tuple[str, str], dict[str, float]]:
    """Scores by metric, for each set of pictures and version of its text; ids are `set-version`."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for score in scores:
        pictures, _, version = score.id.rpartition("-")
        found.setdefault((pictures, version), {})[score.metric] = score.score
    return found


def mean_by_version(scores: Iterable[Score]) -> dict[str, dict[str, float]]:
    """Each version's mean of each metric over the sets of pictures."""
    sums: dict[str, dict[str, list[float]]] = {}
    for (_, version), row in by_version(scores).items():
        for metric, value in row.items():
            sums.setdefault(version, {}).setdefault(metric, []).append(value)
    return {v: {metric: sum(all) / len(all) for metric, all in row.items()} for v, row in sums.items()}
