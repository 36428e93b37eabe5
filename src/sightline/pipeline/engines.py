"""Where features are computed: in this process, or on a Ray cluster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from threadpoolctl import threadpool_limits

from sightline.errors import SightlineError, UsageError, extra
from sightline.features.base import Features
from sightline.pipeline.plan import Plan, ahead, compute, difference, fingerprint
from sightline.pipeline.settings import LocalTools, Settings
from sightline.registry import Registry

Batch = Sequence[tuple[int, Features]]
Engine = Callable[[Plan, LocalTools, Iterable[Batch]], Iterator[Batch]]

engines: Registry[Engine] = Registry("engine")


@contextmanager
def same_bits() -> Iterator[None]:
    """NumPy's products of matrices in one thread: how they are cut among several would change their last bits."""
    with threadpool_limits(1, "blas"):
        yield


@engines.add("local")
def local(plan: Plan, tools: LocalTools, batches: Iterable[Batch]) -> Iterator[Batch]:
    """In this process: pictures of the next batch are decoded while this one is encoded."""
    waiting = iter(batches)
    current = next(waiting, None)
    while current is not None:
        upcoming = next(waiting, None)
        if upcoming is not None:
            ahead(plan, [got.item for _, got in upcoming], tools)
        compute(plan, [got for _, got in current], tools)
        yield current
        current = upcoming


@engines.add("ray")
def ray(plan: Plan, tools: LocalTools, batches: Iterable[Batch]) -> Iterator[Batch]:
    """On a Ray cluster: one batch per task, a bounded number at a time, results in order."""
    cluster = extra("ray", "ray")
    if not cluster.is_initialized():
        cluster.init(log_to_driver=False, include_dashboard=False)
    work = cluster.remote(_work)
    specs, settings = tuple(plan.metrics), tools.settings
    expected = tuple(fingerprint(plan, tools).items())
    pending: list[Any] = []

    def oldest() -> Batch:
        try:
            done: Batch = cluster.get(pending.pop(0))
        except cluster.exceptions.RayTaskError as fault:
            if isinstance(fault.cause, SightlineError):
                raise fault.cause from None  # as it was said there, without the worker's trace
            raise
        return done

    for batch in batches:
        pending.append(work.remote(specs, settings, expected, batch))
        if len(pending) >= 2 * int(cluster.cluster_resources().get("CPU", 1)):
            yield oldest()
    while pending:
        yield oldest()


Expected = tuple[tuple[str, str], ...]
_tools_of: dict[tuple[Settings, Expected], LocalTools] = {}
"""Of a worker: the tools of the run it works for, of one at a time."""


def _work(specs: tuple[str, ...], settings: Settings, expected: Expected, batch: Batch) -> Batch:
    """Runs on a worker, which keeps its tools from batch to batch, and measures with the same models or not at all."""
    plan = Plan.of(specs)
    tools = _tools_of.get((settings, expected))
    if tools is None:
        for other in _tools_of.values():
            other.close()
        _tools_of.clear()
        tools = LocalTools(settings)
        if told := difference(dict(expected), fingerprint(plan, tools)):
            raise UsageError(f"a worker has other models or files than this process: {told}")
        _tools_of[settings, expected] = tools
    with same_bits():
        compute(plan, [got for _, got in batch], tools)
    return batch
