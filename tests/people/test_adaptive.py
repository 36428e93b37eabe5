"""Ratings until the interval of the mean is narrow enough."""

import math
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t as student

from sightline.errors import UsageError
from sightline.people.assignment import PRIOR_RATINGS, Hard, Until, wanted
from sightline.people.consensus import Tally
from sightline.people.scales import scale
from sightline.people.study import parse_study

LIKERT = scale("likert")


def tally(*ratings):
    return Tally.of(LIKERT, ratings)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=12))
def test_the_width_is_that_of_students_interval_with_the_expected_spread_mixed_in(ratings):
    rule = Until(until=1.0)
    squares = sum((value - statistics.mean(ratings)) ** 2 for value in ratings)
    freedom = PRIOR_RATINGS + len(ratings) - 1
    spread = math.sqrt((PRIOR_RATINGS * 0.7**2 + squares) / freedom)
    low, high = student.interval(0.95, freedom, scale=spread / math.sqrt(len(ratings)))
    assert rule.width(tally(*ratings)) == pytest.approx(high - low)


@given(st.lists(st.integers(1, 5), max_size=30), st.floats(0.3, 3), st.integers(1, 4), st.integers(4, 12))
def test_an_item_gets_between_least_and_most(ratings, until, least, most):
    rule = Until(until=until, least=least, most=most)
    found = tally()
    for rating in ratings:
        asked = wanted(rule, Hard(), found)
        if asked <= found.people:
            break
        assert max(found.people + 1, least) == asked <= most
        found = found.add(rating)
    if wanted(rule, Hard(), found) == found.people:
        assert found.people >= least
        assert found.people == most or rule.width(found) < until


def test_agreement_ends_it_sooner_than_dispute():
    rule = Until(until=1.5, most=9)
    assert wanted(rule, Hard(), tally(4, 4, 4, 4)) == 4
    assert wanted(rule, Hard(), tally(1, 5, 2, 4)) == 5


@pytest.mark.parametrize(
    ("rule", "why"),
    [
        ("{until = 0}", "above 0"),
        ("{until = 1.0, least = 5, most = 3}", "not above most"),
        ("{until = 1.0, level = 1.0}", "level"),
        ("{most = 3}", "until"),
    ],
)
def test_a_wrong_rule_is_told(rule, why):
    with pytest.raises(UsageError, match=why):
        parse_study(f'kind = "rating game"\ntitle = "x"\nratings_per_item = {rule}', "toml")


def test_a_rule_needs_levels():
    with pytest.raises(UsageError, match="one level per item"):
        parse_study('kind = "description"\ntitle = "x"\nratings_per_item = {until = 1.0}', "toml")
