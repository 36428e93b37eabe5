"""Several processes do what one does: the same bytes, after kills too, and whoever goes on with the work."""

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from deadly_stage import Deadly
from run_files import results
from sightline import UsageError, score
from sightline.pipeline import local
from sightline.pipeline.files import JOURNAL
from sightline.pipeline.journal import Journal

METRICS = "bleu-4,cider,rovist-nr"


def captions(path: Path, count: int) -> Path:
    """Some of two systems with the same references, some lines that are none, some ids that come twice."""
    choose = random.Random(3)
    words = "a the dog cat man woman red boat runs sits on near grass water".split()

    def text() -> str:
        return " ".join(choose.choice(words) for _ in range(choose.randrange(4, 12)))

    lines = []
    for number in range(count // 2):
        references = [text(), text()]
        for system in ("one", "two"):
            item = {"id": f"c{number}", "system": system, "text": text(), "references": references}
            lines.append(json.dumps(item))
        if number % 100 == 7:
            lines.append(lines[choose.randrange(len(lines))])
        if number % 150 == 9:
            lines.append("not JSON\n")
    path.write_text("\n".join(lines))
    return path


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return captions(tmp_path_factory.mktemp("captions") / "captions.jsonl", 9000)


@pytest.fixture(scope="module")
def unbroken(
    source: Path, tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("unbroken") / "out"
    assert started(source, folder, environment).wait() == 3
    return results(folder)


def started(source: Path, out: Path, environment: dict[str, str], *more: str) -> "subprocess.Popen[bytes]":
    words = ["score", str(source), "-m", METRICS, "-o", str(out), "-q", *more]
    return subprocess.Popen(
        [sys.executable, "-m", "sightline", *words],
        env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip


def killed_when(process: "subprocess.Popen[bytes]", ready: Callable[[], bool]) -> None:
    while not ready():
        assert process.poll() is None, "it came to its end before anything could be tested"
        time.sleep(0.002)
    process.kill()
    process.wait()


def test_killed_among_features_and_among_scores_and_resumed_by_others(
    source: Path, unbroken: dict[str, Any], tmp_path: Path, environment: dict[str, str]
) -> None:
    out = tmp_path / "out"
    journal = out / JOURNAL
    first = started(source, out, environment, "--workers", "2")
    killed_when(first, lambda: journal.is_dir() and any(log.stat().st_size for log in journal.glob("*.log")))
    safe = Journal.count(journal)
    assert safe > 0
    second = started(source, out, environment, "--resume")
    killed_when(second, lambda: any(journal.glob("scores-*.shard")))
    shards = {path: path.stat().st_mtime_ns for path in journal.glob("scores-*.shard")}
    assert shards and not (out / "summary.json").exists()
    last = started(source, out, environment, "--resume", "--workers", "2")
    while last.poll() is None and all(path.exists() for path in shards):
        now = {path: path.stat().st_mtime_ns for path in shards if path.exists()}
        assert all(shards[path] == made for path, made in now.items()), "a finished shard is final"
        time.sleep(0.002)
    assert last.wait() == 3, last.stderr and last.stderr.read()
    assert results(out) == unbroken
    assert not journal.exists()


def test_workers_end_with_the_process_they_work_for(
    source: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    run = started(source, tmp_path / "out", environment, "--workers", "2")
    killed_when(run, lambda: any((tmp_path / "out" / JOURNAL).glob("*.log")))
    workers = {int(log.name.split("-")[1]) for log in (tmp_path / "out" / JOURNAL).glob("*.log")}
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


def test_a_worker_that_dies_is_replaced(tmp_path: Path) -> None:
    found = list(local.Processes(2).map(Deadly(tmp_path / "died"), iter(range(12))))
    assert found == [number * number for number in range(12)]


def test_a_worker_that_dies_again_is_told_in_one_line() -> None:
    with pytest.raises(UsageError, match="not enough memory; --resume with fewer --workers") as fault:
        list(local.Processes(2).map(Deadly(None), iter(range(12))))
    assert "\n" not in str(fault.value)


def test_workers_in_memory_and_nonsense() -> None:
    items = [
        {"id": "1", "text": "a dog runs on the grass", "references": ["a dog runs on grass"]},
        {"id": "2", "text": "two cats sit", "references": ["two cats sit down", "cats"]},
        {"id": "2", "text": "two cats sit", "references": ["two cats sit down", "cats"]},
    ]
    alone, together = (score(items, ["cider", "bleu-1"], workers=workers) for workers in (1, 2))
    assert together.scores == alone.scores and together.failures == alone.failures
    assert len(alone.scores) == 4 and len(alone.failures) == 2
    with pytest.raises(UsageError, match="--workers 0: at least one"):
        score(items, ["bleu-1"], workers=0)


def test_a_budget_of_judges_is_not_multiplied_by_workers() -> None:
    with pytest.raises(UsageError, match="--judge-budget holds within one process"):
        score([{"id": "1", "text": "a dog runs"}], ["rovist-nr"], workers=2, judge_budget="5")
