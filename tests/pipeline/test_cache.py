"""The cache never changes a score: what is damaged is computed again, what cannot be used is left aside."""

import json
import random
import shutil
import sqlite3
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from sightline.api import score_file
from sightline.io.mounts import journal_mode, on_network
from sightline.pipeline.cache import FILE, Cache, look, prune, verify
from sightline.pipeline.memory import silent
from sightline.pipeline.run import Run
from sightline.pipeline.settings import Settings

ROWS = {f"key {n}": bytes([n % 256]) * 1024 for n in range(60)}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("whole")
    cache = Cache(folder)
    cache.put_many(list(ROWS.items()))
    cache.close()
    return (folder / FILE).read_bytes()


def damage(data: bytes, chance: random.Random) -> bytes:
    """Flipped bytes, a lost or a doubled piece, or a cut file. The header's version stays: another is refused."""
    header, rest = data[:100], bytearray(data[100:])
    match chance.randrange(4):
        case 0:
            for _ in range(chance.randint(1, 40)):
                rest[chance.randrange(len(rest))] ^= 1 << chance.randrange(8)
        case 1:
            start = chance.randrange(len(rest))
            del rest[start : start + chance.randint(1, 3000)]
        case 2:
            start, end = sorted(chance.sample(range(len(rest)), 2))
            rest[start:end] = rest[end : end + end - start]
        case _:
            return data[: chance.randrange(len(data))]
    return header + bytes(rest)


@pytest.mark.parametrize("seed", range(10))
def test_a_thousand_damaged_caches_give_no_wrong_row(whole: bytes, tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    for number in range(100):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / FILE).write_bytes(damage(whole, chance))
        cache = Cache(folder)
        for key, value in cache.get_many(list(ROWS)).items():
            assert ROWS[key] == value
        cache.put_many([("new", b"new"), *ROWS.items()])
        for key, value in cache.get_many(["new", *ROWS]).items():
            assert {"new": b"new", **ROWS}[key] == value
        cache.close()
        shutil.rmtree(folder)


def test_damage_is_told_once_and_mended(
    whole: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE).write_bytes(whole.replace(ROWS["key 7"], b"x" + ROWS["key 7"][1:]))
    cache = Cache(tmp_path)
    assert "key 7" not in cache.get_many(["key 7", "key 8"])
    assert "key 7" not in cache.get_many(["key 7"])
    assert len(caplog.records) == 1 and "damaged" in caplog.text
    cache.put_many([("key 7", ROWS["key 7"])])
    assert cache.get_many(list(ROWS)) == ROWS
    cache.close()


def test_a_row_of_another_key_is_no_row(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.put_many([("one", b"1"), ("two", b"2")])
    cache.close()
    with sqlite3.connect(tmp_path / FILE) as db:
        db.execute("UPDATE entry SET value = (SELECT value FROM entry WHERE key = 'one')")
    assert Cache(tmp_path).get_many(["one", "two"]) == {"one": b"1"}


def test_a_full_or_closed_place_is_left_aside_with_one_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file")
    cache.put_many([("a", b"1")])
    assert cache.get_many(["a"]) == {"a": b"1"}
    assert len(caplog.records) == 1 and "left aside" in caplog.text

    full = Cache(tmp_path / "full")
    full._db.execute("PRAGMA max_page_count=4")
    full.put_many([(str(n), bytes(5000)) for n in range(20)])
    assert len(full.get_many([str(n) for n in range(20)])) == 20
    assert len(caplog.records) == 2


def fill(folder: Path, start: int) -> None:
    cache = Cache(folder)
    for n in range(start, start + 200):
        cache.put_many([(f"k{n}", str(n).encode())])
    cache.close()


def test_processes_write_beside_each_other(tmp_path: Path) -> None:
    with ProcessPoolExecutor(3) as pool:
        list(pool.map(fill, [tmp_path] * 3, (0, 100, 200)))
    cache = Cache(tmp_path)
    assert cache.get_many([f"k{n}" for n in range(400)]) == {f"k{n}": str(n).encode() for n in range(400)}


def test_the_oldest_go_first(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    for n in range(200):
        cache.put_many([(f"k{n:03}", bytes(10_000))])
    cache.close()
    prune(tmp_path, 500_000)
    rows, held = look(tmp_path)
    assert 10 <= rows < 200 and held <= 500_000
    assert list(Cache(tmp_path).get_many(["k000", "k199"])) == ["k199"]
    prune(tmp_path, 0)
    assert look(tmp_path)[0] == 0


def test_the_command_shows_verifies_and_prunes(whole: bytes, tmp_path: Path) -> None:
    run = [sys.executable, "-m", "sightline", "cache", str(tmp_path)]
    missing = subprocess.run(run, capture_output=True, text=True)
    assert missing.returncode == 2 and "there is no cache" in missing.stderr
    (tmp_path / FILE).write_bytes(whole.replace(ROWS["key 7"], b"x" + ROWS["key 7"][1:]))
    told = subprocess.run([*run, "--verify", "--prune", "1G"], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "60 rows looked at, 1 damaged" in told.stdout and "59 rows" in told.stdout
    (tmp_path / FILE).write_bytes(whole[:5000])
    told = subprocess.run([*run, "--verify"], capture_output=True, text=True)
    assert told.returncode == 0 and "made anew" in told.stdout
    assert verify(tmp_path).whole


def test_shared_file_systems_get_no_write_ahead_log(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(f"root / ext4 rw 0 0\nhost:/x {tmp_path}/shared nfs4 rw 0 0\n")
    assert on_network(tmp_path / "shared" / "deep", mounts) and not on_network(tmp_path, mounts)
    assert journal_mode(tmp_path) == "WAL"


def test_scores_do_not_change_with_a_damaged_cache(tmp_path: Path) -> None:
    for n in range(3):
        levels = np.random.default_rng(n).integers(0, 256, (40, 40, 3), dtype=np.uint8)
        Image.fromarray(levels).save(tmp_path / f"{n}.png")
    lines = [
        {"id": str(n), "images": [f"{n}.png"], "text": "A dog runs over a green field."} for n in range(3)
    ]
    file = tmp_path / "items.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    cache = tmp_path / "cache"
    metrics = ["clipscore", "groovist", "rovist-vg"]

    def scores(name: str) -> bytes:
        settings = Settings(cache=cache).with_options(theta="0.5")
        score_file(file, Run(metrics, settings), tmp_path / name, progress=silent)
        return (tmp_path / name / "scores.jsonl").read_bytes()

    undisturbed = scores("first")
    data = (cache / FILE).read_bytes()
    for seed in range(4):
        (cache / FILE).write_bytes(damage(data, random.Random(seed)))
        for left in cache.glob(f"{FILE}-*"):
            left.unlink()
        assert scores(f"damaged {seed}") == undisturbed
