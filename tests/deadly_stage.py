"""A stage for tests of what becomes of a run whose worker process dies."""

import os
from pathlib import Path
from typing import Any


class Deadly:
    """A stage that kills the process that works at it, at one of its tasks, once or always."""

    def __init__(self, once: Path | None) -> None:
        self.once = once

    def open(self, tools: Any = None, log: Any = None) -> "Deadly":
        return self

    def __call__(self, task: int) -> int:
        if task == 5 and (self.once is None or not self.once.exists()):
            if self.once is not None:
                self.once.touch()
            os.kill(os.getpid(), 9)
        return task * task

    def close(self) -> None: ...
