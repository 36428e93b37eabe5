"""A run that is killed goes on: nothing lost, nothing scored twice, the same bytes as a run that was not."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from run_files import results
from sightline.api import score_file
from sightline.errors import UsageError
from sightline.pipeline.batches import Batch
from sightline.pipeline.files import JOURNAL
from sightline.pipeline.journal import Journal
from sightline.pipeline.run import Run
from sightline.pipeline.settings import Settings
from sightline.pipeline.stages import Computed, FeatureWork

# The command with an encoder that is slow on purpose and notes down what it encodes.
COMMAND = """
import hashlib, sys, time
import numpy as np
from sightline.encoders import encoders
from sightline.encoders.calibration import Calibration

class Slow:
    signature, dimensions, calibration = "slow", 8, Calibration(thetas={"phrases": 0.6, "nouns": 0.6})

    def rows(self, kind, datas):
        time.sleep(0.04)
        with open(Slow.log, "a") as log:
            log.writelines(f"{kind} {hashlib.md5(data).hexdigest()}\\n" for data in datas)
        seeds = [int.from_bytes(hashlib.md5(data).digest()[:8], "big") for data in datas]
        found = np.stack([np.random.default_rng(seed).normal(size=8) for seed in seeds]).astype(np.float32)
        return found / np.linalg.norm(found, axis=1, keepdims=True)

    def encode_images(self, images): return self.rows("image", [image.tobytes() for image in images])
    def encode_texts(self, texts): return self.rows("text", [text.encode() for text in texts])
    def truncated(self, text): return False

Slow.log = sys.argv.pop()
encoders.add("slow")(lambda argument: Slow())
from sightline.cli import main
main()
"""


def stories(folder: Path, count: int, pictures: int) -> Path:
    for number in range(pictures):
        levels = np.random.default_rng(number).integers(0, 256, (16, 20, 3), dtype=np.uint8)
        Image.fromarray(levels).save(folder / f"p{number}.png")
    choose = random.Random(1)
    items = [
        {
            "id": f"s{n}",
            "images": [f"p{choose.randrange(pictures)}.png" for _ in range(3)],
            "sentences": [f"The dog number {n} runs.", "A red boat.", "" if n % 50 == 7 else "A man sits."],
        }
        for n in range(count)
    ]
    items.append({"id": "lost", "images": ["nowhere.png"], "text": "A dog."})
    path = folder / "stories.jsonl"
    path.write_text("\n".join(json.dumps(item) for item in items) + "\nnot JSON\n")
    return path


def entries(folder: Path) -> int:
    """Items that are safe in the journal."""
    return Journal.count(folder / JOURNAL)


def test_killed_at_random_moments_and_resumed(tmp_path: Path, environment: dict[str, str]) -> None:
    source = stories(tmp_path, 300, 120)

    def start(out: str, *more: str) -> "subprocess.Popen[bytes]":
        words = ["score", str(source), "-m", "clipscore", "-m", "rovist-nr", "-o", str(tmp_path / out)]
        cache = ["--encoder", "slow", "--cache", str(tmp_path / f"cache-{out}"), *more]
        return subprocess.Popen(
            [sys.executable, "-c", COMMAND, *words, *cache, str(tmp_path / f"{out}.log")],
            env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        )  # fmt: skip

    unbroken = start("unbroken")
    assert unbroken.wait() == 3
    choose = random.Random(7)
    before = 0
    for kill in range(2):
        run = start("broken", "--resume")
        wanted = before + choose.randrange(10, 90)
        while entries(tmp_path / "broken") < wanted and run.poll() is None:
            time.sleep(0.005)
        time.sleep(choose.random() * 0.05)
        run.kill()
        run.wait()
        before = entries(tmp_path / "broken")
        assert before >= wanted, f"kill {kill} came too late to test anything"
        assert not (tmp_path / "broken" / "scores.jsonl").exists()
    final = start("broken", "--resume")
    assert final.wait() == 3, final.stderr.read()
    assert results(tmp_path / "broken") == results(tmp_path / "unbroken")
    ids = [
        json.loads(line)["id"]
        for line in (tmp_path / "broken" / "scores.jsonl").open()
        if "clipscore" in line
    ]
    assert len(ids) == len(set(ids)) == 300 - 6, "three sentences for three pictures, or a failure"
    once = len((tmp_path / "unbroken.log").read_text().splitlines())
    in_all = len((tmp_path / "broken.log").read_text().splitlines())
    assert in_all <= once + 2 * 64, "at most the chunk in hand at each kill is encoded again"


class Crash(Exception):  # noqa: N818 - it stands for a kill
    pass


def test_an_unbroken_run_and_a_crashed_one_agree_to_the_bit_with_a_real_model(
    tmp_path: Path, tiny_clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a cache, so that the resumed run encodes again what it needs, beside other neighbours."""
    source = stories(tmp_path, 30, 80)
    settings = Settings(encoder=f"clip:{tiny_clip}", regions="windows", region_count=3, cache=None)

    def score(out: str, **choices: Any) -> None:
        run = Run(["groovist:weights=none", "clipscore"], settings.with_options(theta="0.6"))
        score_file(source, run, tmp_path / out, progress=lambda stage, done: None, **choices)

    score("unbroken")
    works = FeatureWork.__call__

    def crashing(work: FeatureWork, batch: Batch) -> Computed:
        if batch.number == 2:
            raise Crash
        return works(work, batch)

    monkeypatch.setattr(FeatureWork, "__call__", crashing)
    with pytest.raises(Crash):
        score("broken")
    assert entries(tmp_path / "broken") > 0
    monkeypatch.setattr(FeatureWork, "__call__", works)
    with pytest.raises(UsageError, match="--resume"):
        score("broken")
    score("broken", resume=True)
    assert results(tmp_path / "broken") == results(tmp_path / "unbroken")


