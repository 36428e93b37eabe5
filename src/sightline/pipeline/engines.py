"""What works off the tasks of a stage, and the engines by name. Results come in the order of the tasks."""

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

from threadpoolctl import threadpool_limits

from sightline.pipeline.journal import Log
from sightline.pipeline.settings import LocalTools
from sightline.registry import Registry


class Work(Protocol):
    """A stage that is open: it works off tasks, and is closed."""

    def __call__(self, task: Any) -> Any: ...
    def close(self) -> None: ...


class Stage(Protocol):
    """What a run does to each of its tasks. It can be sent to other processes."""

    def open(self, tools: LocalTools | None = None, log: Log | None = None) -> Any: ...


class Engine(Protocol):
    """Works off the tasks of one stage after the other."""

    @property
    def elsewhere(self) -> bool:
        """Whether others than this process do the work: what they make must lie in a folder."""
        ...

    def map(self, stage: Stage, tasks: Iterable[Any]) -> Iterator[Any]: ...


@dataclass(frozen=True)
class Here:
    """What an engine is made of: this process's tools and log, and how many workers were asked for."""

    tools: LocalTools
    log: Log
    workers: int | None = None


engines: Registry[Callable[[Here], Engine]] = Registry("engine")


@contextmanager
def rarely_swept() -> Iterator[None]:
    """Python looks for cycles of garbage less often: a run makes many objects and next to no cycles."""
    before = gc.get_threshold()
    gc.set_threshold(50_000, 20, 20)
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def same_bits() -> Iterator[None]:
    """NumPy's products of matrices in one thread: how they are cut among several would change their last bits."""
    with threadpool_limits(1, "blas"):
        yield
