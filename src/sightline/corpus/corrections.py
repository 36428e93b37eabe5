"""How much correctors changed captions, and whether they agree (HL, A.1)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from sightline.corpus.checks import LONGEST
from sightline.errors import BadLine, UsageError
from sightline.io.items import parse_text
from sightline.io.table import TableFile
from sightline.items import Failure
from sightline.psychometrics.agreement.alpha import Interval, bootstrap_alpha
from sightline.report.page import clean

MANY = 10
"""The paper counts captions that changed by more characters than this."""

SHOWN = 200
"""Characters of a caption that a failure names."""

WHO = ("corrector", "annotator", "rater", "worker")


@dataclass(frozen=True)
class Correction:
    """One caption as one corrector left it."""

    id: str
    corrector: str
    original: str
    corrected: str
    distance: int


@dataclass(frozen=True)
class Refused:
    """A correction that cannot be used, and why."""

    id: str
    reason: str


@dataclass
class CorrectorAgreement:
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

    def agreement(self, samples: int = 1000) -> CorrectorAgreement | None:
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
        return CorrectorAgreement(
            len(shared),
            bootstrap_alpha(edited, "nominal", samples=samples),
            bootstrap_alpha(distances, "interval", samples=samples),
            float(same),
        )


def share(distances: Sequence[int], above: int) -> float:
    """The share of captions that changed by more than so many characters."""
    return sum(distance > above for distance in distances) / len(distances)


def read_corrections(path: Path) -> Corrections:
    """A table: `id, original, corrected, corrector` a line, or `corrected_NAME` columns.

    Without `id`, equal originals are one caption. An empty or blank cell of a `corrected_NAME` column means: not seen.
    """
    source = TableFile(path)
    found = Corrections([])
    seen: set[tuple[str, str]] = set()
    for where, row in source.records():
        if isinstance(row, BadLine):
            found.failures.append(Failure(row.id, "correction", row.reason, where))
            continue
        for made in _corrections(row, _caption(row)):
            if isinstance(made, Correction) and (made.id, made.corrector) in seen:
                made = Refused(made.id, f"'{made.corrector}' corrected it twice; the first counts")
            if isinstance(made, Refused):
                id, reason = clean(made.id[:SHOWN]), clean(made.reason)
                found.failures.append(Failure(id, "correction", reason, where))
            else:
                seen.add((made.id, made.corrector))
                found.made.append(made)
    if not found.made:
        reason = f"; {found.failures[0].source}: {found.failures[0].reason}" if found.failures else ""
        raise UsageError(f"{path}: no correction in it{reason}")
    return found


def _corrections(row: Mapping[str, Any], id: str) -> Iterator[Correction | Refused]:
    """What each corrector of a row made of its caption; one that cannot be used leaves the others in place."""
    original, versions = row.get("original"), _versions(row)
    if _blank(original):
        yield Refused(id, "'original' is missing or empty")
    elif not versions:
        yield Refused(id, "there is no 'corrected' or 'corrected_NAME'")
    else:
        for who, text in versions.items():
            try:
                yield _compared(id, parse_text(who), original, text)
            except ValueError as fault:
                yield Refused(id, f"{who}: {fault}")


def _versions(row: Mapping[str, Any]) -> dict[str, Any]:
    """The corrected texts by corrector."""
    found = {
        name.removeprefix("corrected_"): text
        for name, text in row.items()
        if name.startswith("corrected_") and not _blank(text)
    }
    if "corrected" in row:
        who = next((str(row[name]) for name in WHO if not _blank(row.get(name))), "corrector")
        found[who] = row["corrected"]
    return found


def _compared(id: str, who: str, original: Any, text: Any) -> Correction:
    before, after = parse_text(original).strip(), parse_text(text).strip()
    if not after:
        raise ValueError("'corrected' is empty")
    if max(len(before), len(after)) > LONGEST:
        raise ValueError(f"longer than {LONGEST:,} characters: not compared")
    return Correction(id, who, original, text, Levenshtein.distance(before, after))


def _caption(row: Mapping[str, Any]) -> str:
    """What tells captions apart: the id, or the original where there is none."""
    given = row.get("original") if _blank(row.get("id")) else row["id"]
    return "" if given is None else str(given)


def _blank(cell: Any) -> bool:
    return cell is None or (isinstance(cell, str) and not cell.strip())


def _interval(found: Interval) -> dict[str, float | None]:
    return {
        name: None if value != value else value
        for name, value in (("value", found.value), ("low", found.low), ("high", found.high))
    }
