"""The gate of the qualification round: whom it admits, by its definition and by simulation."""

import krippendorff
import numpy as np
import pytest

from sightline.errors import UsageError
from sightline.people.qualification import admits, outlook
from sightline.people.study import Qualification
from sightline.psychometrics.agreement.gate import simulate_gate
from sightline.psychometrics.agreement.workers import select_workers

LEVELS = (1, 2, 3, 4, 5)
WORKERS = 200


def annotate(rng: np.random.Generator, truth: np.ndarray, sd: float, count: int) -> np.ndarray:
    return np.clip(np.round(truth + rng.normal(0, sd, (count, len(truth)))), 1, 5)


def test_the_consensus_ratio_against_another_program():
    """Each alpha from the krippendorff package: the worker with the mean, and each annotator with the others' mean."""
    rng = np.random.default_rng(1)
    truth = rng.integers(1, 6, 20)
    gold, worker = annotate(rng, truth, 0.8, 4), annotate(rng, truth, 1, 1)
    names = ["a", "b", "c", "d", "w"]
    found = select_workers(np.vstack([gold, worker]), names, names[:4], gate="consensus")

    def alpha(one, mean):
        return krippendorff.alpha(np.vstack([one, mean]), level_of_measurement="interval")

    own = np.mean([alpha(gold[k], np.delete(gold, k, 0).mean(0)) for k in range(4)])
    assert found.alpha_gold == pytest.approx(own)
    assert found.workers[0].ratio == pytest.approx(alpha(worker, gold.mean(0)) / own)


@pytest.mark.parametrize("annotators", [5, 9])
def test_pooled_admits_everybody_among_many_annotators(annotators):
    """As HL words it: one who always says 5 passes, and so do nearly all who answer at random."""
    rng = np.random.default_rng(2)
    truth = rng.integers(1, 6, 20)
    gold = annotate(rng, truth, 0.6, annotators).T.tolist()
    pooled = Qualification(gate="pooled")
    assert admits(gold, [5] * 20, pooled)
    assert not admits(gold, [5] * 20, Qualification())
    random = [admits(gold, rng.integers(1, 6, 20), pooled) for _ in range(50)]
    assert np.mean(random) > 0.9


@pytest.mark.parametrize("annotators", [3, 5, 9])
@pytest.mark.parametrize(
    ("shares", "sd"), [((0.2,) * 5, 0.5), ((0.2,) * 5, 0.9), ((0.04, 0.06, 0.1, 0.2, 0.6), 0.6)]
)
def test_the_default_gate_keeps_the_careless_out_and_the_careful_in(annotators, shares, sd):
    """20 items; at most 8 % of the random workers pass, and at least 95 % of those as good as the gold annotators."""
    rng = np.random.default_rng(3)
    random, good, same = [], [], []
    for _ in range(WORKERS):
        truth = rng.choice(LEVELS, 20, p=shares)
        gold = annotate(rng, truth, sd, annotators).T.tolist()
        random.append(admits(gold, rng.integers(1, 6, 20), Qualification()))
        good.append(admits(gold, annotate(rng, truth, sd, 1)[0], Qualification()))
        same.append(admits(gold, [5] * 20, Qualification()))
    assert np.mean(random) <= 0.08
    assert np.mean(good) >= 0.95
    assert np.mean(same) <= 0.01


def test_the_outlook_tells_what_the_gate_does():
    rng = np.random.default_rng(4)
    truth = rng.integers(1, 6, 30)
    gold = annotate(rng, truth, 0.7, 5)
    told = outlook(gold.T.tolist(), LEVELS, Qualification(), 20)
    assert told is not None
    random = np.mean(
        [admits(gold.T.tolist(), rng.integers(1, 6, 30), Qualification()) for _ in range(WORKERS)]
    )
    assert told.random == pytest.approx(random, abs=0.08)
    assert told.same == 0 and told.good >= 0.95
    assert "at random" in str(told) and f"{told.good:.0%} of those as good" in str(told)
    pooled = simulate_gate(gold, LEVELS, gate="pooled", threshold=0.5)
    assert pooled.random > 0.9 and pooled.same >= 0.8


def test_too_little_gold_tells_nothing():
    assert outlook([], LEVELS, Qualification(), 20) is None
    assert outlook([[1], [2]], LEVELS, Qualification(), 20) is None
    assert not admits([[1, 2]], [1], Qualification())
    with pytest.raises(UsageError, match="no mean"):
        select_workers(np.ones((3, 4)), ["a", "b", "c"], ["a", "b"], scale="nominal", gate="consensus")
