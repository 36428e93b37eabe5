"""Where features are computed: in this process, or on a Ray cluster."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sightline.errors import extra
from sightline.features.base import Features
from sightline.pipeline.plan import Plan, compute
from sightline.pipeline.settings import LocalTools, Settings
from sightline.registry import Registry

Batch = Sequence[tuple[int, Features]]
Engine = Callable[[Plan, LocalTools, Iterable[Batch]], Iterator[Batch]]

engines: Registry[Engine] = Registry("engine")


@engines.add("local")
def local(plan: Plan, tools: LocalTools, batches: Iterable[Batch]) -> Iterator[Batch]:
    """In this process: pictures of the next batch are decoded while this one is encoded."""
    waiting = iter(batches)
    current = next(waiting, None)
    while current is not None:
        upcoming = next(waiting, None)
        if upcoming is not None and plan.reads_pictures:
            tools.pictures.prefetch([path for _, got in upcoming for path in got.item.images])
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
    pending: list[Any] = []
    for batch in batches:
        pending.append(work.remote(specs, settings, batch))
        if len(pending) >= 2 * int(cluster.cluster_resources().get("CPU", 1)):
            yield cluster.get(pending.pop(0))
    while pending:
        yield cluster.get(pending.pop(0))


_tools_of: dict[Settings, LocalTools] = {}


def _work(specs: tuple[str, ...], settings: Settings, batch: Batch) -> Batch:
    """Runs on a worker, which keeps its tools from batch to batch."""
    tools = _tools_of.setdefault(settings, LocalTools(settings))
    compute(Plan.of(specs), [got for _, got in batch], tools)
    return batch
