"""What the tests share: where the real data lies, and that nothing is skipped in CI."""

import os
from pathlib import Path

import pytest

DATA = Path(os.environ.get("SIGHTLINE_DATA", Path(__file__).parents[2] / "shared" / "data"))


def skip(reason: str) -> None:
    """Skip with a reason, except in CI, where everything must run."""
    if os.environ.get("CI"):
        pytest.fail(f"would be skipped, but CI skips nothing: {reason}", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data that is never part of the repository."""
    if not (DATA / "README.md").is_file():
        skip(f"the shared data is not at {DATA}; set SIGHTLINE_DATA")
    return DATA
