"""The bundled stories, and the command that scores them."""

import json
import re
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from sightline import demo
from sightline.cli.app import load_commands
from sightline.io import read_items

FOLDER = demo.STORIES.parent


def test_stories_come_in_good_mediocre_and_wrong_for_the_same_pictures() -> None:
    items = list(read_items(demo.STORIES))
    sets: dict[str, dict[str, tuple[Path, ...]]] = {}
    for item in items:
        name, _, version = item.id.rpartition("-")
        assert item.system == version
        sets.setdefault(name, {})[version] = item.images
    assert len(items) >= 8
    assert len(items) < 30, "thirty would be enough for a theta of their own"
    for versions in sets.values():
        assert {"good", "mediocre", "wrong"} <= set(versions)
        assert len(set(versions.values())) == 1
    assert {len(versions["good"]) > 1 for versions in sets.values()} == {True, False}  # stories and captions
    for item in items:
        assert item.is_caption or len(item.sentences or ()) == len(item.images)


def test_samples_are_left_for_every_command_to_try_and_nothing_is_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(load_commands(), ["demo", "--samples"])
    assert done.exit_code == 0
    assert "stories.jsonl, ours.jsonl, theirs.jsonl, pictures" in " ".join(done.output.split())
    ours, theirs = (list(read_items(tmp_path / f"{name}.jsonl")) for name in ("ours", "theirs"))
    assert {item.id for item in ours} == {item.id for item in theirs}
    assert all(item.references and item.images[0].is_file() for item in ours + theirs)
    again = CliRunner().invoke(load_commands(), ["demo", "--samples"])
    assert "is there already" in str(again.exception)


def test_every_picture_is_small_and_its_licence_is_written_down() -> None:
    licences = (FOLDER / "LICENSES.md").read_text("utf-8")
    pictures = sorted((FOLDER / "pictures").iterdir())
    assert [path.name for path in pictures] == sorted(re.findall(r"\| `pictures/([\w.]+)` \|", licences))
    used = {path.resolve() for item in read_items(demo.STORIES) for path in item.images}
    assert used == {path.resolve() for path in pictures}
    for row in re.findall(r"^\| `pictures/.*$", licences, re.MULTILINE):
        assert re.search(r"\| (CC0|public domain)", row), row
    for path in pictures:
        with Image.open(path) as image:
            assert max(image.size) <= 320
        assert path.stat().st_size < 40_000


def test_the_command_prints_a_table_and_leaves_a_report(
    tmp_path: Path, noise: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("sightline.cli.demo.METRICS", ("groovist", "clipscore", "rovist-nr"))
    out = tmp_path / "out"
    arguments = ["demo", "-o", str(out), "--encoder", "noise", "--regions", "windows"]
    for _ in range(2):  # a second run writes over the first
        ran = CliRunner().invoke(load_commands(), arguments, catch_exceptions=False)
        assert ran.exit_code == 0, ran.output
    assert str(out / "report.html") in ran.output.replace("\n", "")
    for word in ("launch", "mediocre", "shuffled", "pocket", "mean", "groovist", "rovist-nr"):
        assert word in ran.output
    summary = json.loads((out / "summary.json").read_text())
    written = [item.id for item in read_items(demo.STORIES)]
    sets = {id.rpartition("-")[0] for id in written}
    assert {row["n"] for row in summary["metrics"].values()} == {len(written) + len(sets)}
    assert "theta:shipped=0.6" in summary["metrics"]["groovist"]["signature"], (
        "the shipped one, not these texts' own"
    )
    assert sorted(path.name for path in out.iterdir()) == [
        "failures.jsonl", "items.parquet", "report.html", "scores.jsonl", "scores.parquet", "statistics.json",
        "summary.json",
    ]  # fmt: skip
