"""Consensus, confidence and points: worked numbers, and laws that hold for any ratings."""

import statistics
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import UsageError
from sightline.people.consensus import Tally, expert, weighted_consensus
from sightline.people.scales import Scale, scales

VICR = scales()["vicr"]
ratings = st.lists(st.integers(1, 5), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("given_ratings", "seed", "expected"),
    [
        (
            [1, 5],
            None,
            [1, 2, 3, 2, 1],
        ),  # c = 1 + (1 + 4/4)/2 = 2: a miss of 0..4 earns 3 2 1 0 -1 around con 3
        ([3], None, [1, 2, 3, 2, 1]),  # n = 1: c = 2
        ([], 1, [3, 2, 1, -1, -1]),  # two seeds: c = 1.5
        ([1] * 40, None, [3, 2, 0, -1, -1]),  # near c = 1
    ],
)
def test_points_of_the_reading(given_ratings, seed, expected):
    tally = Tally.of(VICR, given_ratings, seed)
    assert [tally.points(x) for x in VICR.values] == expected


def test_a_miss_at_c_two_costs_a_point_per_level():
    tally = Tally.of(VICR, [1])
    assert tally.confidence == 2
    assert [tally.points(x) for x in VICR.values] == [3, 2, 1, 0, -1]


def test_half_is_rounded_up():
    assert Tally.of(VICR, [2, 3]).consensus == 3
    assert Tally.of(VICR, [1, 2]).consensus == 2


def test_two_people_replace_the_seeds_one_by_one():
    tally = Tally.empty(VICR, seed=5)
    assert (tally.n, tally.consensus) == (2, 5)
    tally = tally.add(1)
    assert (tally.n, tally.standing, tally.consensus) == (2, (1, 0, 0, 0, 1), 3)
    tally = tally.add(1)
    assert (tally.n, tally.standing, tally.consensus) == (2, (2, 0, 0, 0, 0), 1)
    assert tally.add(2).n == 3


def test_without_seed_the_first_rating_has_no_consensus_to_meet():
    tally = Tally.empty(VICR)
    assert (tally.consensus, tally.confidence, tally.points(3), tally.mean, tally.variance) == (None,) * 5


def test_an_experts_level_earns_three_for_a_hit():
    assert [expert(VICR, 5).points(x) for x in (5, 4, 3, 2, 1)] == [3, 2, 1, -1, -1]


@given(ratings)
def test_consensus_and_spread_are_the_textbook_ones(values):
    tally = Tally.of(VICR, values)
    exact = Fraction(sum(values), len(values))
    assert tally.consensus == (exact + Fraction(1, 2)).__floor__()
    assert tally.mean == pytest.approx(statistics.fmean(values))
    assert tally.variance == pytest.approx(statistics.pvariance(values))
    c = 1 + (1 + (len(values) - 1) * statistics.pvariance(values) / 4) / len(values)
    assert tally.confidence == pytest.approx(c)


@given(st.sampled_from(sorted(scales())), st.data())
def test_points_stay_in_range_and_fall_with_distance(name, data):
    scale = scales()[name]
    levels = st.sampled_from(scale.values)
    tally = Tally.of(scale, data.draw(st.lists(levels, max_size=30)), data.draw(st.none() | levels))
    if tally.n == 0:
        return
    assert 1 <= tally.confidence <= 2
    assert scale.low <= tally.consensus <= scale.high
    points = {abs(x - tally.consensus): tally.points(x) for x in scale.values}
    assert all(-1 <= p <= 3 for p in points.values())
    assert tally.points(tally.consensus) == 3
    ordered = [points[d] for d in sorted(points)]
    assert ordered == sorted(ordered, reverse=True)


@given(ratings, st.integers(1, 5), st.integers(1, 5))
def test_adding_and_removing_is_the_identity_and_order_does_not_matter(values, extra, seed):
    tally = Tally.of(VICR, values, seed)
    assert tally.add(extra).remove(extra) == tally
    assert Tally.of(VICR, sorted(values), seed) == tally


@given(ratings)
def test_equal_weights_give_the_rounded_mean(values):
    assert weighted_consensus(VICR, [(v, 0.7) for v in values]) == Tally.of(VICR, values).consensus


def test_a_weightless_rater_is_not_heard():
    assert weighted_consensus(VICR, [(1, 0.0), (5, 1.0)]) == 5
    assert weighted_consensus(VICR, []) is None


@pytest.mark.parametrize("wrong", [0, 6, 2.5, "3", None, True])
def test_a_rating_off_the_scale_is_refused(wrong):
    with pytest.raises(UsageError, match="scale 1-5"):
        Tally.empty(VICR).add(wrong)


def test_scales_are_data():
    assert {name: len(s.levels) for name, s in scales().items()} == {
        "vicr": 5, "flickr8k": 4, "likert": 5, "likelihood": 5, "grounding": 4, "binary": 2,
    }  # fmt: skip
    assert all(level.meaning for level in VICR.levels)
    with pytest.raises(ValueError, match="rise by one"):
        Scale("odd", "?", tuple(reversed(VICR.levels)))
