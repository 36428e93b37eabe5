"""Agreement coefficients against the krippendorff package and published examples."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sightline.errors import UsageError
from sightline.psychometrics.agreement.alpha import SCALES, alpha, bootstrap_alpha
from sightline.psychometrics.agreement.coefficients import (
    fleiss_kappa,
    icc,
    item_views,
    kendall_w,
    pairwise,
    rater_views,
)
from sightline.psychometrics.agreement.workers import select_workers
from sightline.psychometrics.pages.verdicts import agreement_verdict

N = np.nan
# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C: four observers, twelve units
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, N, N, N],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, N, 3],
        [N, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, N],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, N],
    ]
)
# Shrout and Fleiss 1979, Table 2: six targets, four judges
JUDGES = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], float
).T
# The worked example of Wikipedia's "Fleiss' kappa": ten subjects, fourteen raters, five categories
SUBJECTS = np.array(
    [
        [0, 0, 0, 0, 14],
        [0, 2, 6, 4, 2],
        [0, 0, 3, 5, 6],
        [0, 3, 9, 2, 0],
        [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0],
        [3, 2, 6, 3, 0],
        [2, 5, 3, 2, 2],
        [6, 5, 2, 1, 0],
        [0, 2, 2, 3, 7],
    ]
)
# R's irr and DescTools, data set anxiety: three raters, twenty subjects, many ties
ANXIETY = np.array(
    [
        [3, 3, 3, 4, 5, 5, 2, 3, 5, 2, 2, 6, 1, 5, 2, 2, 1, 2, 4, 3],
        [3, 6, 4, 6, 2, 4, 2, 4, 3, 3, 2, 3, 3, 3, 2, 2, 1, 3, 3, 4],
        [2, 1, 4, 4, 3, 2, 1, 6, 1, 1, 1, 2, 3, 3, 1, 1, 3, 3, 2, 2],
    ],
    float,
)


@pytest.mark.parametrize(
    ("scale", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849), ("ratio", 0.797)]
)
def test_alpha_of_krippendorffs_example(scale, published):
    assert alpha(OBSERVERS, scale) == pytest.approx(published, abs=5e-4)


@pytest.mark.parametrize("scale", SCALES)
def test_alpha_equals_the_krippendorff_package(scale):
    """200 random tables with missing values."""
    rng = np.random.default_rng(0)
    compared = 0
    while compared < 200:
        raters, items, levels = rng.integers(2, 8), rng.integers(3, 30), rng.integers(2, 7)
        ratings = rng.integers(1, levels + 1, (raters, items)).astype(float)
        ratings[rng.random(ratings.shape) < rng.uniform(0, 0.6)] = np.nan
        if (
            len(np.unique(ratings[~np.isnan(ratings)])) < 2
            or not ((~np.isnan(ratings)).sum(axis=0) > 1).any()
        ):
            continue
        theirs = krippendorff.alpha(reliability_data=ratings, level_of_measurement=scale)
        if np.isnan(theirs):
            continue
        assert alpha(ratings, scale) == pytest.approx(theirs, abs=1e-9)
        compared += 1


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 5), st.integers(2, 9)),
        elements=st.sampled_from([1.0, 2.0, 3.0, N]),
    ),
    st.sampled_from(SCALES),
)
def test_alpha_does_not_know_the_order_of_raters_or_items(ratings, scale):
    value = alpha(ratings, scale)
    assert alpha(ratings[::-1, ::-1], scale) == pytest.approx(value, nan_ok=True)
    assert np.isnan(value) or value <= 1 + 1e-12


def test_alpha_is_one_where_all_agree_and_undefined_where_nothing_varies():
    assert alpha(np.tile([1.0, 2, 3, 1], (3, 1))) == 1
    assert np.isnan(alpha(np.ones((3, 4))))
    assert np.isnan(alpha(np.array([[1, N], [N, 2.0]])))


def test_bootstrap_interval_holds_the_value_and_is_repeatable():
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 200)
    ratings = np.clip(truth + rng.integers(-1, 2, (4, 200)), 1, 5).astype(float)
    for scale in SCALES:
        found = bootstrap_alpha(ratings, scale, samples=200)
        assert found.low < found.value < found.high
        assert found == bootstrap_alpha(ratings, scale, samples=200)


def test_bootstrap_interval_covers():
    """Two raters who agree with a known probability: nominal alpha of the population is known."""
    rng = np.random.default_rng(2)
    hits = 0
    for n in range(100):
        first = rng.integers(0, 2, 150)
        second = np.where(rng.random(150) < 0.7, first, rng.integers(0, 2, 150))  # alpha = 0.7
        found = bootstrap_alpha(np.array([first, second], float), "nominal", samples=300, seed=n)
        hits += found.low <= 0.7 <= found.high
    assert 87 <= hits <= 100


def test_intervals_of_few_items_are_wider_cover_better_and_say_so():
    """Ten items, four raters: the percentile interval holds the population's alpha in about 86 of 100 samples."""
    rng = np.random.default_rng(3)

    def rate(items):
        truth = rng.integers(1, 6, items)
        return np.clip(np.round(truth + rng.normal(0, 0.9, (4, items))), 1, 5)

    population = alpha(rate(20_000))
    hits = percentile = 0
    for n in range(200):
        ratings = rate(10)
        found = bootstrap_alpha(ratings, samples=300, seed=n)
        assert found.rough and found.items == 10
        hits += found.low <= population <= found.high
        drawn = [alpha(ratings[:, rng.integers(0, 10, 10)]) for _ in range(100)] if n < 50 else [np.nan]
        low, high = np.nanquantile(drawn, [0.025, 0.975]) if n < 50 else (np.nan, np.nan)
        percentile += low <= population <= high
    assert hits / 200 >= 0.9
    assert hits / 200 > percentile / 50 + 0.01
    many = bootstrap_alpha(rate(40), samples=100)
    assert not many.rough
    assert "a guide only: it rests on 10 items" in agreement_verdict(found, "ordinal")
    assert "guide" not in agreement_verdict(many, "ordinal")


