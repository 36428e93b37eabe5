"""Learned weights: found again where they are known, honest where there is nothing to learn."""

import numpy as np
import pytest
from scipy.stats import kendalltau, spearmanr

from sightline.errors import UsageError
from sightline.meta.combine import Combination, combine


def made(weights: tuple[float, ...], noise: float, grouped: bool, seed: int = 0) -> Combination:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(400, 3)) * (1, 5, 0.2) + 3
    judged = (x - 3) / (1, 5, 0.2) @ weights + noise * rng.normal(size=400)
    groups = [str(n // 4) for n in range(400)] if grouped else None
    if grouped:  # people rank the four stories of each group, best first
        judged = -np.concatenate(
            [np.argsort(np.argsort(-part)) + 1 for part in judged.reshape(-1, 4)]
        ).astype(float)
    return combine(dict(zip(("VG", "C", "NR"), x.T, strict=True)), judged, groups)


@pytest.mark.parametrize("grouped", [False, True])
def test_known_weights_are_found(grouped: bool) -> None:
    found = made((0.2, 0.7, 0.1), 0.3, grouped)
    assert list(found.weights.values()) == pytest.approx([0.2, 0.7, 0.1], abs=0.07)
    assert sum(map(abs, found.weights.values())) == pytest.approx(1)
    rows = {row.criterion: row for row in found.agreement}
    assert list(rows) == ["VG", "C", "NR", "sum", "learned combination"]
    best = max(rows[name].preferred for name in ("VG", "C", "NR"))
    assert rows["learned combination"].preferred > max(best, 0.8)
    assert found({"VG": 4, "C": 8, "NR": 3.2}) > found({"VG": 2, "C": -2, "NR": 2.8})


def test_a_harmful_criterion_gets_a_negative_weight() -> None:
    assert made((0.5, -0.5, 0.0), 0.1, grouped=False).weights["C"] < -0.4


def test_nothing_to_learn_shows_as_no_agreement() -> None:
    found = made((0.0, 0.0, 0.0), 1.0, grouped=False)
    learned = found.agreement[-1]
    assert abs(learned.spearman) < 0.15 and abs(learned.preferred - 0.5) < 0.06


def test_agreement_is_scipy_s() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=60), rng.integers(1, 6, 60).astype(float)
    row = combine({"C": x}, y).agreement[0]
    assert (row.spearman, row.kendall_b) == pytest.approx((spearmanr(x, y)[0], kendalltau(x, y)[0]))


def test_what_cannot_be_learned_from() -> None:
    with pytest.raises(UsageError, match="too few"):
        combine({"C": [1.0, 2.0]}, [1.0, 2.0])
    with pytest.raises(UsageError, match="judged all stories of each group equal"):
        combine({"C": list(range(40))}, [1.0] * 40)
    with pytest.raises(UsageError, match="every story needs"):
        combine({"C": [float("nan")] * 40}, [1.0] * 40)
