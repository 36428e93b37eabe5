"""Single pictures as cards of the report: the picture, its captions by axis, its measures."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from sightline.corpus.analysis import CorpusAnalysis
from sightline.corpus.entries import Caption, Entry
from sightline.items import Failure
from sightline.report.page import Markup, clean, definitions
from sightline.report.thumbnails import Thumbnails

HARD = 24
EXTREMES = 6
LONGEST = 280
"""Characters of a caption that a card shows."""
CAPTIONS = 8
"""Captions of an axis that a card shows."""

MEASURES = {"confidence": "confidence", "self_bleu": "self-BLEU", "purity": "purity"}


class Samples:
    """Draws pictures' cards; each picture's file is opened once, however often it is shown."""

    def __init__(self, found: CorpusAnalysis, places: Sequence[int]) -> None:
        self._found = found
        chosen = list(dict.fromkeys(places))
        self._entries = dict(zip(chosen, found.entries.at(chosen), strict=True))
        paths = {
            entry.image for entry in self._entries.values() if entry.image and Path(entry.image).is_file()
        }
        self._thumbnails = Thumbnails(len(paths))
        self._data = dict(self._thumbnails.add(Path(path) for path in sorted(paths)))
        self._paths = paths
        self.trouble = [
            Failure(entry.id, "picture", trouble, entry.source)
            for entry in self._entries.values()
            if entry.image in paths and (trouble := self._trouble(Path(entry.image)))
        ]

    def _trouble(self, path: Path) -> str:
        """Why a picture cannot be shown, without its path, so that equal reasons are counted together."""
        return self._thumbnails[path][1].trouble.removeprefix(f"{path}: ")

    def cards(self, places: Sequence[int]) -> Markup:
        return Markup('<div class="samples">{}</div>').format(Markup("").join(map(self._card, places)))

    def _card(self, place: int) -> Markup:
        entry = self._entries[place]
        measures = [
            (title, value)
            for key, title in MEASURES.items()
            if np.isfinite(value := float(self._found.items[key][place]))
        ]
        order = [axis for axis in self._found.axes if axis in entry.axes]
        axes = Markup("").join(self._axis(axis, entry.axes[axis]) for axis in order)
        return Markup(
            '<article class="card sample">{}<div><h3 dir="auto">{}</h3>{}{}</div></article>'
        ).format(self._picture(entry), clean(entry.id[:120]), definitions(measures, 2), axes)

    def _picture(self, entry: Entry) -> Markup:
        if entry.image not in self._paths:
            return Markup("")
        place, _ = self._thumbnails[Path(entry.image)]
        if place not in self._data:
            return Markup('<p class="quiet no-picture">the picture cannot be shown</p>')
        return Markup('<img src="data:image/webp;base64,{}" alt="">').format(self._data[place])

    def _axis(self, axis: str, captions: Sequence[Caption]) -> Markup:
        """Objects are folded away: they are there to explain the others."""
        lines = Markup("").join(map(_line, captions[:CAPTIONS]))
        if len(captions) > CAPTIONS:
            lines += Markup('<li class="quiet">and {:,} more</li>').format(len(captions) - CAPTIONS)
        if axis == self._found.objects:
            return Markup("<details><summary>{}</summary><ul>{}</ul></details>").format(clean(axis), lines)
        return Markup("<h4>{}</h4><ul>{}</ul>").format(clean(axis), lines)


def _line(caption: Caption) -> Markup:
    text = (
        caption.text
        if len(caption.text) <= LONGEST
        else f"{caption.text[:LONGEST]}… ({len(caption.text):,} characters)"
    )
    sure = ""
    if caption.confidence is not None:
        sure = Markup(' <span class="sure" title="confidence">{}</span>').format(f"{caption.confidence:g}")
    return Markup('<li dir="auto">{}{}</li>').format(clean(text), sure)


def extremes(items: Mapping[str, np.ndarray], measure: str, *, low: bool, most: int = EXTREMES) -> list[int]:
    """The pictures with the lowest or highest values of a measure."""
    values = items[measure]
    known = np.flatnonzero(np.isfinite(values))
    order = np.argsort(values[known] if low else -values[known], kind="stable")
    return [int(place) for place in known[order[:most]]]
