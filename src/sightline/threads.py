"""The cores that this process may use, where several processes share those of a machine."""

import os

_sharing = [1]


def cores() -> int:
    """The cores of this process: the machine's, or its share of them."""
    every = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, every // _sharing[0])


def share_cores(processes: int) -> None:
    """So many processes like this one work beside each other. To be said before models are loaded."""
    _sharing[0] = max(1, processes)
    os.environ["OMP_NUM_THREADS"] = str(cores())  # PyTorch asks for it when it is first imported
