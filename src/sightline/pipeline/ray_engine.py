"""The stages on Ray Data: each worker is an actor that opens a stage once and then works off blocks of tasks."""

import os
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sightline.errors import SightlineError, UsageError, extra
from sightline.pipeline.engines import Engine, Here, Stage, engines, same_bits
from sightline.threads import share_cores

BLOCKS_EACH = 8
"""Blocks of tasks that each worker gets: few cost little to hand out, many are shared out evenly."""


@engines.add("ray")
def ray(here: Here) -> Engine:
    """On Ray Data: on this machine, or on the cluster that RAY_ADDRESS names."""
    return RayEngine(here.workers)


class RayEngine:
    """Tasks and what is told of them are small; items and features lie in files that all workers see."""

    elsewhere = True

    def __init__(self, workers: int | None = None) -> None:
        self._workers = workers

    def map(self, stage: Stage, tasks: Iterable[Any]) -> Iterator[Any]:
        cluster = extra("ray", "ray")
        data = extra("ray.data", "ray")
        if not cluster.is_initialized():
            cluster.init(log_to_driver=False, include_dashboard=False, logging_level="ERROR")
        cores = max(1, int(cluster.cluster_resources().get("CPU", 1)))
        workers = min(self._workers or cores, cores)
        rows = [{"task": pickle.dumps(task)} for task in tasks]
        if not rows:
            return
        context = data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        blocks = min(len(rows), workers * BLOCKS_EACH)
        found = data.from_items(rows, override_num_blocks=blocks).map_batches(
            _Worker,
            fn_constructor_args=(pickle.dumps(stage), str(Path.cwd())),
            batch_size=None,
            compute=data.ActorPoolStrategy(size=min(workers, blocks)),
            num_cpus=1,
        )
        try:
            for row in found.iter_rows():
                yield pickle.loads(row["done"])
        except cluster.exceptions.RayError as fault:
            own = _own(fault)
            if own is not None:
                raise own from None  # as it was said there, without the worker's trace
            raise


def _own(fault: BaseException | None) -> SightlineError | None:
    """Our error among those that Ray wrapped around it."""
    seen: set[int] = set()
    while fault is not None and id(fault) not in seen:
        if isinstance(fault, SightlineError):
            return fault
        seen.add(id(fault))
        fault = getattr(fault, "cause", None) or fault.__cause__ or fault.__context__
    return None


class _Worker:
    """An actor: the stage, open."""

    def __init__(self, stage: bytes, folder: str) -> None:
        if not Path(folder).is_dir():
            raise UsageError(
                f"a worker on {os.uname().nodename} does not see {folder}: all machines need the folder that the run "
                "starts in, its input and its pictures under the same path"
            )
        os.chdir(folder)  # so that relative paths are what they are where the run was started
        share_cores(os.cpu_count() or 1)  # an actor has one core
        self._work = pickle.loads(stage).open()

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        with same_bits():
            return {"done": [pickle.dumps(self._work(pickle.loads(task))) for task in batch["task"]]}
