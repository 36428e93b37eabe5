"""The whole demo comes out the same, to the last bit, on any number of threads, processes and engines."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sightline.demo import METRICS, STORIES

MORE = ("rovist", "vicr", "bleu-4", "meteor", "groovist:weights=idf")
"""Metrics with corpus statistics and learned parts, beside those of the demo."""

# The cluster of the test is small, whatever the machine has.
RAY = """
import os, ray, sys
os.environ["RAY_worker_niceness"] = "0"
ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
from sightline.cli import main
main()
"""


def scored(folder: Path, environment: dict[str, str], *more: str, threads: int = 1) -> dict[str, Any]:
    """What a process of its own makes of the demo's stories."""
    named = [word for name in (*METRICS, *MORE) for word in ("-m", name)]
    program = ["-c", RAY] if "ray" in more else ["-m", "sightline"]
    words = ["score", str(STORIES), *named, "--no-cache", "--theta", "corpus", "-q", "-o", str(folder), *more]
    counts = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    done = subprocess.run(
        [sys.executable, *program, *words], env=environment | counts, capture_output=True, text=True
    )
    assert done.returncode in (0, 3), done.stderr
    summary = json.loads((folder / "summary.json").read_text())
    return {
        "summary": {name: told for name, told in summary.items() if name not in ("command", "date")},
        "statistics": (folder / "statistics.json").read_bytes(),
        "scores": (folder / "scores.jsonl").read_bytes(),
        "failures": (folder / "failures.jsonl").read_bytes(),
    }


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> dict[str, Any]:
    """On one thread of one process."""
    return scored(tmp_path_factory.mktemp("bits") / "alone", environment)


@pytest.mark.parametrize(
    ("how", "threads"),
    [((), 4), (("--workers", "2"), 1), (("--engine", "ray"), 1)],
    ids=["four threads", "two processes", "ray"],
)
def test_the_demo_is_the_same_to_the_bit(
    alone: dict[str, Any], how: tuple[str, ...], threads: int, tmp_path: Path, environment: dict[str, str]
) -> None:
    found = scored(tmp_path / "out", environment, *how, threads=threads)
    assert len(found["scores"].splitlines()) > 100
    assert found == alone
