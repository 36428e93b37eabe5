"""Every engine gives the same scores, to the bit, in the same order."""

import json
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import ray
from PIL import Image

import sightline
from sightline.cli import main
from sightline.items import Item
from sightline.pipeline import run


@pytest.fixture
def stories(tmp_path: Path) -> list[Item]:
    """Enough pictures for several batches, and one story that cannot be scored."""
    paths = []
    for number in range(70):
        levels = np.random.default_rng(number).integers(0, 256, (24, 32, 3), dtype=np.uint8)
        paths.append(tmp_path / f"{number}.png")
        Image.fromarray(levels).save(paths[-1])
    told = ("A dog runs along the beach.", "Two boys eat ice cream.")
    items = [Item(f"s{n}", (paths[2 * n], paths[2 * n + 1]), sentences=told) for n in range(35)]
    return [*items, Item("lost", (tmp_path / "none.png", paths[0]), sentences=told)]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("RAY_worker_niceness", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
    yield
    ray.shutdown()


def test_a_cluster_scores_as_this_process_does(stories: list[Item], cluster: None) -> None:
    found = {
        engine: sightline.score(
            stories, ["groovist", "clipscore"], regions="windows", cache=None, region_count=2, engine=engine
        )
        for engine in ("local", "ray")
    }
    assert len(found["local"].scores) == 70
    assert found["ray"].scores == found["local"].scores
    assert found["ray"].failures == found["local"].failures
    assert {failure.id for failure in found["ray"].failures} == {"lost"}


def test_wrong_use_on_a_worker_is_one_line(
    stories: list[Item],
    cluster: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A worker that finds another content behind a path than this process did says so, as if it were here."""
    fingerprint = run.fingerprint
    monkeypatch.setattr(
        run, "fingerprint", lambda *given: {**fingerprint(*given), "encoder": "pocket@of-another-machine"}
    )
    story = {"id": "s", "images": [str(path) for path in stories[0].images], "sentences": ["A dog runs."]}
    file = tmp_path / "stories.jsonl"
    file.write_text(json.dumps(story))
    words = ["score", file, "-m", "clipscore", "--engine", "ray", "--no-cache", "-o", tmp_path / "out"]
    monkeypatch.setattr(sys, "argv", ["sightline", *map(str, words)])
    with pytest.raises(SystemExit) as ended:
        main()
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert told.startswith("sightline: a worker has other models or files than this process: ")
    assert "pocket@of-another-machine" in told and told.count("\n") == 1


def test_errors_come_whole_from_a_worker() -> None:
    line = sightline.BadLine("a.jsonl:3", "not JSON", "x", "ours")
    again = pickle.loads(pickle.dumps(line))
    assert str(again) == str(line)
    assert (again.where, again.reason, again.id, again.system) == ("a.jsonl:3", "not JSON", "x", "ours")
