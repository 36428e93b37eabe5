"""Intervals, p-values and corrections of a comparison, against independent programs and against what must hold."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats

from sightline.meta.comparison.contest import Contest, Side, Together, contests, corrected, rounds_for
from sightline.meta.significance import holm
from sightline.pipeline.resampling import drawn_sums, group_sums, swapped_sums

scores = st.floats(-5, 5, allow_subnormal=False)


def side(values: list[float] | np.ndarray) -> Side:
    return Side(np.asarray(values, float), Together.mean(values))


def contest(a: list[float] | np.ndarray, b: list[float] | np.ndarray, **options: int) -> Contest:
    (found,) = contests([(side(a), side(b))], np.arange(len(a)), **options)
    return found


def test_the_p_of_few_items_is_the_exact_one_of_scipy() -> None:
    rng = np.random.default_rng(3)
    for n in (2, 5, 9):
        a, b = rng.normal(0.3, 1, n), rng.normal(0, 1, n)
        exact = stats.permutation_test(
            (a, b), lambda x, y: np.mean(x) - np.mean(y), permutation_type="samples", n_resamples=np.inf
        )
        assert contest(a, b).p == pytest.approx(exact.pvalue)


def test_p_and_interval_of_many_items_are_near_those_of_scipy() -> None:
    rng = np.random.default_rng(4)
    a = rng.gamma(2, 1, 300)
    b = a + rng.normal(0.1, 0.8, 300)
    found = contest(a, b, samples=20_000, rounds=20_000)
    differ = stats.bootstrap(
        (a, b), lambda x, y: x.mean() - y.mean(), paired=True, vectorized=False,
        method="percentile", n_resamples=20_000, rng=1,
    )  # fmt: skip
    assert found.difference == pytest.approx(float(np.mean(a - b)))
    assert (found.low, found.high) == pytest.approx(tuple(differ.confidence_interval), abs=0.005)
    swapped = stats.permutation_test((a - b,), np.mean, permutation_type="samples", n_resamples=20_000, rng=1)
    assert found.p == pytest.approx(swapped.pvalue, abs=0.01)
    # What it says could be shown is what a t test with this spread finds in four cases of five.
    error = np.std(a - b, ddof=1) / np.sqrt(300)
    shown = found.detectable or 0.0
    power = stats.nct.sf(stats.t.ppf(0.975, 299), 299, shown / error)
    assert power == pytest.approx(0.8, abs=0.02)


def test_bleu_is_resampled_as_sacrebleu_resamples_it() -> None:
    shuffled, words = random.Random(5), "a the man dog runs over green hill and sees two birds in sky".split()
    references = [" ".join(shuffled.choices(words, k=12)) for _ in range(150)]

    def system(keep: float) -> list[str]:
        return [
            " ".join(word if shuffled.random() < keep else shuffled.choice(words) for word in text.split())
            for text in references
        ]

    texts = {"a": system(0.83), "b": system(0.8)}
    bleu, sentence = BLEU(), BLEU(effective_order=True)
    named = [(name, list(lines)) for name, lines in texts.items()]
    _, swapped = PairedTest(named, {"BLEU": bleu}, [references], test_type="ar", n_samples=5000)()
    _, drawn = PairedTest(named, {"BLEU": bleu}, [references], test_type="bs", n_samples=5000)()

    def together(rows: np.ndarray) -> np.ndarray:
        totals = rows.round().astype(int).tolist()
        return np.array([bleu.compute_bleu(row[:4], row[4:8], *row[8:]).score for row in totals])

    sides = []
    for lines in texts.values():
        found = [sentence.sentence_score(text, [ref]) for text, ref in zip(lines, references, strict=True)]
        rows = np.array([(*f.counts, *f.totals, f.sys_len, f.ref_len) for f in found], float)
        sides.append(Side(np.array([f.score for f in found]), Together(rows, together)))
    (found,) = contests([(sides[0], sides[1])], np.arange(150), samples=5000, rounds=5000)
    scores = swapped["BLEU"]
    assert (found.a, found.b) == pytest.approx((scores[0].score, scores[1].score))
    assert found.p == pytest.approx(scores[1].p_value, abs=0.02)
    for one, theirs in zip(sides, drawn["BLEU"], strict=True):
        values = one.together.of(drawn_sums(one.together.rows, 5000, 0))
        assert values.mean() == pytest.approx(theirs.mean, abs=0.15)
        assert np.diff(np.quantile(values, (0.025, 0.975)))[0] / 2 == pytest.approx(theirs.ci, rel=0.08)


def test_intervals_hold_what_they_should_and_chance_is_seldom_taken_for_a_difference() -> None:
    """A small run of benchmarks/measure_compare.py: 300 pairs of systems with skewed scores that go together."""
    rng, held, false = np.random.default_rng(10), 0, 0
    for seed in range(300):
        easy = rng.gamma(2, 1, 60)
        a, b = (easy + rng.gamma(1, 1, 60) for _ in range(2))
        moved, same = contests([(side(a + 0.2), side(b)), (side(a), side(b))], np.arange(60), seed=seed)
        held += (moved.low or 0) <= 0.2 <= (moved.high or 0)
        false += same.p < 0.05
    assert 0.92 < held / 300 < 0.98 and 0.02 < false / 300 < 0.08


def test_holm_corrects_as_r_does() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])  # p.adjust(p, "holm")
    assert holm([]) == [] and holm([0.7]) == [0.7]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_between_p_and_bonferroni_and_keeps_the_order(p: list[float]) -> None:
    found = holm(p)
    assert all(one <= more <= min(1.0, one * len(p)) + 1e-12 for one, more in zip(p, found, strict=True))
    assert [found[i] for i in np.argsort(p, kind="stable")] == sorted(found)


@settings(deadline=None, max_examples=50)
@given(st.lists(scores, min_size=1, max_size=40))
def test_a_system_against_itself(values: list[float]) -> None:
    found = contest(values, list(values), samples=200, rounds=200)
    assert (found.difference, found.p, found.wins, found.losses) == (0, 1, 0, 0)
    assert found.ties == found.n == len(values) and found.detectable is None
    assert (found.low, found.high) == ((0, 0) if len(values) > 1 else (None, None))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(scores, scores), min_size=2, max_size=40))
def test_turning_a_pair_round_turns_its_outcome_round(pairs: list[tuple[float, float]]) -> None:
    a, b = map(list, zip(*pairs, strict=True))
    one, other = contest(a, b), contest(b, a)
    assert one.difference == -other.difference and one.p == pytest.approx(other.p, abs=1e-9)
    assert (one.wins, one.ties, one.losses) == (other.losses, other.ties, other.wins)
    assert (one.low, one.high) == pytest.approx((-(other.high or 0), -(other.low or 0)), abs=1e-9)
    assert one.low is not None and one.high is not None and one.low <= one.high
    assert 0 < one.p <= 1


def test_one_item_leaves_nothing_to_resample() -> None:
    found = contest([0.5], [0.25])
    assert (found.low, found.high, found.p, found.detectable) == (None, None, 1.0, None)


def test_a_constant_difference_has_no_spread() -> None:
    found = contest([0.3] * 40, [0.2] * 40)
    assert (found.low, found.high) == pytest.approx((0.1, 0.1))
    assert found.p == pytest.approx(1 / 1001) and found.detectable is None and found.wins == 40


def test_groups_are_drawn_and_swapped_whole() -> None:
    """Copies of an item with the same picture tell nothing new: the interval does not shrink with them."""
    rng = np.random.default_rng(6)
    a, b = rng.normal(0.1, 1, 80), rng.normal(0, 1, 80)
    once = contest(a, b)
    group = np.repeat(np.arange(80), 5)
    (often,) = contests([(side(a[group]), side(b[group]))], group)
    assert often.n == 400 and often.groups == 80
    assert (often.low, often.high, often.p) == pytest.approx((once.low, once.high, once.p))
    alone = contest(a[group], b[group])
    assert (alone.high or 0) - (alone.low or 0) < 0.6 * ((often.high or 0) - (often.low or 0))


def test_what_else_is_compared_does_not_change_a_pair() -> None:
    rng = np.random.default_rng(7)
    a, b, c = (side(rng.random(60)) for _ in range(3))
    alone = contests([(a, b)], np.arange(60))[0]
    among = contests([(c, a), (a, b), (b, c)], np.arange(60))[1]
    for name in ("difference", "low", "high", "p", "detectable"):
        assert getattr(alone, name) == pytest.approx(getattr(among, name))


def test_holm_counts_all_that_was_compared() -> None:
    rng = np.random.default_rng(8)
    pairs = [(side(rng.random(50) + shift), side(rng.random(50))) for shift in (0.0, 0.05, 0.3)]
    found = corrected(contests(pairs, np.arange(50)))
    assert [one.p_holm for one in found] == holm([one.p for one in found])
    assert rounds_for(100, 1000) * 0.005 >= 100  # the smallest p survives a hundred comparisons


@settings(deadline=None)
@given(st.integers(1, 12), st.integers(1, 5))
def test_sums_of_groups_and_of_all_ways_to_swap(groups: int, times: int) -> None:
    rows = np.arange(groups * times * 2, dtype=float).reshape(-1, 2)
    group = np.tile(np.arange(groups), times)
    sums = group_sums(rows, group)
    assert sums.sum(axis=0) == pytest.approx(rows.sum(axis=0))
    moved, exact = swapped_sums(sums, 1 << groups, 0)
    assert exact and len(moved) == 1 << groups
    assert moved.mean(axis=0) == pytest.approx(rows.sum(axis=0) / 2)
