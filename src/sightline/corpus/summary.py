"""The analysis as plain data: what stats.json holds, and what the tables show."""

from collections import Counter
from typing import Any

import numpy as np

from sightline.corpus import self_bleu
from sightline.corpus.analysis import CorpusAnalysis, expand, overall_confidence, purity_of
from sightline.corpus.counting import AxisCounts
from sightline.corpus.measures import MEASURES, Link, column, described, links

WORDS = 20
"""Most frequent words that are listed, as in the paper's figures."""
LEMMAS = 6
"""Lemmas of each axis whose objects are listed."""
OBJECTS = 12
EXACT = 1e-6


def summary(found: CorpusAnalysis) -> dict[str, Any]:
    """Everything but the single rows."""
    return {
        "pictures": len(found.entries),
        "pictures_found": found.pictures_there,
        "captions": sum(counts.captions for counts in found.axes.values()),
        "nlp": found.signatures["nlp"],
        "self_bleu": self_bleu.signature(),
        "purity_scorer": purity_of(found),
        "axes": {axis: _axis(found, axis) for axis in found.axes},
        "total": table_row(total(found)),
        "confidence": described(overall_confidence(found)),
        "correlations": correlations(found),
        "published": published(found),
        "pmi": _pmi(found),
        "hard": _hard(found),
        "corrections": found.corrections.to_json() if found.corrections else None,
        "failures": len(found.failures),
        "notes": found.notes,
    }


def table_row(counts: AxisCounts) -> dict[str, Any]:
    """The columns of the paper's Table 2."""
    return {
        "tokens": counts.tokens,
        "length": counts.tokens / counts.captions if counts.captions else None,
        "unique": len(counts.types),
        "captions": counts.captions,
    }


def total(found: CorpusAnalysis) -> AxisCounts:
    """The high-level axes together."""
    together = AxisCounts()
    for axis in found.high_axes:
        together.update(found.axes[axis])
    return together


def _axis(found: CorpusAnalysis, axis: str) -> dict[str, Any]:
    counts = found.axes[axis]
    rows = [row for row in found.rows if row.axis == axis]
    confidence = found.confidence.get(axis, Counter())
    return {
        **table_row(counts),
        "pictures": sum(found.per_picture[axis].values()),
        "captions_per_picture": _sorted(found.per_picture[axis]),
        "lengths": _sorted(counts.lengths),
        "nouns": counts.nouns.most_common(WORDS),
        "verbs": counts.verbs.most_common(WORDS),
        "lemmas": counts.lemmas.most_common(WORDS),
        "confidence": described(expand(confidence)),
        "confidence_counts": _sorted(confidence),
        **{name: described(column(rows, name)) for name in ("self_bleu", "diversity", "purity")},
        "published_purity": described(column(rows, "published_purity")),
    }


def correlations(found: CorpusAnalysis) -> dict[str, list[dict[str, Any]]]:
    """Axis by axis over all axes, within each axis, and picture by picture (Figure 17)."""
    by_axis = {
        axis: _told(
            links({name: column([row for row in found.rows if row.axis == axis], name) for name in MEASURES})
        )
        for axis in found.high_axes
    }
    return {
        "axes": _told(links({name: column(found.rows, name) for name in MEASURES})),
        "items": _told(links({name: found.items[name] for name in MEASURES})),
        **{f"axis:{axis}": told for axis, told in by_axis.items() if len(by_axis) > 1},
    }


def published(found: CorpusAnalysis) -> dict[str, Any] | None:
    """Ours beside the published numbers in the file, where there are any."""
    ours, theirs = column(found.rows, "self_bleu"), column(found.rows, "published_self_bleu")
    both = np.isfinite(ours) & np.isfinite(theirs)
    names = ("confidence", "published_self_bleu", "published_purity")
    columns = {name: column(found.rows, name) for name in names}
    if not both.any() and not np.isfinite(columns["published_purity"]).any():
        return None
    far = np.abs(ours - theirs)[both]
    purity = links({name: column(found.rows, name) for name in ("purity", "published_purity")})
    return {
        "self_bleu": {"n": int(both.sum()), "equal": int((far <= EXACT).sum())},
        "purity": _told(purity)[0] if purity and found.settings.purity != "published" else None,
        "correlations": _told(links(columns)),
    }


def _pmi(found: CorpusAnalysis) -> dict[str, Any]:
    return {
        "floor": found.settings.floor,
        "floor_by": found.settings.floor_by,
        "lemma_floor": found.settings.lemma_floor,
        "axes": {
            axis: {
                "pictures": one.images,
                "objects": len(one.objects),
                "lemmas": len(one.lemmas),
                "pairs": int(one.together.nnz),
                "top": [
                    {
                        "lemma": lemma,
                        "objects": [
                            [pair.object, pair.pmi, pair.together] for pair in one.of(lemma, OBJECTS)
                        ],
                    }
                    for lemma in found.top_lemmas(axis, LEMMAS)
                ],
            }
            for axis, one in found.informative.items()
        },
    }


def _hard(found: CorpusAnalysis) -> dict[str, Any]:
    return {
        "selected": len(found.hard.places),
        "conditions": [
            {"measure": condition.measure, "sign": condition.sign, "limit": limit, "given": str(condition)}
            for condition, limit in found.hard.conditions
        ],
    }


def _told(found: list[Link]) -> list[dict[str, Any]]:
    return [
        {"x": one.x, "y": one.y, "n": one.n, "pearson": one.pearson, "spearman": one.spearman, "why": one.why}
        for one in found
    ]


def _sorted(times: Counter[Any]) -> dict[str, int]:
    return {f"{key:g}": times[key] for key in sorted(times)}
