"""GROOViST's formulas against the paper's own numbers."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sightline.metrics.groovist import groovist, penalize, temporal_misalignment

VIST_THETA = 0.6159241924121119
# Figure 4 of Surikuchi et al. 2023: the phrases of story 50392.
SIMILARITY = np.array([0.676, 0.675, 0.626, 0.583, 0.572, 0.674, 0.650, 0.595, 0.533, 0.670])
CONCRETENESS = np.array([2.675, 3.165, 2.920, 2.175, 2.943, 4.540, 3.030, 2.630, 2.370, 3.085])


def test_figure_4() -> None:
    score = groovist(SIMILARITY, CONCRETENESS, VIST_THETA)
    assert score == pytest.approx(1.24166, abs=1e-5)  # with the figure's rounded inputs
    assert score == pytest.approx(1.24123, abs=1e-3)  # published, unrounded
    assert math.tanh(score) == pytest.approx(0.846, abs=1e-3)


def test_the_ablations_of_figure_4() -> None:
    ones = np.ones(10)
    assert groovist(SIMILARITY, CONCRETENESS, VIST_THETA, penalty=False) == pytest.approx(
        float(np.mean(SIMILARITY * CONCRETENESS))
    )
    assert groovist(SIMILARITY, ones, VIST_THETA, penalty=False) == pytest.approx(0.6254)


def test_a_phrase_at_theta_is_grounded() -> None:
    assert penalize(np.array([0.5, 0.4999]), 0.5).tolist() == pytest.approx([0.5, -0.0001])


@given(
    arrays(np.float64, st.integers(1, 20), elements=st.floats(0, 2.5)),
    st.floats(0, 2.5),
    st.floats(1, 5),
)
def test_score_stays_between_the_worst_and_the_best_phrase(
    similarity: np.ndarray, theta: float, weight: float
) -> None:
    score = groovist(similarity, np.full(len(similarity), weight), theta)
    assert -theta * weight - 1e-9 <= score <= similarity.max() * weight + 1e-9


def test_temporal_misalignment_counts_pairs_of_phrase_and_other_picture() -> None:
    similarity = np.array([[0.9, 0.9, 0.9], [0.9, 0.1, 0.1], [0.1, 0.9, 0.1]])
    sentence = np.array([0, 0, 2])
    # Sentence 0: the first phrase matches two other pictures, the second none: 2 / 2. Sentence 2: one of one.
    assert temporal_misalignment(similarity, sentence, 0.5) == pytest.approx(1.0)


@given(st.integers(1, 5), st.integers(1, 12), st.randoms(use_true_random=False))
def test_temporal_misalignment_is_at_most_the_other_pictures(
    pictures: int, phrases: int, random: object
) -> None:
    rng = np.random.default_rng(phrases * 7 + pictures)
    t = temporal_misalignment(rng.random((phrases, pictures)), rng.integers(0, pictures, phrases), 0.3)
    assert 0 <= t <= pictures - 1
