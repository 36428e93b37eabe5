"""CLIPScore's formulas (Hessel et al. 2021, equations 1 and 2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.metrics.clipscore import clipscore, refclipscore

COSINE = st.floats(-1, 1)


@pytest.mark.parametrize(("cosine", "score"), [(0.3, 0.75), (0.0, 0.0), (-0.2, 0.0), (1.0, 2.5)])
def test_clipscore(cosine: float, score: float) -> None:
    assert clipscore(cosine) == pytest.approx(score)


def test_refclipscore_is_the_harmonic_mean_with_the_best_reference() -> None:
    assert refclipscore(0.75, [0.5, 0.9, -0.1]) == pytest.approx(2 * 0.75 * 0.9 / 1.65)
    assert refclipscore(0.0, [0.0]) == 0.0
    assert refclipscore(0.6, [0.7]) == pytest.approx(2 * 0.6 * 0.7 / 1.3)


@given(COSINE, st.lists(COSINE, min_size=1, max_size=5))
def test_refclipscore_lies_between_its_parts(cosine: float, references: list[float]) -> None:
    clip_s, best = (
        clipscore(cosine),
        max(0.0, *references) if len(references) > 1 else max(0.0, references[0]),
    )
    assert min(clip_s, best) - 1e-9 <= refclipscore(clip_s, references) <= max(clip_s, best) + 1e-9
