"""How often somebody may do something: a bucket of goes that fills up again."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limit:
    """`burst` goes at once, then `rate` a second."""

    rate: float
    burst: float


LIMITS = {
    "login": Limit(1 / 6, 8),  # failures only
    "join": Limit(0.5, 30),  # failures only
    "newcomers": Limit(5, 600),
    "answer": Limit(8, 40),
    "write": Limit(2, 30),
    "upload": Limit(0.1, 10),
    "files": Limit(10, 400),
}
MOST = 50_000


class Limits:
    """Counts per kind and key, in memory: a restart forgives."""

    def __init__(
        self, limits: dict[str, Limit] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._limits = LIMITS if limits is None else limits
        self._clock = clock
        self._buckets: dict[tuple[str, str], tuple[float, float]] = {}
        self._lock = threading.Lock()

    def allow(self, kind: str, key: str) -> bool:
        limit, now = self._limits[kind], self._clock()
        with self._lock:
            level, at = self._buckets.get((kind, key), (limit.burst, now))
            level = min(limit.burst, level + (now - at) * limit.rate)
            if len(self._buckets) > MOST:
                self._forget(now)
            if level < 1:
                self._buckets[kind, key] = (level, now)
                return False
            self._buckets[kind, key] = (level - 1, now)
            return True

    def left(self, kind: str, key: str) -> bool:
        """Whether there is a go left, without using it."""
        limit, now = self._limits[kind], self._clock()
        with self._lock:
            level, at = self._buckets.get((kind, key), (limit.burst, now))
            return level + (now - at) * limit.rate >= 1

    def give_back(self, kind: str, key: str) -> None:
        """A go that was taken in case it went wrong, and went well."""
        with self._lock:
            if (kind, key) in self._buckets:
                level, at = self._buckets[kind, key]
                self._buckets[kind, key] = (min(self._limits[kind].burst, level + 1), at)

    def _forget(self, now: float) -> None:
        """Drop those whose bucket is full again; under a flood of new keys, the oldest half too."""
        full = [
            key
            for key, (level, at) in self._buckets.items()
            if level + (now - at) * self._limits[key[0]].rate >= self._limits[key[0]].burst
        ]
        for key in full or list(self._buckets)[: MOST // 2]:
            del self._buckets[key]
