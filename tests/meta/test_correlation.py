"""Correlations against SciPy, and the bootstrap against resampling by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sightline.meta import correlation
from sightline.meta.correlation import NAMES, bootstrap, correlate, interval, resample

numbers = st.one_of(st.integers(0, 4).map(float), st.floats(-5, 5).map(lambda x: round(x, 3)))
observations = st.lists(st.tuples(numbers, st.integers(1, 5).map(float)), min_size=2, max_size=60)


@settings(deadline=None, max_examples=200)
@given(observations)
def test_equals_scipy(pairs: list[tuple[float, float]]) -> None:
    x, y = (np.array(column) for column in zip(*pairs, strict=True))
    found = correlate(x, y)
    if len(set(x)) < 2 or len(set(y)) < 2:
        assert set(found.values.values()) == {None} and found.why
        return
    oracle = {
        "kendall_b": stats.kendalltau(x, y, variant="b").statistic,
        "kendall_c": stats.kendalltau(x, y, variant="c").statistic,
        "spearman": stats.spearmanr(x, y).statistic,
        "pearson": stats.pearsonr(x, y).statistic,
    }
    for name, value in oracle.items():
        assert found.values[name] == pytest.approx(value, abs=1e-12), name


def test_equals_scipy_on_many() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(1, 5, 20_000).astype(float)
    x = np.round(y + rng.normal(size=20_000), 2)
    found = correlate(x, y).values
    assert found["kendall_b"] == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-12)
    assert found["kendall_c"] == pytest.approx(stats.kendalltau(x, y, variant="c").statistic, abs=1e-12)
    assert found["spearman"] == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-12)
    assert found["pearson"] == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-12)


@pytest.mark.parametrize("limit", [correlation.CELLS, 0])
def test_bootstrap_equals_resampling_by_hand(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correlation, "CELLS", limit)
    rng = np.random.default_rng(2)
    cluster = np.sort(rng.integers(0, 12, 90))
    y = rng.integers(1, 5, 90).astype(float)
    x = np.round(y + rng.normal(size=90) * 2, 1)
    weights = resample(12, 25, seed=3)
    found = bootstrap(x, y, cluster, weights)
    for sample, weight in enumerate(weights):
        times = weight[cluster].astype(int)
        by_hand = correlate(np.repeat(x, times), np.repeat(y, times)).values
        for name in NAMES:
            assert found[name][sample] == pytest.approx(by_hand[name], abs=1e-12), name


@pytest.mark.parametrize("limit", [correlation.CELLS, 0])
def test_a_resample_of_equal_scores_or_ratings_has_no_coefficient(
    limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rounding leaves such a resample's variance a little above zero."""
    monkeypatch.setattr(correlation, "CELLS", limit)
    rng = np.random.default_rng(5)
    cluster = np.repeat(np.arange(40), 2)
    x = np.where(cluster < 37, 0.1, rng.normal(size=80))
    y = rng.normal(size=80)
    weights = resample(40, 300, seed=1)
    constant = (weights[:, 37:] == 0).all(axis=1)
    assert constant.sum() > 5
    for scores, ratings in ((x, y), (y, x)):
        for name, values in bootstrap(scores, ratings, cluster, weights).items():
            assert (np.isnan(values) == constant).all(), name


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1.0, 1e170, 1e307])
def test_size_does_not_matter(size: float) -> None:
    x, y = np.array([1.0, 2.0, 4.0, 3.0, 7.0]), np.array([1.0, 3.0, 2.0, 4.0, 9.0])
    plain, cluster, weights = correlate(x, y), np.arange(5), resample(5, 20, seed=0)
    assert correlate(x * size, y).values == pytest.approx(plain.values)
    assert correlate(x, y * size).values == pytest.approx(plain.values)
    np.testing.assert_allclose(
        bootstrap(x * size, y, cluster, weights)["pearson"], bootstrap(x, y, cluster, weights)["pearson"]
    )


def test_resamples_draw_every_cluster_equally() -> None:
    weights = resample(50, 2000, seed=0)
    assert (weights.sum(axis=1) == 50).all()
    np.testing.assert_allclose(weights.mean(axis=0), 1, atol=0.1)


def test_undefined_is_none_with_a_reason() -> None:
    assert correlate([1.0, 1.0, 1.0], [1, 2, 3]).why == "all scores are equal"
    assert correlate([1.0, 2.0, 3.0], [2, 2, 2]).why == "all ratings are equal"
    assert correlate([1.0], [2]).why == "fewer than two observations"
    assert correlate([1.0, float("nan")], [1, 2]).values["kendall_c"] is None


def test_interval_leaves_out_undefined_samples() -> None:
    samples = np.append(np.linspace(0, 1, 101), np.nan)
    assert interval(samples) == pytest.approx((0.025, 0.975))
    assert interval(np.full(10, np.nan)) is None
