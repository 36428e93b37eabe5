"""Other agreement coefficients, and the views of single raters and items. Ratings are a rater x item
table."""

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, rankdata

from sightline.psychometrics.agreement.alpha import Scale, all_counts, alpha_of_counts, value_counts
from sightline.psychometrics.model.responses import Floats, distinct


def fleiss_kappa(ratings: Floats) -> float:
    """Fleiss' kappa (1971) for nominal ratings; items may have different numbers of ratings, at least two."""
    counts, _ = value_counts(ratings)
    if not len(counts):
        return float("nan")
    size = counts.sum(axis=1)
    observed = float(((counts * (counts - 1)).sum(axis=1) / (size * (size - 1))).mean())
    chance = float(((counts.sum(axis=0) / counts.sum()) ** 2).sum())
    return (observed - chance) / (1 - chance) if chance < 1 else float("nan")


@dataclass(frozen=True)
class Concordance:
    """Kendall's W with its chi-squared test."""

    w: float
    chi2: float
    p: float
    items: int


def kendall_w(ratings: Floats) -> Concordance:
    """Kendall's W, corrected for ties, over the items that every rater rated."""
    whole = complete(ratings)
    raters, items = whole.shape
    if raters < 2 or items < 2:
        return Concordance(float("nan"), float("nan"), float("nan"), items)
    ranks = rankdata(whole, axis=1)
    total = ranks.sum(axis=0)
    s = float(((total - total.mean()) ** 2).sum())
    ties = sum(float((n**3 - n).sum()) for n in ((whole == v).sum(axis=1) for v in distinct(whole.ravel())))
    most = raters**2 * (items**3 - items) - raters * ties
    if most <= 0:
        return Concordance(float("nan"), float("nan"), float("nan"), items)
    w = 12 * s / most
    statistic = raters * (items - 1) * w
    return Concordance(w, statistic, float(chi2.sf(statistic, items - 1)), items)


@dataclass(frozen=True)
class Intraclass:
    """Intraclass correlations (Shrout and Fleiss 1979) and how many items each rests on."""

    icc1: float
    icc1k: float
    icc2: float
    icc2k: float
    items_one_way: int
    items_two_way: int


def icc(ratings: Floats) -> Intraclass:
    """ICC(1) over all items with two ratings; ICC(2,1) and ICC(2,k) over the items that every rater rated."""
    icc1, icc1k, one_way = _one_way(ratings)
    whole = complete(ratings)
    raters, items = whole.shape
    icc2 = icc2k = float("nan")
    if raters > 1 and items > 1:
        mean = whole.mean()
        between = raters * float(((whole.mean(axis=0) - mean) ** 2).sum()) / (items - 1)
        judges = items * float(((whole.mean(axis=1) - mean) ** 2).sum()) / (raters - 1)
        residual = whole - whole.mean(axis=0) - whole.mean(axis=1, keepdims=True) + mean
        error = float((residual**2).sum()) / ((items - 1) * (raters - 1))
        single = between + (raters - 1) * error + raters * (judges - error) / items
        average = between + (judges - error) / items
        icc2 = (between - error) / single if single else float("nan")
        icc2k = (between - error) / average if average else float("nan")
    return Intraclass(icc1, icc1k, icc2, icc2k, one_way, items if raters > 1 else 0)


def _one_way(ratings: Floats) -> tuple[float, float, int]:
    """ICC(1,1) and ICC(1,k); with unequal numbers of ratings k is their adjusted mean (Donner and Koval
    1980)."""
    given = ~np.isnan(ratings)
    size = given.sum(axis=0)
    kept, size = ratings[:, size >= 2], size[size >= 2].astype(float)
    items, total = len(size), size.sum()
    if items < 2:
        return float("nan"), float("nan"), items
    means = np.nansum(kept, axis=0) / size
    grand = float(np.nansum(kept) / total)
    between = float((size * (means - grand) ** 2).sum()) / (items - 1)
    within = float(np.nansum((kept - means) ** 2)) / (total - items)
    k = (total - float((size**2).sum()) / total) / (items - 1)
    bottom = between + (k - 1) * within
    return (
        float((between - within) / bottom) if bottom else float("nan"),
        float((between - within) / between) if between else float("nan"),
        items,
    )


def complete(ratings: Floats) -> Floats:
    """The items that every rater rated."""
    return ratings[:, ~np.isnan(ratings).any(axis=0)]


@dataclass(frozen=True)
class Pairwise:
    """Over all pairs of ratings of one item by two raters: how often they are equal, and at most one
    apart."""

    exact: float
    adjacent: float
    pairs: int


def pairwise(ratings: Floats) -> Pairwise:
    """Agreement of pairs of ratings, every pair counted once."""
    counts, values = value_counts(ratings)
    size = counts.sum(axis=1)
    pairs = float((size * (size - 1)).sum())
    if not pairs:
        return Pairwise(float("nan"), float("nan"), 0)
    near = (np.abs(values[:, None] - values[None, :]) <= 1).astype(float)
    exact = float((counts * (counts - 1)).sum())
    adjacent = float(np.einsum("uv,uv->", counts @ near, counts) - counts.sum())
    return Pairwise(exact / pairs, adjacent / pairs, round(pairs / 2))


@dataclass(frozen=True)
class RaterView:
    """One rater beside the others: NaN where they share too little."""

    ratings: int
    exact: float
    """Share of the other raters' ratings of the same items that are equal to this rater's."""
    bias: float
    """Mean of this rater's rating minus the others' mean on the same item."""
    correlation: float
    """Pearson correlation with the others' mean."""
    alpha_without: float
    """Alpha of the others: higher than the overall one means this rater disturbs."""


def rater_views(ratings: Floats, scale: Scale = "ordinal") -> list[RaterView]:
    """Each rater against the rest."""
    given = ~np.isnan(ratings)
    filled = np.where(given, ratings, 0)
    count, total = given.sum(axis=0), filled.sum(axis=0)
    counts, values = all_counts(ratings)
    views = []
    for j in range(len(ratings)):
        rated = np.flatnonzero(given[j])
        others_counts = counts.copy()
        others_counts[rated, np.searchsorted(values, ratings[j, rated])] -= 1
        others_counts = others_counts[others_counts.sum(axis=1) >= 2]
        shared = np.flatnonzero(given[j] & (count > 1))
        own = ratings[j, shared]
        others = (total[shared] - own) / (count[shared] - 1)
        same = (ratings[:, shared] == own).sum(axis=0) - 1
        varied = len(shared) > 2 and own.std() > 0 and others.std() > 0
        views.append(
            RaterView(
                int(given[j].sum()),
                float(same.sum() / (count[shared] - 1).sum()) if len(shared) else float("nan"),
                float((own - others).mean()) if len(shared) else float("nan"),
                float(np.corrcoef(own, others)[0, 1]) if varied else float("nan"),
                alpha_of_counts(others_counts, values, scale),
            )
        )
    return views


@dataclass(frozen=True)
class ItemView:
    """How far raters agree on one item."""

    ratings: int
    mean: float
    sd: float
    exact: float
    """Share of pairs of raters who gave it the same value."""


def item_views(ratings: Floats) -> list[ItemView]:
    """Each item's ratings."""
    views = []
    for column in ratings.T:
        own = column[~np.isnan(column)]
        n = len(own)
        same = np.unique(own, return_counts=True)[1]
        views.append(
            ItemView(
                n,
                float(own.mean()) if n else float("nan"),
                float(own.std(ddof=1)) if n > 1 else float("nan"),
                float((same * (same - 1)).sum() / (n * (n - 1))) if n > 1 else float("nan"),
            )
        )
    return views
