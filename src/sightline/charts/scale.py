"""Where values lie on an axis, and the round numbers beside it."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]
Span = tuple[float, float]


def finite(values: Sequence[float]) -> Values:
    found = np.asarray(values, np.float64).reshape(-1)
    return found[np.isfinite(found)]


def span_of(values: Values) -> Span:
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high))
    apart = high - low > max(1e-12 * size, 1e-300)  # further than numbers of this size can be told apart
    pad = (high - low) * 0.02 if apart else max(size * 0.1, 0.05)
    return low - pad, high + pad


def place(value: float, span: Span) -> float:
    """Where a value lies, in percent of the width."""
    return 100 * min(max((value - span[0]) / (span[1] - span[0]), 0.0), 1.0)


def ticks(span: Span, about: int = 5) -> list[float]:
    step = _step(span, about)
    first = math.ceil(span[0] / step)
    return [n * step for n in range(first, math.floor(span[1] / step) + 1)]


def _step(span: Span, about: int) -> float:
    """A round distance between ticks."""
    rough = (span[1] - span[0]) / about
    size = 10.0 ** math.floor(math.log10(rough))
    return next(size * k for k in (1, 2, 5, 10) if size * k >= rough * 0.999)


def decimals(span: Span, about: int = 5) -> int:
    """Decimals that tell neighbouring ticks apart."""
    return max(0, min(6, -math.floor(math.log10(_step(span, about) * 1.001))))
