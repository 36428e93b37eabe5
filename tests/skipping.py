"""Skipping a test, which CI does not do."""

import os

import pytest


def skip(reason: str) -> None:
    """Skip with a reason, except in CI, where everything must run."""
    if os.environ.get("CI"):
        pytest.fail(f"would be skipped, but CI skips nothing: {reason}", pytrace=False)
    pytest.skip(reason)
