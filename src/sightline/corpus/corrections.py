"""How much correctors changed captions, and whether they agree (HL, A.1)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from sightline.corpus.edits import LONGEST, levenshtein
from sightline.errors import UsageError
from sightline.io.items import parse_text
from sightline.io.source import BadLine, Source
from sightline.items import Failure
from sightline.psychometrics.alpha import Interval, bootstrap_alpha

MANY = 10
"""The paper counts captions that changed by more characters than this."""

WHO = ("corrector", "annotator", "rater", "worker")


@dataclass(frozen=True)
class Correction:
    """One caption as one corrector left it."""

    id: str
    corrector: str
    original: str
    corrected: str
    distance: int


@dataclass
class Agreement:
    """Two or more correctors on the captions that they share."""

    shared: int
    edited: Interval
    """Krippendorff's alpha (nominal) over edited or not."""
    distance: Interval
    """Krippendorff's alpha (interval) over Levenshtein's distance."""
    equal: float
    """Share of shared captions that all left in the same wording."""


@dataclass
class Corrections:
    """All corrections of a file."""

    made: list[Correction]
    failures: list[Failure] = field(default_factory=list)

    @property
    def distances(self) -> list[int]:
        return [correction.distance for correction in self.made]

    def to_json(self) -> dict[str, Any]:
        agreement = self.agreement()
        return {
            "corrections": len(self.made),
            "captions": len({correction.id for correction in self.made}),
            "correctors": dict(Counter(correction.corrector for correction in self.made)),
            "edited": share(self.distances, 0),
            "more_than_10": share(self.distances, MANY),
            "mean_distance": float(np.mean(self.distances)),
            "distances": {str(key): n for key, n in sorted(Counter(self.distances).items())},
            "agreement": None
            if agreement is None
            else {
                "shared": agreement.shared,
                "alpha_edited": _interval(agreement.edited),
                "alpha_distance": _interval(agreement.distance),
                "same_wording": agreement.equal,
            },
        }

    def agreement(self, samples: int = 1000) -> Agreement | None:
        """Over captions with two correctors or more; None where there are none."""
        by_caption: dict[str, dict[str, Correction]] = {}
        for correction in self.made:
            by_caption.setdefault(correction.id, {})[correction.corrector] = correction
        shared = [own for own in by_caption.values() if len(own) > 1]
        if not shared:
            return None
        correctors = sorted({correction.corrector for correction in self.made})
        distances = np.full((len(correctors), len(shared)), np.nan)
        for column, own in enumerate(shared):
            for who, correction in own.items():
                distances[correctors.index(who), column] = correction.distance
        edited = np.where(np.isnan(distances), np.nan, (distances > 0).astype(float))
        same = np.mean([len({c.corrected.strip() for c in own.values()}) == 1 for own in shared])
        return Agreement(
            len(shared),
            bootstrap_alpha(edited, "nominal", samples=samples),
            bootstrap_alpha(distances, "interval", samples=samples),
            float(same),
        )


def share(distances: Sequence[int], above: int) -> float:
    """The share of captions that changed by more than so many characters."""
    return sum(distance > above for distance in distances) / len(distances)


def read_corrections(path: Path) -> Corrections:
    """A CSV or JSON Lines file: `id, original, corrected, corrector` a line, or `corrected_NAME` columns.

    Without `id`, equal originals are one caption. An empty cell of a `corrected_NAME` column means: not seen.
    """
    source = Source(path)
    if source.kind not in ("csv", "jsonl"):
        raise UsageError(f"{path}: corrections come as CSV or JSON Lines")
    found = Corrections([])
    seen: set[tuple[str, str]] = set()
    for where, row in source.records() if source.kind == "csv" else source.objects():
        if isinstance(row, BadLine):
            found.failures.append(Failure(row.id, "correction", row.reason, where))
            continue
        id = str(row.get("id") or row.get("original") or "")[:200]
        try:
            for correction in _corrections(row, id):
                if (correction.id, correction.corrector) in seen:
                    raise ValueError(f"'{correction.corrector}' corrected it twice; the first counts")
                seen.add((correction.id, correction.corrector))
                found.made.append(correction)
        except ValueError as fault:
            found.failures.append(Failure(id, "correction", str(fault), where))
    if not found.made:
        reason = f"; {found.failures[0].source}: {found.failures[0].reason}" if found.failures else ""
        raise UsageError(f"{path}: no correction in it{reason}")
    return found


def _corrections(row: Mapping[str, Any], id: str) -> Iterator[Correction]:
    original = row.get("original")
    if not isinstance(original, str) or not original.strip():
        raise ValueError("'original' is missing or empty")
    by_corrector = {
        name.removeprefix("corrected_"): text
        for name, text in row.items()
        if name.startswith("corrected_") and text
    }
    if "corrected" in row:
        who = next((str(row[name]) for name in WHO if row.get(name)), "corrector")
        by_corrector[who] = row["corrected"]
    if not by_corrector:
        raise ValueError("there is no 'corrected' or 'corrected_NAME'")
    for who, text in by_corrector.items():
        parse_text(original)
        if not parse_text(text).strip():
            raise ValueError("'corrected' is empty")
        if max(len(original), len(text)) > LONGEST:
            raise ValueError(f"longer than {LONGEST:,} characters: not compared")
        yield Correction(id, who, original, text, levenshtein(original.strip(), text.strip()))


def _interval(found: Interval) -> dict[str, float | None]:
    return {
        name: None if value != value else value
        for name, value in (("value", found.value), ("low", found.low), ("high", found.high))
    }
