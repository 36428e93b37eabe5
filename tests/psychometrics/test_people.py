"""People's estimates, fit statistics, latent regression, competency and the many-facet model."""

import numpy as np
import pytest
from scipy.optimize import brentq

from sightline.errors import UsageError
from sightline.psychometrics import fit, from_values
from sightline.psychometrics.agreement.competency import competency, competency_scores, factorial, reach
from sightline.psychometrics.model.design import moments
from sightline.psychometrics.model.fit_statistics import mean_squares
from sightline.psychometrics.model.persons import eap, eap_reliability, mle, separation_reliability, wle
from sightline.psychometrics.model.regression import explained, predictions, two_step
from sightline.psychometrics.model.simulate import erm_centred, simulate

TAUS = erm_centred([d + np.array([-0.7, 0.7]) for d in np.linspace(-1.5, 1.5, 12)])


@pytest.fixture(scope="module")
def regressed():
    """600 people whose ability depends on z (slope 0.6) around which they spread with sd 0.9."""
    rng = np.random.default_rng(0)
    z = rng.normal(size=600).round(1)
    truth = 0.3 + 0.6 * z + 0.9 * rng.normal(size=600)
    values = simulate(truth, TAUS, rng)
    values[0], values[1] = 0, 2
    found = fit(from_values(values, covariates=z[:, None], covariate_names=["z"]))
    return found, truth


def test_ml_ability_reproduces_the_score(regressed):
    found, _ = regressed
    known = mle(found)
    inner = ~np.isnan(known.ability)
    mean, variance, _ = moments(found.table, known.ability[inner])
    assert mean.sum(axis=0) == pytest.approx(found.groups.score[inner])
    assert known.se[inner] == pytest.approx(1 / np.sqrt(variance.sum(axis=0)))
    assert set(found.groups.score[~inner]) == {0, 24}