def test_a_resumed_run_notices_what_changed(
    tmp_path: Path, tiny_clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = stories(tmp_path, 5, 9)
    folder = tmp_path / "out"

    def run(*metrics: str) -> Run:
        return Run(metrics, Settings(encoder=f"clip:{tiny_clip}", cache=None))

    def quiet(stage: str, done: int) -> None: ...

    def crash(*given: Any, **more: Any) -> None:
        raise Crash

    monkeypatch.setattr("sightline.api.write_report", crash)
    with pytest.raises(Crash):
        score_file(source, run("clipscore"), folder, progress=quiet)
    monkeypatch.undo()
    with pytest.raises(UsageError, match="metrics was clipscore, now it is rovist-nr"):
        score_file(source, run("rovist-nr"), folder, resume=True, progress=quiet)
    items = [json.loads(line) for line in source.read_text().splitlines()[:5]]
    items[0]["sentences"] = ["A cat.", "A cat.", "A cat."]
    Image.new("RGB", (9, 9), "red").save(tmp_path / Path(items[1]["images"][0]).name)
    fresh = tmp_path / "stories.jsonl"
    fresh.write_text("\n".join(json.dumps(item) for item in items[:4]))
    score_file(fresh, run("clipscore"), folder, resume=True, progress=quiet)
    score_file(fresh, run("clipscore"), tmp_path / "anew", progress=quiet)
    assert results(folder) == results(tmp_path / "anew")


def test_a_resumed_run_notices_another_content_of_a_given_file(
    tmp_path: Path, tiny_clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, ratings = stories(tmp_path, 5, 9), tmp_path / "ratings.csv"
    ratings.write_text("dog;5\n")
    settings = Settings(
        encoder=f"clip:{tiny_clip}", regions="windows", region_count=3, concreteness=ratings, cache=None
    )

    def score(theta: str) -> None:
        run = Run(["groovist"], settings.with_options(theta=theta))
        score_file(source, run, tmp_path / "out", resume=True, progress=lambda stage, done: None)

    def crash(*given: Any, **more: Any) -> None:
        raise Crash

    monkeypatch.setattr("sightline.api.write_report", crash)
    with pytest.raises(Crash):
        score("0.6")
    monkeypatch.undo()
    ratings.write_text("dog;1.5\n")
    with pytest.raises(UsageError, match="belongs to another run: concreteness was"):
        score("0.6")


def test_a_resumed_run_takes_another_theta(
    tmp_path: Path, tiny_clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = stories(tmp_path, 5, 9)
    settings = Settings(encoder=f"clip:{tiny_clip}", regions="windows", region_count=3, cache=None)

    def score(out: str, theta: str, resume: bool = False) -> None:
        run = Run(["groovist:weights=none"], settings.with_options(theta=theta))
        score_file(source, run, tmp_path / out, resume=resume, progress=lambda stage, done: None)

    def crash(*given: Any, **more: Any) -> None:
        raise Crash

    monkeypatch.setattr("sightline.api.write_report", crash)
    with pytest.raises(Crash):
        score("out", "0.6")
    monkeypatch.undo()
    assert entries(tmp_path / "out") > 0
    score("out", "0.3", resume=True)
    score("anew", "0.3")
    assert results(tmp_path / "out") == results(tmp_path / "anew")