def test_icc_of_shrout_and_fleiss():
    found = icc(JUDGES)
    assert (found.icc1, found.icc2) == (pytest.approx(0.17, abs=0.005), pytest.approx(0.29, abs=0.005))
    assert (found.icc1k, found.icc2k) == (pytest.approx(0.44, abs=0.005), pytest.approx(0.62, abs=0.005))


def test_icc_with_holes_rests_on_what_is_there():
    holes = JUDGES.copy()
    holes[0, 0] = np.nan
    found = icc(holes)
    assert (found.items_one_way, found.items_two_way) == (6, 5)
    assert found.icc2 == pytest.approx(icc(JUDGES[:, 1:]).icc2)


def test_fleiss_kappa_of_the_worked_example():
    ratings = np.array([np.repeat(np.arange(5), row) for row in SUBJECTS], float).T
    assert fleiss_kappa(ratings) == pytest.approx(0.210, abs=5e-4)


def test_kendall_w_by_hand():
    """Siegel and Castellan's form: three judges, six applicants, no ties; R = 8 14 11 11 11 8 gives S =
    25.5."""
    ranks = np.array([[1, 6, 3, 2, 5, 4], [1, 5, 6, 4, 2, 3], [6, 3, 2, 5, 4, 1]], float)
    assert kendall_w(ranks).w == pytest.approx(25.5 / (9 * (6**3 - 6) / 12), abs=1e-12)
    assert kendall_w(ranks).w == pytest.approx(0.162, abs=5e-4)


def test_anxiety_as_in_r():
    """DescTools: KendallW(anxiety, TRUE) is 0.5396569; irr: icc(anxiety, "twoway", "agreement") is 0.198."""
    assert kendall_w(ANXIETY).w == pytest.approx(0.5396569, abs=1e-7)
    assert icc(ANXIETY).icc2 == pytest.approx(0.198, abs=5e-4)


def test_kendall_w_with_ties_equals_the_friedman_statistic():
    from scipy.stats import friedmanchisquare

    rng = np.random.default_rng(3)
    for _ in range(20):
        ratings = rng.integers(1, 5, (5, 12)).astype(float)
        friedman = friedmanchisquare(*ratings.T).statistic
        found = kendall_w(ratings)
        assert found.chi2 == pytest.approx(friedman)
        assert found.w == pytest.approx(friedman / (5 * 11))


def test_kendall_w_is_one_for_equal_orders():
    assert kendall_w(np.array([[1, 2, 2, 5], [1, 3, 3, 4], [0, 2, 2, 9]], float)).w == pytest.approx(1)


def test_pairwise_agreement_by_hand():
    ratings = np.array([[1, 2, 3], [1, 3, 5], [2, 3, N]], float)
    found = pairwise(ratings)  # item 1: =, 1, 1; item 2: 1, 1, =; item 3: 2 apart
    assert (found.pairs, found.exact, found.adjacent) == (7, pytest.approx(2 / 7), pytest.approx(6 / 7))


def test_views_of_raters_and_items():
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, 60)
    good = np.clip(truth + rng.integers(-1, 2, (4, 60)), 1, 5)
    severe, wild = np.clip(truth - 1, 1, 5), rng.integers(1, 6, 60)
    ratings = np.vstack([good, severe, wild]).astype(float)
    views = rater_views(ratings)
    assert min(range(6), key=lambda j: views[j].bias) == 4
    assert min(range(6), key=lambda j: views[j].correlation) == 5
    assert max(range(6), key=lambda j: views[j].alpha_without) == 5
    items = item_views(ratings)
    assert items[0].mean == pytest.approx(ratings[:, 0].mean())
    assert all(0 <= item.exact <= 1 for item in items)


def worker_table():
    rng = np.random.default_rng(5)
    truth = rng.integers(1, 6, 80)
    gold = np.clip(truth + rng.choice([-1, 0, 0, 0, 1], (3, 80)), 1, 5)
    good, wrong = np.clip(truth + rng.choice([-1, 0, 0, 1], 80), 1, 5), 6 - truth
    return np.vstack([gold, good, wrong]).astype(float), ["g1", "g2", "g3", "good", "wrong"]


def test_workers_are_kept_by_the_ratio_of_alphas():
    ratings, names = worker_table()
    found = select_workers(ratings, names, ["g1", "g2", "g3"])
    assert found.alpha_gold == pytest.approx(alpha(ratings[:3]))
    good, wrong = found.workers
    assert good.keep and good.ratio == pytest.approx(alpha(ratings[:4]) / alpha(ratings[:3]))
    assert not wrong.keep and wrong.ratio < 0.5


def test_only_gold_items_count_for_a_worker():
    ratings, names = worker_table()
    more = np.hstack([ratings, np.full((5, 20), np.nan)])
    more[3:, 80:] = np.random.default_rng(0).integers(1, 6, (2, 20))
    assert select_workers(more, names, names[:3]).workers == select_workers(ratings, names, names[:3]).workers


def test_worker_selection_says_what_is_wrong():
    ratings, names = worker_table()
    with pytest.raises(UsageError, match="no rater is called 'zoe'"):
        select_workers(ratings, names, ["g1", "zoe"])
    with pytest.raises(UsageError, match="at least two gold"):
        select_workers(ratings, names, ["g1", "g1"])
    with pytest.raises(UsageError, match="no yardstick"):
        select_workers(ratings, names, ["good", "wrong"])
