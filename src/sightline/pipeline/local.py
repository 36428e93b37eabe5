"""The engine `local`: this process, or several on this machine."""

import signal
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import active_children, connection, get_context, parent_process
from os import _exit
from typing import Any

from sightline.errors import UsageError
from sightline.pipeline.engines import Engine, Here, Stage, Work, engines, rarely_swept, same_bits
from sightline.threads import share_cores


@engines.add("local")
def local(here: Here) -> Engine:
    """In this process, or in several here."""
    workers = 1 if here.workers is None else here.workers
    if workers < 1:
        raise UsageError(f"--workers {workers}: at least one is needed")
    return ThisProcess(here) if workers == 1 else Processes(workers)


class ThisProcess:
    """One task after the other; what takes long is begun for the next one meanwhile."""

    elsewhere = False

    def __init__(self, here: Here) -> None:
        self._here = here

    def map(self, stage: Stage, tasks: Iterable[Any]) -> Iterator[Any]:
        work = stage.open(self._here.tools, self._here.log)
        ahead = getattr(work, "ahead", None)
        waiting = iter(tasks)
        current = next(waiting, None)
        while current is not None:
            upcoming = next(waiting, None)
            if upcoming is not None and ahead is not None:
                ahead(upcoming)
            yield work(current)
            current = upcoming


class Processes:
    """Several processes of this machine, which share its cores. One that dies (for want of memory) is replaced."""

    elsewhere = True

    def __init__(self, workers: int) -> None:
        self._workers = workers

    def map(self, stage: Stage, tasks: Iterable[Any]) -> Iterator[Any]:
        waiting = iter(tasks)
        again: list[Any] = []
        while True:
            try:
                yield from self._mapped(stage, waiting, again)
                return
            except _Died as died:
                again = died.tasks

    def _mapped(self, stage: Stage, tasks: Iterator[Any], again: list[Any]) -> Iterator[Any]:
        context = get_context("forkserver")
        context.set_forkserver_preload(["sightline.pipeline.stages", "sightline.pipeline.scoring"])
        others = set(active_children())
        pool = ProcessPoolExecutor(self._workers, context, _start, (stage, self._workers))
        pending: deque[tuple[Any, Future[Any]]] = deque()
        try:
            for task in again:  # those at work when a process died: one at a time, to see which it was
                yield _alone(pool, task)
            for task in tasks:
                try:
                    pending.append((task, pool.submit(_work, task)))
                except BrokenProcessPool:
                    raise _Died([*(waiting for waiting, _ in pending), task]) from None
                if len(pending) > 3 * self._workers:
                    yield pending[0][1].result()
                    pending.popleft()
            while pending:
                yield pending[0][1].result()
                pending.popleft()
        except BrokenProcessPool:
            raise _Died([task for task, _ in pending]) from None
        except BaseException:
            for process in set(active_children()) - others:
                process.terminate()
            raise
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _alone(pool: ProcessPoolExecutor, task: Any) -> Any:
    try:
        return pool.submit(_work, task).result()
    except BrokenProcessPool:
        raise UsageError(
            "a worker process died, and died again over the same items: most likely there was not enough memory; "
            "--resume with fewer --workers goes on"
        ) from None


class _Died(Exception):  # noqa: N818 - named for what happened
    """A worker process is gone; with the tasks that were not done."""

    def __init__(self, tasks: list[Any]) -> None:
        self.tasks = tasks


_open: list[Work] = []
"""Of a worker process: the stage it works at."""


def _start(stage: Stage, workers: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that gives the tasks ends this one
    threading.Thread(target=_end_with_parent, daemon=True).start()
    share_cores(workers)
    _open.append(stage.open())


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        _exit(1)


def _work(task: Any) -> Any:
    with same_bits(), rarely_swept():
        return _open[-1](task)
