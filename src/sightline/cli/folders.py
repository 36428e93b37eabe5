"""Where a command leaves what it makes."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory


@contextmanager
def results_in(out: Path | None) -> Iterator[Path]:
    """The folder that the user gave, or one that is gone in the end."""
    if out is not None:
        yield out
        return
    with TemporaryDirectory(prefix="sightline-", ignore_cleanup_errors=True) as nowhere:
        try:
            yield Path(nowhere)
        except KeyboardInterrupt as stop:
            stop.__notes__ = ["without -o nothing is kept"]
            raise
