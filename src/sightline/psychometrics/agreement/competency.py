"""Competency of raters as in the VICR paper (sections 3.1 and 4.1): their ratings beside an expert's."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sightline.errors import UsageError
from sightline.items import Rating
from sightline.psychometrics.model.design import category_probabilities
from sightline.psychometrics.model.fit import ModelFit, fit, thurstone_thresholds
from sightline.psychometrics.model.persons import wle
from sightline.psychometrics.model.responses import Floats, from_values

EXACT, ADJACENT = 2, 1


def competency_scores(values: Floats, items: Sequence[str], expert: Mapping[str, float]) -> Floats:
    """2 for exact agreement with the expert, 1 for one level apart, 0 for more; items without an expert are
    NaN."""
    if not any(name in expert for name in items):
        raise UsageError(
            "no item of the ratings has an expert rating: the names must be the same in both files"
        )
    truth = np.array([expert.get(name, np.nan) for name in items])
    apart = np.abs(values - truth)
    return np.where(np.isnan(apart), np.nan, np.where(apart < 0.5, EXACT, np.where(apart < 1.5, ADJACENT, 0)))


@dataclass(frozen=True)
class At:
    """What people at one ability are expected to do."""

    label: str
    ability: float
    exact: float
    """Mean probability of exact agreement over items."""
    items_exact: float
    """Share of items on which exact agreement is more likely than not (second thresholds below the
    ability)."""
    items_adjacent: float
    """Share of items on which at least adjacent agreement is more likely than not."""


@dataclass(frozen=True)
class Competency:
    """Can the scale be taught, and do people use it consistently?"""

    above_first: float
    """Share of people whose ability lies above every item's first threshold."""
    above_first_count: int
    people: int
    ordered: float
    """Share of pairs of items in which one's second threshold lies above the other's first."""
    median_ability: float
    at: tuple[At, ...]


def reach(fit: ModelFit, score: int) -> Floats:
    """Ability at which each item's competency score is as likely to reach `score` as not.

    An item that nobody scored lower on is reached by all (-inf), one that nobody reached has +inf.
    """
    labels = fit.responses.labels
    level = np.array([sum(label < score for label in known) for known in labels])
    inside = np.flatnonzero((level > 0) & (level < [len(known) for known in labels]))
    found = np.where(level == 0, -np.inf, np.inf)
    found[inside] = thurstone_thresholds(fit.table, inside, level[inside])
    return found


def competency(fit: ModelFit, abilities: Floats, at: Sequence[tuple[str, float]]) -> Competency:
    """The paper's statistics, for people's abilities and at named ones (predicted means at training
    scores)."""
    first, second = reach(fit, ADJACENT), reach(fit, EXACT)
    above = abilities > first.max()
    return Competency(
        float(above.mean()),
        int(above.sum()),
        len(abilities),
        float((second[:, None] > first[None, :]).mean()),
        float(np.median(abilities)),
        tuple(_at(fit, label, ability, first, second) for label, ability in at),
    )


def _at(fit: ModelFit, label: str, ability: float, first: Floats, second: Floats) -> At:
    probability, _ = category_probabilities(fit.table, np.array([ability]))
    exact = [
        probability[i, known.index(EXACT), 0] if EXACT in known else 0.0
        for i, known in enumerate(fit.responses.labels)
    ]
    return At(
        label,
        ability,
        float(np.mean(exact)),
        float((second < ability).mean()),
        float((first < ability).mean()),
    )


@dataclass(frozen=True)
class RaterCheck:
    """How one rater did on items whose answer a study knows."""

    rater: str
    answers: int
    exact: float
    """Share of answers that are the expert's."""
    adjacent: float
    """Share that are at most one level off."""
    score: float
    """The mean competency score: 2 for exact agreement, 1 for one level apart, 0 for more."""


@dataclass(frozen=True)
class KnownAnswers:
    """What gold items, attention checks and the probation say of the raters."""

    raters: tuple[RaterCheck, ...]
    items: int
    competency: Competency | None
    """The partial credit model on the competency scores, where there is enough for one."""
    why: str | None
    """Why there is no model."""

    @property
    def answers(self) -> int:
        return sum(one.answers for one in self.raters)

    def mean(self, name: str) -> float:
        """A share or score over all answers."""
        return sum(one.answers * float(getattr(one, name)) for one in self.raters) / self.answers


def known_answers(known: Sequence[Rating]) -> KnownAnswers | None:
    """Raters beside the truth of the items that they were checked on; None where nobody was."""
    given = [one for one in known if one.expert is not None and not np.isnan(one.value)]
    if not given:
        return None
    names = ["/".join(filter(None, one.key)) for one in given]
    expert = {name: float(one.expert or 0) for name, one in zip(names, given, strict=True)}
    items = {name: place for place, name in enumerate(expert)}
    raters = {name: place for place, name in enumerate(dict.fromkeys(one.rater for one in given))}
    values = np.full((len(raters), len(items)), np.nan)
    for name, one in zip(names, given, strict=True):
        values[raters[one.rater], items[name]] = one.value
    scores = competency_scores(values, list(items), expert)
    checked = []
    for name, own in zip(raters, scores, strict=True):
        own = own[~np.isnan(own)]
        mean = float(own.mean())
        checked.append(
            RaterCheck(name, len(own), float((own == EXACT).mean()), float((own >= ADJACENT).mean()), mean)
        )
    try:
        responses = from_values(scores, persons=list(raters), items=list(items), unused="collapse")
        found = fit(responses)
        weighted = wle(found)
        at = [("mean ability", found.spread[0].estimate)]
        model = competency(found, weighted.ability[found.groups.of_person], at)
    except UsageError as fault:
        return KnownAnswers(tuple(checked), len(items), None, str(fault))
    return KnownAnswers(tuple(checked), len(items), model, None)


@dataclass(frozen=True)
class Factorial:
    """A design in which every picture meets a caption of every level, and what is missing from it."""

    images: tuple[str, ...]
    levels: tuple[float, ...]
    items: tuple[tuple[str | None, ...], ...]
    """image x level: the item, or None"""

    @property
    def missing(self) -> list[tuple[str, float]]:
        """Cells of the design without an item."""
        return [
            (image, level)
            for image, row in zip(self.images, self.items, strict=True)
            for level, item in zip(self.levels, row, strict=True)
            if item is None
        ]


def factorial(expert: Mapping[str, float], images: Mapping[str, str]) -> Factorial:
    """Lay items out by picture and expert level (the paper's 5 x 5); two items in one cell are an error."""
    pictures = tuple(dict.fromkeys(images[name] for name in expert))
    levels = tuple(sorted(set(expert.values())))
    cells: dict[tuple[str, float], str] = {}
    for name, level in expert.items():
        if (images[name], level) in cells:
            twin = cells[images[name], level]
            raise UsageError(
                f"items '{twin}' and '{name}' are both level {level:g} of picture '{images[name]}'"
            )
        cells[images[name], level] = name
    return Factorial(pictures, levels, tuple(tuple(cells.get((p, k)) for k in levels) for p in pictures))
