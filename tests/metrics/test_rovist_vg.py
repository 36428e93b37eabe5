"""RoViST-VG's equations 2 and 3 (Wang et al. 2022)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.metrics.rovist_vg import s_vg, scaled


def test_equation_2_by_hand() -> None:
    idf, cosine = np.array([1.0, 2.0, 0.5]), np.array([0.4, 0.3, 0.9])
    assert s_vg(idf, cosine) == pytest.approx(
        math.log(math.exp(0.4) + math.exp(0.6) + math.exp(0.45)), abs=1e-12
    )


@given(st.floats(-20, 20))
def test_equation_3(s: float) -> None:
    assert scaled(s) == pytest.approx(2 / (1 + math.exp(-0.5 * s)) - 1, abs=1e-12)


@given(st.lists(st.tuples(st.floats(-3, 12), st.floats(-1, 1)), min_size=1, max_size=30))
def test_one_more_noun_never_lowers_the_score(nouns: list[tuple[float, float]]) -> None:
    idf, cosine = (np.array(side) for side in zip(*nouns, strict=True))
    assert s_vg(idf, cosine) >= s_vg(idf[:1], cosine[:1]) - 1e-9
    assert s_vg(idf, cosine) >= float((idf * cosine).max()) - 1e-9
