"""The partial credit model against eRm's published numbers, brute force and its own derivatives."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.stats import norm

from sightline.errors import UsageError
from sightline.psychometrics import fit, from_values
from sightline.psychometrics.model import conditional, marginal
from sightline.psychometrics.model.design import design_for
from sightline.psychometrics.model.groups import group
from sightline.psychometrics.model.population import Normal, Smooth
from sightline.psychometrics.model.responses import linked
from sightline.psychometrics.model.simulate import erm_centred, simulate

# eRm 1.0-2, PCM() on pcmdat2
ERM_THRESHOLDS = np.array([-0.10429, 2.18009, 0.57135, 1.99553, -2.31461, 0.59678, -0.98324, 0.88917])
ERM_LOG_LIKELIHOOD = -485.0172


def mixed_responses(seed=0, people=60, missing=0.2, covariates=0):
    """Items with one, two and three steps, and holes."""
    rng = np.random.default_rng(seed)
    taus = [np.array([0.3]), np.array([-0.8, 0.6]), np.array([-1.0, 0.2, 1.1]), np.array([0.4, -0.2])]
    values = simulate(rng.normal(size=people), taus, rng, missing)
    z = rng.normal(size=(people, covariates)).round(1)
    return from_values(
        values, covariates=z, covariate_names=[f"z{n}" for n in range(covariates)], unused="collapse"
    )


@pytest.fixture(scope="module")
def example(data):
    return from_values(np.loadtxt(data / "pcm_example.csv", delimiter=",", skiprows=1))


def test_conditional_equals_erm(example):
    found = fit(example, estimator="cml")
    assert found.thresholds()[0] == pytest.approx(ERM_THRESHOLDS, abs=1e-5)
    assert found.log_likelihood == pytest.approx(ERM_LOG_LIKELIHOOD, abs=1e-4)
    assert found.parameters == 7


def test_marginal_is_near_erm(example):
    found = fit(example)
    tau = found.thresholds()[0]
    assert tau - tau.mean() == pytest.approx(ERM_THRESHOLDS - ERM_THRESHOLDS.mean(), abs=0.06)
    assert isinstance(
        found.marginal.population, Smooth
    )  # the example's scores are far from a normal population's


def test_parameters_are_centred_as_in_erm():
    for model in ("pcm", "rsm"):
        for estimator in ("mml", "cml"):
            found = fit(mixed_responses(people=200), model=model, estimator=estimator)
            assert found.table[np.isfinite(found.table)].sum() == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("covariates", [0, 2])
def test_marginal_derivatives(covariates):
    responses = mixed_responses(covariates=covariates)
    design, groups = design_for("pcm", responses.steps), group(responses)
    population = Normal(covariates + 1)
    point = np.random.default_rng(1).normal(scale=0.4, size=design.weights.shape[1] + population.size)
    check_derivatives(marginal.MarginalLikelihood(design, responses, groups, population), point)


def test_smooth_population_derivatives():
    responses = mixed_responses()
    design, groups = design_for("pcm", responses.steps), group(responses)
    likelihood = marginal.MarginalLikelihood(design, responses, groups, Smooth(0.1, 0.9, 0.2))
    point = np.r_[
        np.random.default_rng(1).normal(scale=0.4, size=design.weights.shape[1]), 0.1, -0.4, 0.05, -0.03
    ]
    check_derivatives(likelihood, point, step=1e-5)


@pytest.mark.parametrize("model", ["pcm", "rsm"])
def test_conditional_derivatives(model):
    responses = mixed_responses()
    design, groups = design_for(model, responses.steps), group(responses)
    point = np.random.default_rng(1).normal(scale=0.6, size=design.weights.shape[1])
    check_derivatives(conditional.ConditionalLikelihood(design, responses, groups), point)


def check_derivatives(likelihood, point, step=1e-4):
    at = likelihood(point)
    for j in range(len(point)):
        move = np.zeros(len(point))
        move[j] = step
        up, down = likelihood(point + move), likelihood(point - move)
        assert (up.value - down.value) / (2 * step) == pytest.approx(at.gradient[j], abs=2e-5, rel=1e-5)
        assert (down.gradient - up.gradient) / (2 * step) == pytest.approx(
            at.information[j], abs=2e-4, rel=1e-5
        )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_conditional_likelihood_is_that_of_enumeration(seed):
    """Sum over persons of log P(pattern | score), with gamma summed over every possible pattern."""
    responses = mixed_responses(seed, people=25)
    design, groups = design_for("pcm", responses.steps), group(responses)
    free = np.random.default_rng(seed).normal(size=design.weights.shape[1])
    likelihood = conditional.ConditionalLikelihood(design, responses, groups)
    eta = np.split(design.weights @ free, np.cumsum(responses.steps)[:-1])
    eta = [np.r_[0, e] for e in eta]
    total = 0.0
    for row in responses.levels:
        seen = [i for i in range(len(row)) if row[i] >= 0]
        own = sum(eta[i][row[i]] for i in seen)
        patterns = itertools.product(*(range(len(eta[i])) for i in seen))
        same = [
            sum(eta[i][k] for i, k in zip(seen, p, strict=True)) for p in patterns if sum(p) == sum(row[seen])
        ]
        total += own - np.log(np.exp(same).sum())
    assert likelihood(free).value == pytest.approx(total, abs=1e-8)


def test_marginal_likelihood_is_that_of_quadrature():
    responses = mixed_responses(3, people=12, covariates=1)
    design, groups = design_for("pcm", responses.steps), group(responses)
    point = np.r_[np.random.default_rng(5).normal(size=design.weights.shape[1]), 0.3, 0.5, np.log(1.4)]
    eta = np.split(design.weights @ point[:-3], np.cumsum(responses.steps)[:-1])

    def chance(theta, row, z):
        p = norm.pdf(theta, 0.3 + 0.5 * z, 1.4)
        for i, k in enumerate(row):
            if k >= 0:
                weights = np.exp(np.r_[0, eta[i]] + np.arange(len(eta[i]) + 1) * theta)
                p *= weights[k] / weights.sum()
        return p

    total = sum(
        np.log(quad(chance, -12, 12, args=(row, z), epsabs=1e-13, epsrel=1e-11, limit=200)[0])
        for row, z in zip(responses.levels, responses.covariates[:, 0], strict=True)
    )
    assert marginal.MarginalLikelihood(design, responses, groups, Normal(2))(point).value == pytest.approx(
        total, abs=1e-7
    )


def test_dichotomous_items_are_the_rasch_model():
    """Two items: the conditional estimate is log(n10 / n01) apart, whatever else (Rasch 1960)."""
    values = np.array([[1, 0]] * 30 + [[0, 1]] * 10 + [[1, 1]] * 7 + [[0, 0]] * 5, float)
    found = fit(from_values(values), estimator="cml")
    easy, hard = found.thresholds()[0]
    assert hard - easy == pytest.approx(np.log(30 / 10), abs=1e-9)
    # the difference has variance 1/30 + 1/10 and each centred parameter half the difference
    assert found.thresholds()[1] == pytest.approx(np.sqrt(1 / 30 + 1 / 10) / 2, abs=1e-8)


def test_rating_scale_model_with_equal_steps_is_nested_in_partial_credit():
    rng = np.random.default_rng(2)
    taus = [d + np.array([-0.7, 0.7]) for d in rng.normal(size=6)]
    responses = from_values(simulate(rng.normal(size=800), taus, rng))
    wide, narrow = fit(responses), fit(responses, model="rsm")
    assert 0 <= 2 * (wide.log_likelihood - narrow.log_likelihood) < 20
    assert wide.parameters - narrow.parameters == 12 - 7
    steps = np.diff(narrow.thresholds()[0].reshape(6, 2), axis=1)
    assert steps == pytest.approx(steps[0, 0] * np.ones((6, 1)))


def test_many_items_do_not_overflow():
    rng = np.random.default_rng(4)
    taus = erm_centred([d + np.array([-1.0, 0.0, 1.0]) for d in rng.normal(size=120)])
    responses = from_values(simulate(rng.normal(scale=2.5, size=150), taus, rng), unused="collapse")
    design, groups = design_for("pcm", linked(responses).steps), group(responses)
    start = marginal.fit_marginal(design, responses, groups, Normal(1))
    curve = conditional.ConditionalLikelihood(design, responses, groups)(start.free)
    assert np.isfinite(curve.value) and np.all(np.isfinite(curve.information))
    assert np.linalg.eigvalsh(curve.information)[0] > 0


@pytest.mark.parametrize("estimator", ["mml", "cml"])
def test_missing_answers_do_not_move_the_items(estimator):
    rng = np.random.default_rng(6)
    taus = erm_centred([d + np.array([-0.8, 0.8]) for d in np.linspace(-1, 1, 8)])
    responses = from_values(simulate(rng.normal(size=3000), taus, rng, missing=0.3))
    found = fit(responses, estimator=estimator)
    tau, se = found.thresholds()
    assert np.abs((tau - np.concatenate(taus)) / se).max() < 3.5


def test_thurstone_thresholds_halve_the_probability(example):
    found = fit(example)
    at, se = found.thurstone()
    for n, (i, k) in enumerate(zip(found.design.item, found.design.level, strict=True)):
        weights = np.exp(found.table[i] + np.arange(3) * at[n])
        assert weights[k:].sum() / weights.sum() == pytest.approx(0.5)
    assert np.all(se > 0)
    assert np.all(np.diff(at.reshape(4, 2), axis=1) > 0)


def test_thurstone_equals_steps_for_two_levels():
    values = np.random.default_rng(0).integers(0, 2, (200, 5)).astype(float)
    found = fit(from_values(values), estimator="cml")
    assert found.thurstone()[0] == pytest.approx(found.thresholds()[0], abs=1e-9)
    assert found.thurstone()[1] == pytest.approx(found.thresholds()[1], abs=1e-9)


def test_no_spread_is_said():
    """Everybody has the same ability: the spread is at its bound and a note says so."""
    values = np.random.default_rng(1).integers(0, 2, (400, 3)).astype(float)
    values[:, 2] = 1 - values[:, 1]
    found = fit(from_values(values))
    assert found.marginal.at_bound
    assert any("cannot be told apart" in note for note in found.responses.notes)


def test_unused_level_is_an_error_or_collapsed():
    values = np.array([[0, 0], [2, 1], [4, 0], [0, 1], [2, 0], [4, 1], [2, 1]], float)
    with pytest.raises(UsageError, match=r"I1 \(1, 3\).*--unused collapse"):
        from_values(values)
    assert from_values(values, unused="collapse").labels == ((0, 2, 4), (0, 1))


def test_levels_need_not_start_at_zero():
    rng = np.random.default_rng(3)
    values = simulate(rng.normal(size=300), [np.array([-0.5, 0.5])] * 4, rng)
    assert fit(from_values(values + 1)).thresholds()[0] == pytest.approx(
        fit(from_values(values)).thresholds()[0]
    )


def test_constant_items_are_left_out_with_a_reason():
    rng = np.random.default_rng(3)
    values = simulate(rng.normal(size=50), [np.array([0.0])] * 4, rng)
    values[:, 1] = 1
    found = fit(from_values(values))
    assert list(found.responses.items) == ["I1", "I3", "I4"]
    assert found.responses.left_out == {"I2": "everybody gave it 1"}


def test_disconnected_design_names_the_groups():
    values = np.full((6, 4), np.nan)
    values[:3, :2] = [[0, 1], [1, 0], [1, 1]]
    values[3:, 2:] = [[0, 1], [1, 0], [1, 1]]
    responses = from_values(values, persons=list("abcdef"), items=list("wxyz"))
    with pytest.raises(
        UsageError, match=r"2 groups.*raters a, b, c with items w, x; raters d, e, f with items"
    ):
        fit(responses)


def test_one_rater_is_refused():
    with pytest.raises(UsageError, match="only one rater"):
        from_values(np.array([[1.0, 2.0, 0.0]]))


def test_only_extreme_scores_have_no_conditional_estimate():
    values = np.array([[0, 0], [1, 1], [1, 1], [0, 0]], float)
    with pytest.raises(UsageError, match="nothing to go on"):
        fit(from_values(values), estimator="cml")


def test_separated_answers_have_no_conditional_estimate():
    """Nobody passed the hard item without the easy one: their distance is infinite."""
    values = np.array([[1, 0]] * 10 + [[1, 1]] * 3 + [[0, 0]] * 3, float)
    with pytest.raises(UsageError, match="no finite solution"):
        fit(from_values(values), estimator="cml")


def test_fractions_are_refused():
    with pytest.raises(UsageError, match=r"person '2', item 'I1': 1\.5 is not a whole number"):
        from_values(np.array([[1, 2], [1.5, 1], [0, 1]]))
