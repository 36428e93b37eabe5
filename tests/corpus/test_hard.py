"""Hard samples: conditions, quantiles, and the order of what is chosen."""

import numpy as np
import pytest

from sightline.corpus.hard import DEFAULT, parse_conditions, select
from sightline.errors import UsageError

MEASURES = {
    "confidence": np.array([1.0, 2.0, 3.0, 4.0, 5.0, np.nan]),
    "purity": np.array([0.1, 0.2, 0.9, 0.8, 0.7, 0.0]),
    "self_bleu": np.array([10.0, 90.0, 90.0, 5.0, 1.0, 50.0]),
    "scene.confidence": np.array([5.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
}


def chosen(conditions: str) -> list[int]:
    return select(MEASURES, parse_conditions(conditions)).places


def test_limits_and_quantiles() -> None:
    assert chosen("confidence<3") == [0, 1]
    assert chosen("confidence<=3,purity<0.5") == [0, 1]
    assert chosen("confidence<=3, purity < 0.5, self_bleu > 20") == [1]
    assert chosen("confidence<=25%") == [0, 1]  # the quantile of 1..5 is 2
    assert chosen("scene.confidence>=5") == [0]
    assert chosen("purity<=0") == [5]
    assert chosen("confidence<0") == []


def test_the_hardest_come_first() -> None:
    found = select(MEASURES, parse_conditions("confidence<=3,self_bleu>=10"))
    assert found.places == [1, 2, 0]
    assert found.hardness == sorted(found.hardness, reverse=True)
    # Picture 1: three of five are surer and one as sure, four of six less alike and one more as alike.
    assert found.hardness[0] == pytest.approx((3.5 / 5 + 5 / 6) / 2)


def test_a_measure_without_values_is_left_out() -> None:
    nothing = {**MEASURES, "confidence": np.full(6, np.nan)}
    found = select(nothing, parse_conditions(DEFAULT))
    assert found.left_out == ["confidence"] and len(found.conditions) == 2


@pytest.mark.parametrize("wrong", ["confidence", "confidence=3", "purity<x", "purity<=150%", ""])
def test_wrong_conditions(wrong: str) -> None:
    with pytest.raises(UsageError, match="--hard"):
        parse_conditions(wrong)


def test_an_unknown_measure() -> None:
    with pytest.raises(UsageError, match="did you mean 'purity'"):
        chosen("puritty<1")
