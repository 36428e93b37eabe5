"""Agreement among raters, and of scores with ratings.

Ratings of several raters are a table: a row per rater, a column per item, None or NaN where there is none. A statistic
that is not defined, since nothing varies or no item has two ratings, is NaN and never a number that could be mistaken
for one.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import UsageError
from sightline.meta.correlation import correlate
from sightline.psychometrics.agreement import alpha as _alpha
from sightline.psychometrics.agreement import coefficients

Table = Sequence[Sequence[float | None]] | ArrayLike


def krippendorff_alpha(table: Table, scale: _alpha.Scale = "ordinal") -> float:
    """Krippendorff's alpha (2011): agreement beyond chance, for any number of raters and missing ratings.

    Arguments: `table` of ratings; `scale`: nominal, ordinal, interval or ratio. NaN where nothing varies.
    Raises UsageError where the table is none or the scale is unknown.

    >>> observers = [[1, 2, 3, 3, 2, 1, 4, 1, 2, None], [1, 2, 3, 3, 2, 2, 4, 1, 2, 5]]
    >>> round(krippendorff_alpha(observers, "nominal"), 4)
    0.8522
    """
    return _alpha.alpha(_table(table), scale)


def fleiss_kappa(table: Table) -> float:
    """Fleiss' kappa (1971) for nominal ratings; items may have different numbers of ratings, at least two.

    Arguments: `table` of ratings. NaN where all ratings are equal. Raises UsageError where the table is none.

    >>> round(fleiss_kappa([[1, 1, 2, 2], [1, 2, 2, 2], [1, 1, 2, 1]]), 4)
    0.3333
    """
    return coefficients.fleiss_kappa(_table(table))


def kendall_w(table: Table) -> coefficients.Concordance:
    """Kendall's W, corrected for ties, with its chi-squared test, over the items that every rater rated.

    Arguments: `table` of ratings. `w` is NaN where fewer than two items have all ratings, or nothing varies.
    Raises UsageError where the table is none.

    >>> kendall_w([[1, 2, 3, 4], [1, 2, 4, 3], [2, 1, 3, 4]]).w
    0.8222222222222222
    """
    return coefficients.kendall_w(_table(table))


def icc(table: Table) -> coefficients.Intraclass:
    """Intraclass correlations ICC(1), ICC(1,k), ICC(2,1) and ICC(2,k) (Shrout & Fleiss 1979).

    Arguments: `table` of ratings. NaN where they are not defined. Raises UsageError where the table is none.

    >>> judges = [[9, 6, 8, 7, 10, 6], [2, 1, 4, 1, 5, 2], [5, 3, 6, 2, 6, 4], [8, 2, 8, 6, 9, 7]]
    >>> found = icc(judges)
    >>> round(found.icc1, 2), round(found.icc2, 2), round(found.icc2k, 2)
    (0.17, 0.29, 0.62)
    """
    return coefficients.icc(_table(table))


def pairwise_agreement(table: Table) -> coefficients.Pairwise:
    """Over all pairs of ratings of one item: how often they are equal, and at most one apart.

    Arguments: `table` of ratings. NaN where no item has two ratings. Raises UsageError where the table is none.

    >>> pairwise_agreement([[1, 2, 5], [1, 3, 3]])
    Pairwise(exact=0.3333333333333333, adjacent=0.6666666666666666, pairs=3)
    """
    return coefficients.pairwise(_table(table))


def kendall_b(scores: ArrayLike, ratings: ArrayLike) -> float:
    """Kendall's tau_b (1945): rank correlation corrected for ties on either side.

    Arguments: `scores` and `ratings`, one each for every observation. NaN where all of either are equal.
    Raises UsageError where they are not two rows of equal length.

    >>> round(kendall_b([0.1, 0.4, 0.3, 0.9], [1, 2, 2, 3]), 4)
    0.9129
    """
    return _coefficient("kendall_b", scores, ratings)


def kendall_c(scores: ArrayLike, ratings: ArrayLike) -> float:
    """Kendall's tau_c (Stuart 1953): rank correlation for different numbers of levels, the one that papers report.

    Arguments: `scores` and `ratings`, one each for every observation. NaN where all of either are equal.
    Raises UsageError where they are not two rows of equal length.

    >>> kendall_c([0.1, 0.4, 0.3, 0.9], [1, 2, 2, 3])
    0.9375
    """
    return _coefficient("kendall_c", scores, ratings)


def spearman(scores: ArrayLike, ratings: ArrayLike) -> float:
    """Spearman's rho: Pearson's r of the ranks, equal values sharing their mean rank.

    Arguments: `scores` and `ratings`, one each for every observation. NaN where all of either are equal.
    Raises UsageError where they are not two rows of equal length.

    >>> round(spearman([0.1, 0.4, 0.3, 0.9], [1, 2, 2, 3]), 4)
    0.9487
    """
    return _coefficient("spearman", scores, ratings)


def pearson(scores: ArrayLike, ratings: ArrayLike) -> float:
    """Pearson's r: linear correlation.

    Arguments: `scores` and `ratings`, one each for every observation. NaN where all of either are equal.
    Raises UsageError where they are not two rows of equal length.

    >>> round(pearson([0.1, 0.4, 0.3, 0.9], [1, 2, 2, 3]), 4)
    0.9596
    """
    return _coefficient("pearson", scores, ratings)


def _coefficient(name: str, scores: ArrayLike, ratings: ArrayLike) -> float:
    x, y = np.asarray(scores, np.float64), np.asarray(ratings, np.float64)
    if x.ndim != 1 or x.shape != y.shape:
        raise UsageError(f"scores and ratings are two rows of equal length, not {x.shape} and {y.shape}")
    found = correlate(x, y).values[name]
    return float("nan") if found is None else found


def _table(given: Table) -> NDArray[np.float64]:
    try:
        table = np.asarray(given, np.float64)  # None becomes NaN
    except (TypeError, ValueError) as fault:
        raise UsageError(
            f"ratings are a table of numbers, a row per rater and a column per item ({fault})"
        ) from None
    if table.ndim != 2 or not table.size:
        raise UsageError("ratings are a table of numbers, a row per rater and a column per item")
    return table
