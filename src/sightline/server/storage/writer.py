"""One thread writes. Jobs that wait together share a commit, and none is answered before it is on disk."""

import contextlib
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError, IntegrityError

from sightline.server.storage.database import Database

T = TypeVar("T")
Job = Callable[[Connection], Any]
BATCH = 64
TRIES = 4
PAUSE = 0.05


class Conflict(Exception):  # noqa: N818 - not a fault: somebody else was quicker, look again
    """Another process changed the row in between."""


@dataclass
class _Waiting:
    job: Job
    future: "Future[Any]"
    tries: int = 0


class Writer:
    """Runs writing jobs one after another. A job must be safe to run again if its transaction was undone."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._connection: Connection | None = None
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[Connection], T]) -> "Future[T]":
        future: Future[T] = Future()
        self._queue.put(_Waiting(job, future))
        return future

    def close(self) -> None:
        self._queue.put(None)
        self._thread.join(timeout=30)

    def _run(self) -> None:
        while (first := self._queue.get()) is not None:
            batch, going_on = [first], True
            while len(batch) < BATCH:
                try:
                    waiting = self._queue.get_nowait()
                except queue.Empty:
                    break
                if waiting is None:
                    going_on = False
                    break
                batch.append(waiting)
            self._write(batch)
            if not going_on:
                break
        self._drop()

    def _write(self, batch: list[_Waiting]) -> None:
        while batch:
            try:
                done, again = self._attempt(batch)
            except DBAPIError as fault:
                self._drop()
                time.sleep(PAUSE * 4 ** batch[0].tries)  # a database that restarts needs a moment
                batch = _try_again(batch, fault)
                continue
            except Exception as fault:
                self._drop()
                for waiting in batch:
                    waiting.future.set_exception(fault)
                return
            for waiting, result, error in done:
                if error is None:
                    waiting.future.set_result(result)
                else:
                    waiting.future.set_exception(error)
            batch = again

    def _attempt(
        self, batch: list[_Waiting]
    ) -> tuple[list[tuple[_Waiting, Any, Exception | None]], list[_Waiting]]:
        """One transaction. Several jobs stand behind a savepoint each: one that fails leaves no trace.

        Savepoints are not released: the commit does that, and each release would be a trip to the database.
        """
        connection = self._connection or self._database.engine.connect()
        self._connection = connection
        self._database.begin(connection)
        done: list[tuple[_Waiting, Any, Exception | None]] = []
        again: list[_Waiting] = []
        alone = len(batch) == 1
        for waiting in batch:
            if not alone:
                connection.exec_driver_sql("SAVEPOINT job")
            try:
                result = waiting.job(connection)
            except (Conflict, IntegrityError) as fault:
                self._undo(connection, alone)
                again += _try_again([waiting], fault)
            except DBAPIError:
                raise
            except Exception as fault:
                self._undo(connection, alone)
                done.append((waiting, None, fault))
            else:
                done.append((waiting, result, None))
        connection.commit()
        return done, again

    @staticmethod
    def _undo(connection: Connection, alone: bool) -> None:
        if alone:
            connection.rollback()
        else:
            connection.exec_driver_sql("ROLLBACK TO SAVEPOINT job")

    def _drop(self) -> None:
        """Give the connection up: the next attempt opens a fresh one."""
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(Exception):
                connection.invalidate()
            with contextlib.suppress(Exception):
                connection.close()


def _try_again(batch: list[_Waiting], fault: Exception) -> list[_Waiting]:
    """Jobs that may run once more; those that had enough tries get the fault."""
    again = []
    for waiting in batch:
        waiting.tries += 1
        if waiting.tries < TRIES:
            again.append(waiting)
        else:
            waiting.future.set_exception(fault)
    return again
