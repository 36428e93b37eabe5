"""Newton's method for a log-likelihood whose curvature is known."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from sightline.psychometrics.model.responses import Floats


@dataclass(frozen=True)
class Curve:
    """A log-likelihood at one point."""

    value: float
    gradient: Floats
    information: Floats
    """Minus the second derivatives: the observed information."""
    complete: Floats | None = None
    """The complete-data information, positive definite everywhere; steps use it where the observed one is
    not."""


@dataclass(frozen=True)
class Maximum:
    point: Floats
    curve: Curve
    iterations: int
    converged: bool


def maximise(
    evaluate: Callable[[Floats], Curve], start: Floats, *, most: int = 100, near: float = 1e-9
) -> Maximum:
    """Climb to the maximum: Newton steps, halved while they do not climb.

    Far from the maximum the observed information may not be positive definite. There the complete-data
    information takes its place, which makes the step one of the EM gradient algorithm (Lange 1995).
    """
    point, curve = start, evaluate(start)
    for iteration in range(1, most + 1):
        step = _direction(curve)
        gain = float(step @ curve.gradient)
        if gain < near * near * max(1.0, abs(curve.value)) or gain < 1e-14:
            return Maximum(point, curve, iteration, True)
        step *= min(1.0, 4.0 / np.abs(step).max())
        for _ in range(40):
            tried = evaluate(point + step)
            if tried.value > curve.value + 1e-4 * step @ curve.gradient:
                break
            step /= 2
        else:  # no climb is left above rounding
            return Maximum(point, curve, iteration, bool(gain < 1e-6 * max(1.0, abs(curve.value))))
        point, curve = point + step, tried
    return Maximum(point, curve, most, False)


def _direction(curve: Curve) -> Floats:
    for information in (curve.information, curve.complete):
        if information is not None:
            try:
                return np.asarray(cho_solve(cho_factor(information), curve.gradient))
            except LinAlgError:
                continue
    values, vectors = np.linalg.eigh(curve.information)
    return np.asarray(
        vectors @ ((vectors.T @ curve.gradient) / np.maximum(np.abs(values), 1e-6 * np.abs(values).max()))
    )
