"""What `sightline corpus` leaves in its folder: tables, statistics, hard samples, failures and a report."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from sightline.corpus.analysis import CorpusAnalysis
from sightline.corpus.entries import Entry
from sightline.corpus.report import report
from sightline.corpus.summary import summary
from sightline.io.results import ResultFolder
from sightline.metrics.base import package_version

DIVERSITY = (
    "id", "axis", "self_bleu", "diversity", "captions", "confidence", "purity", "published_self_bleu",
    "published_purity",
)  # fmt: skip
ITEMS = ("confidence", "self_bleu", "diversity", "purity", "published_purity")
PMI = ("axis", "lemma", "object", "pmi", "together", "lemma_images", "object_images")
FILES = ("stats.json", "diversity.csv", "items.csv", "pmi.csv", "hard.jsonl", "failures.jsonl", "report.html")


def write_corpus(found: CorpusAnalysis, out: ResultFolder, name: str) -> dict[str, Any]:
    """Write every file and return the statistics."""
    page = report(found, name)
    told = {"file": name, "version": package_version(), **summary(found)}
    out.json("stats.json", told)
    out.csv("diversity.csv", DIVERSITY, ([getattr(row, key) for key in DIVERSITY] for row in found.rows))
    out.csv("items.csv", ("id", *ITEMS), _items(found))
    pairs = (pair for one in found.informative.values() for pair in one.pairs())
    out.csv("pmi.csv", PMI, ([getattr(pair, key) for key in PMI] for pair in pairs))
    out.jsonl("hard.jsonl", hard_samples(found))
    out.failures(found.failures)
    out.text("report.html", page)
    return told


def hard_samples(found: CorpusAnalysis) -> Iterator[dict[str, Any]]:
    """The hard samples with their captions and measures, the hardest first."""
    rows: dict[int, dict[str, Any]] = {}
    chosen = set(found.hard.places)
    for row in found.rows:
        if row.place in chosen:
            kept = {
                key: getattr(row, key) for key in ("self_bleu", "purity") if getattr(row, key) is not None
            }
            rows.setdefault(row.place, {})[row.axis] = kept
    for place, hardness in zip(found.hard.places, found.hard.hardness, strict=True):
        (entry,) = found.entries.at([place])
        measures = {key: float(v) for key in ITEMS if (v := found.items[key][place]) == v}
        yield {
            "id": entry.id,
            "image": entry.image if Path(entry.image).is_file() else None,
            "hardness": hardness,
            **measures,
            "axes": {axis: {**captions(entry, axis), **rows[place].get(axis, {})} for axis in entry.axes},
        }


def captions(entry: Entry, axis: str) -> dict[str, Any]:
    """The captions of an axis, with their confidences where there are any."""
    own = entry.axes[axis]
    found: dict[str, Any] = {"captions": [caption.text for caption in own]}
    if any(caption.confidence is not None for caption in own):
        found["confidence"] = [caption.confidence for caption in own]
    return found


def _items(found: CorpusAnalysis) -> Iterator[Sequence[Any]]:
    place = 0
    for chunk in found.entries.chunks(1000):
        for entry in chunk:
            yield [entry.id, *(float(found.items[key][place]) for key in ITEMS)]
            place += 1
