"""A lock file that says who is writing. It is let go by the system when its process ends, however it ends."""

import contextlib
import os
import socket
import sys
from pathlib import Path

from sightline.errors import UsageError

if sys.platform != "win32":
    import fcntl


class Lock:
    """Held from when it is made until it is released; a UsageError where another process holds it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        while True:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            self._hold()
            if _same(self._file, path):
                break
            os.close(self._file)  # its holder removed it between our two steps
        os.truncate(self._file, 0)
        os.write(self._file, f"{os.getpid()} {socket.gethostname()}\n".encode())

    def release(self) -> None:
        """Let go. The file goes first, so that nobody can lock one that is about to vanish."""
        with contextlib.suppress(OSError):
            self._path.unlink(missing_ok=True)
        os.close(self._file)

    def _hold(self) -> None:
        if (
            sys.platform == "win32"
        ):  # a file that is open cannot be removed there; who comes second is told so late
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(self._file, 200).decode("utf-8", "replace").split()
            os.close(self._file)
            raise UsageError(f"{self._path.parent}: another run{_named(holder)} is writing here") from None
        except OSError:
            pass  # a file system without locks: better to write than to refuse


def _named(holder: list[str]) -> str:
    if not holder:
        return ""
    elsewhere = holder[1:] and holder[1] != socket.gethostname()
    return f" (pid {holder[0]} on {holder[1]})" if elsewhere else f" (pid {holder[0]})"


def _same(file: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except FileNotFoundError:
        return False
