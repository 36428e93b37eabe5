"""Texts and pictures small enough to be scored many times."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sightline.demo import STORIES

os.environ.setdefault(
    "HF_HUB_OFFLINE", "1"
)  # read when the hub's client is imported: nothing here asks the network


@pytest.fixture(scope="session")
def cat() -> Path:
    return STORIES.parent / "pictures" / "cat.jpg"


@pytest.fixture(scope="session")
def stories() -> list[dict[str, Any]]:
    """The demo's stories, with the good one of the same pictures as reference."""
    rows = [json.loads(line) for line in STORIES.read_text("utf-8").splitlines()]
    told = {row["id"]: row.get("text") or " ".join(row["sentences"]) for row in rows}
    return [
        {"text": told[row["id"]], "references": [told[row["id"].rpartition("-")[0] + "-good"]]}
        for row in rows
    ]


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
