"""What the tests share: where the real data lies, and that nothing is skipped in CI."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from skipping import skip

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytest_plugins = ("tiny_models",)

settings.register_profile("patient", deadline=None)  # a busy machine is no fault of the code
settings.load_profile("patient")

DATA = Path(os.environ.get("SIGHTLINE_DATA", Path(__file__).parents[2] / "shared" / "data"))


@pytest.fixture(scope="session", autouse=True)
def _home(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What users keep (calibrations of encoders) has no say in the tests."""
    os.environ["SIGHTLINE_HOME"] = str(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="session")
def environment() -> dict[str, str]:
    """For processes that tests start: they import this very package."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data that is never part of the repository."""
    if not (DATA / "README.md").is_file():
        skip(f"the shared data is not at {DATA}; set SIGHTLINE_DATA")
    return DATA


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    """Chromium without a window."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        skip("chromium is not installed")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        yield found
        found.close()
