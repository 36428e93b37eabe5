"""The stages on Ray Data: each worker is an actor that opens a stage once and then works off blocks of tasks."""

import logging
import os
import pickle
from collections.abc import Iterable, Iterator
from pathlib import Path
from platform import node
from typing import Any

from sightline.errors import SightlineError, UsageError, extra
from sightline.pipeline.batches import SHARED
from sightline.pipeline.engines import Engine, Here, Stage, engines, rarely_swept, same_bits
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
            os.environ.setdefault("RAY_worker_niceness", "0")  # else all that the machine does goes first
            cluster.init(log_to_driver=False, include_dashboard=False, logging_level="ERROR")
        cores = max(1, int(cluster.cluster_resources().get("CPU", 1)))
        workers = min(self._workers or cores, cores)
        rows = [{"task": pickle.dumps(task)} for task in tasks]
        if not rows:
            return
        logging.getLogger("ray.data").setLevel(logging.ERROR)
        context = data.DataContext.get_current()
        context.enable_progress_bars = False
        context.execution_options.preserve_order = True
        blocks = min(len(rows), workers * BLOCKS_EACH)
        found = data.from_items(rows, override_num_blocks=blocks).map_batches(
            _Worker,
            fn_constructor_args=(pickle.dumps(stage), (str(Path.cwd()), *_folder(stage))),
            batch_size=None,
            compute=data.ActorPoolStrategy(size=min(workers, blocks)),
            num_cpus=1,
        )
        for row in found.iter_rows():
            done = pickle.loads(row["done"])
            if isinstance(done, SightlineError):
                raise done  # as it was said there
            yield done


def _folder(stage: Stage) -> tuple[str, ...]:
    """Where a stage leaves what it does."""
    folder: Path | None = getattr(stage, "folder", None)
    return () if folder is None else (str(folder.resolve()),)


class _Worker:
    """An actor: the stage, open. What goes wrong by the user's doing is a result, so that Ray does not try it again."""

    def __init__(self, stage: bytes, folders: tuple[str, ...]) -> None:
        self._fault: SightlineError | None = None
        if missing := next((folder for folder in folders if not Path(folder).is_dir()), None):
            self._fault = UsageError(f"a worker on {node()} does not see {missing}; {SHARED}")
            return
        os.chdir(folders[0])  # so that relative paths are what they are where the run was started
        share_cores(os.cpu_count() or 1)  # an actor has one core
        try:
            self._work = pickle.loads(stage).open()
        except SightlineError as fault:
            self._fault = fault

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return {"done": [pickle.dumps(self._done(task)) for task in batch["task"]]}

    def _done(self, task: bytes) -> Any:
        if self._fault is None:
            try:
                with same_bits(), rarely_swept():
                    return self._work(pickle.loads(task))
            except SightlineError as fault:
                self._fault = fault
        return self._fault