def test_warm_ability_solves_warms_equation(regressed):
    """Warm 1989: the score plus J / (2 I) equals its expectation; finite for the extreme scores too."""
    found, _ = regressed
    known = wle(found)
    for n in (0, len(known.ability) // 2, len(known.ability) - 1):

        def gap(theta, score=found.groups.score[n]):
            mean, variance, third = (m.sum() for m in moments(found.table, np.array([theta])))
            return score - mean + third / (2 * variance)

        assert known.ability[n] == pytest.approx(brentq(gap, -15, 15), abs=1e-8)
    assert np.all(np.isfinite(known.ability))


def test_abilities_are_near_the_truth_and_in_the_order_of_scores(regressed):
    found, truth = regressed
    cell = found.groups.of_person
    for estimates in (eap(found), wle(found)):
        error = (estimates.ability[cell] - truth)[2:] / estimates.se[cell][2:]
        assert 0.8 < error.std() < 1.2
    assert np.corrcoef(eap(found).ability[cell][2:], truth[2:])[0, 1] > 0.85


def test_reliability_is_the_squared_correlation_with_the_truth(regressed):
    found, truth = regressed
    reliability = eap_reliability(eap(found), found.groups.count)
    correlation = np.corrcoef(eap(found).ability[found.groups.of_person][2:], truth[2:])[0, 1]
    assert reliability == pytest.approx(correlation**2, abs=0.06)
    assert 0.5 < separation_reliability(wle(found), found.groups.count) < 0.95


def test_regression_is_found_inside_the_likelihood(regressed):
    found, _ = regressed
    intercept, slope = found.coefficients
    assert abs(slope.estimate - 0.6) < 3 * slope.se and slope.p < 1e-6
    assert abs(intercept.estimate - 0.3) < 3 * intercept.se
    assert found.spread[1].estimate == pytest.approx(0.9, abs=0.15)
    assert explained(found) == pytest.approx(0.36 / (0.36 + 0.81), abs=0.08)


def test_two_step_on_shrunken_abilities_is_too_small():
    """The reason for latent regression: EAP without the covariate shrinks the slope."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=1500)
    values = simulate(0.6 * z + 0.9 * rng.normal(size=1500), TAUS[:5], rng)
    with_z = fit(from_values(values, covariates=z[:, None], covariate_names=["z"]))
    without = fit(from_values(values))
    shrunken = two_step(with_z, eap(without).ability[without.groups.of_person])[1].estimate
    assert shrunken < 0.5 < with_z.coefficients[1].estimate < 0.7


def test_predicted_means_follow_the_line(regressed):
    found, _ = regressed
    points = predictions(found)
    slope = found.coefficients[1].estimate
    assert points[-1].mean - points[0].mean == pytest.approx(slope * (points[-1].value - points[0].value))
    assert min(p.se for p in points) < points[0].se  # surest in the middle


def test_conditional_items_and_regression_together(regressed):
    responses = regressed[0].responses
    conditional = fit(responses, estimator="cml")
    assert conditional.coefficients[1].estimate == pytest.approx(
        regressed[0].coefficients[1].estimate, abs=0.03
    )


def test_constant_covariate_is_refused():
    values = np.random.default_rng(0).integers(0, 3, (40, 4)).astype(float)
    with pytest.raises(UsageError, match="constant or copies"):
        fit(from_values(values, covariates=np.ones((40, 1)), covariate_names=["z"]))


def test_fit_is_near_one_for_the_model_and_high_for_noise():
    rng = np.random.default_rng(2)
    values = simulate(rng.normal(size=800), TAUS, rng)
    whole = fit(from_values(values))
    fitting, _ = mean_squares(whole, mle(whole))
    # abilities are estimated from the same answers, which takes a twelfth off
    assert fitting.infit.mean() == pytest.approx(11 / 12, abs=0.04)
    assert fitting.infit == pytest.approx(1, abs=0.15)
    values[:, 3] = rng.integers(0, 3, 800)
    values[5] = rng.permutation([0, 2] * 6)
    found = fit(from_values(values))
    items, persons = mean_squares(found, mle(found))
    assert items.infit[3] > 1.3 and items.outfit[3] > 1.3 and items.infit_z[3] > 5
    assert persons.outfit[5] > 1.5
    assert np.nanmean(persons.infit) == pytest.approx(1, abs=0.1)


def test_fit_by_definition(regressed):
    """Outfit and infit of one item, summed over people one by one."""
    found, _ = regressed
    known = mle(found)
    theta = known.ability[found.groups.of_person]
    who = np.flatnonzero(~np.isnan(theta))
    mean, variance, _ = (m[4] for m in moments(found.table, theta[who]))
    square = (found.responses.levels[who, 4] - mean) ** 2
    items, _ = mean_squares(found, known)
    assert items.outfit[4] == pytest.approx((square / variance).mean())
    assert items.infit[4] == pytest.approx(square.sum() / variance.sum())


def test_competency_scores_are_two_one_nought():
    values = np.array([[1, 5, 3], [2, 3, np.nan]])
    scores = competency_scores(values, ["a", "b", "c"], {"a": 1, "b": 4})
    assert scores[:, :2].tolist() == [[2, 1], [1, 1]]
    assert np.isnan(scores[:, 2]).all()
    with pytest.raises(UsageError, match="no item of the ratings has an expert rating"):
        competency_scores(values, ["a", "b", "c"], {"z": 1})


def test_competency_statistics():
    rng = np.random.default_rng(5)
    training = rng.integers(5, 11, 400).astype(float)
    taus = [d + np.array([-1.5, 0.5]) for d in rng.normal(scale=0.4, size=25)]
    values = simulate(-0.5 + 0.2 * training + 0.5 * rng.normal(size=400), taus, rng)
    responses = from_values(
        values, covariates=training[:, None], covariate_names=["training"], unused="collapse"
    )
    found = fit(responses)
    abilities = wle(found).ability[found.groups.of_person]
    at = [(f"{p.value:g}", p.mean) for p in predictions(found)]
    told = competency(found, abilities, at)
    assert told.above_first == pytest.approx(np.mean(abilities > reach(found, 1).max()))
    assert told.ordered > 0.95
    exact = [point.exact for point in told.at]
    assert exact == sorted(exact) and told.at[-1].items_exact >= told.at[0].items_exact
    best = told.at[-1].ability
    weights = np.exp(found.table + np.arange(3) * best)
    assert exact[-1] == pytest.approx((weights[:, 2] / weights.sum(axis=1)).mean())


def test_items_nobody_failed_are_reached_by_all():
    rng = np.random.default_rng(6)
    values = simulate(rng.normal(size=200), TAUS[:4], rng)
    values[values[:, 0] == 0, 0] = 1
    found = fit(from_values(values, unused="collapse"))
    assert reach(found, 1)[0] == -np.inf and np.isfinite(reach(found, 2)[0])


def test_factorial_design_names_its_holes():
    expert = {f"{p}{k}": k for p in "abc" for k in (1, 2, 3) if (p, k) != ("b", 2)}
    design = factorial(expert, {name: name[0] for name in expert})
    assert design.images == ("a", "b", "c") and design.levels == (1, 2, 3)
    assert design.missing == [("b", 2)]
    with pytest.raises(UsageError, match="both level 1 of picture 'a'"):
        factorial({"a1": 1, "a2": 1}, {"a1": "a", "a2": "a"})
