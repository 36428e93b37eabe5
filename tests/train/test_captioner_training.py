"""`sightline train captioner`: what is learned, when it stops, and that a killed run ends with the same weights."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from typer.testing import CliRunner

from doors import command
from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.generate.base import Decoding, load_captioner
from sightline.generate.subjects import Caption, Subject
from sightline.train.captioner import checkpoint
from sightline.train.captioner.examples import examples
from sightline.train.captioner.run import Recipe
from tiny_captioners import save_blip, save_clip, save_clipcap, save_git, save_gpt2, save_vit_gpt2

SAID = {
    "red": "the man is on a red house",
    "blue": "a small dog runs near the river",
    "green": "two woman and a boat",
}


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def hl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures in three colours, each colour with its action."""
    folder = tmp_path_factory.mktemp("hl")
    rng = np.random.default_rng(0)
    rows = []
    for n in range(24):
        colour = list(SAID)[n % 3]
        plain = np.asarray(Image.new("RGB", (32, 32), colour), float)
        noisy = np.clip(plain + rng.normal(0, 20, plain.shape), 0, 255).astype(np.uint8)
        Image.fromarray(noisy).save(folder / f"{n}.png")
        rows.append({"file_name": f"{n}.png", "captions": {"action": [SAID[colour]] * 2, "scene": ["in a house"]},
                     "confidence": {"action": [5, 1], "scene": [4]}})  # fmt: skip
    path = folder / "hl.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


SAVED = {
    "git": ("git", save_git),
    "blip": ("blip", save_blip),
    "transformers": ("vit-gpt2", save_vit_gpt2),
    "clipcap": ("clipcap", save_clipcap),
}


@pytest.mark.parametrize("kind", SAVED)
def test_a_captioner_learns_to_say_what_people_say(hl: Path, tmp_path: Path, kind: str) -> None:
    name, save = SAVED[kind]
    base, out = f"{kind}:{save(tmp_path / name)}", tmp_path / "out"
    quick = ("--rate", "5e-3", "--epochs", 12, "--batch", 8, "--patience", 12)
    told = command("train", "captioner", hl, "--base", base, "--axis", "action", "-o", out, *quick)
    about = json.loads((out / "sightline.json").read_text())
    dev = [row["dev"] for row in about["recipe"]["history"]]
    assert min(dev) < 0.25 < 2 < dev[0]
    assert about["axes"] == ["action"] and f"--captioner {kind}:{out}" in told
    assert "| 12 |" in (out / "card.md").read_text() and not list(out.glob("*.safetensors.*"))
    assert not (out / "unfinished.safetensors").exists() and not (out / "best.safetensors").exists()
    captioner = load_captioner(f"{kind}:{out}")
    assert captioner.axes == ("action",)
    picture = Image.new("RGB", (32, 32), "blue")
    (found,) = captioner.describe([picture], "action", Decoding(length=15))
    assert found[0].text == SAID["blue"]  # type: ignore[index]
    with pytest.raises(UsageError, match="holds a captioner already"):
        command("train", "captioner", hl, "--base", base, "--axis", "action", "-o", out)


def test_a_new_clipcap_is_put_together_and_learns(hl: Path, tmp_path: Path) -> None:
    parts = ("--clip", save_clip(tmp_path / "clip", 0), "--gpt2", save_gpt2(tmp_path / "gpt2"))
    command(
        "train", "captioner", hl, "--base", "clipcap:transformer", *parts, "--axis", "scene", "-o", tmp_path / "out",
        "--epochs", 2, "--rate", "1e-3",
    )  # fmt: skip
    assert load_captioner(f"clipcap:{tmp_path / 'out'}").axes == ("scene",)


def test_training_that_no_longer_gains_stops_and_keeps_the_best(hl: Path, tmp_path: Path) -> None:
    base = f"git:{save_git(tmp_path / 'git')}"
    told = command(
        "train", "captioner", hl, "--base", base, "--axis", "action", "-o", tmp_path / "out", "--rate", "0.5",
        "--epochs", 10, "--patience", 1,
    )  # fmt: skip
    rows = json.loads((tmp_path / "out/sightline.json").read_text())["recipe"]["history"]
    dev = [row["dev"] for row in rows[1:]]
    assert len(dev) < 10 and dev[-1] >= min(dev[:-1]) and "stopped: 1 epochs without a gain" in told


def test_a_killed_run_goes_on_to_the_very_same_weights(
    hl: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    base = f"git:{save_git(tmp_path / 'git')}"

    def asked(out: str, *more: str) -> list[str]:
        line = [
            "train",
            "captioner",
            hl,
            "--base",
            base,
            "--axis",
            "action",
            "--confidence",
            "-o",
            tmp_path / out,
        ]
        return [str(part) for part in (*line, "--epochs", 3, "--batch", 2, "--every", 5, *more)]

    command(*asked("whole"))
    one_thread = {**environment, "OMP_NUM_THREADS": "1"}
    run = subprocess.Popen(
        [sys.executable, "-m", "sightline", *asked("killed")], env=one_thread, stdout=subprocess.DEVNULL
    )
    standing = tmp_path / "killed/unfinished.safetensors"
    for _ in range(6000):
        if standing.exists():
            break
        time.sleep(0.01)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert standing.exists() and not (tmp_path / "killed/sightline.json").exists()
    with pytest.raises(UsageError, match="holds an unfinished run; give --resume"):
        command(*asked("killed"))
    with pytest.raises(UsageError, match="belongs to another run"):
        command(*asked("killed", "--resume", "--rate", "1e-4"))
    command(*asked("killed", "--resume"))
    whole, killed = (tmp_path / out / "model.safetensors" for out in ("whole", "killed"))
    assert whole.read_bytes() == killed.read_bytes()
    picture = Image.new("RGB", (32, 32), "red")
    one, two = (
        load_captioner(f"git:{tmp_path / out}").describe([picture], "action", Decoding())
        for out in ("whole", "killed")
    )
    assert one == two


@pytest.mark.parametrize("kind", ["blip", "transformers", "clipcap"])
def test_any_captioner_that_was_stopped_goes_on_to_the_same_weights(
    hl: Path, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, save = SAVED[kind]
    asked = ["train", "captioner", hl, "--base", f"{kind}:{save(tmp_path / name)}", "--axis", "action"]
    quick = ["--epochs", 2, "--batch", 4, "--every", 3, "--rate", "1e-3"]
    command(*asked, *quick, "-o", tmp_path / "whole")
    kept = checkpoint.save
    times = 0

    def stopping(*given: Any) -> None:
        nonlocal times
        kept(*given)
        times += 1
        if times in (2, 5):
            raise KeyboardInterrupt

    monkeypatch.setattr(checkpoint, "save", stopping)
    line = [str(part) for part in (*asked, *quick, "-o", tmp_path / "stopped")]
    for more in ([], ["--resume"]):
        assert CliRunner().invoke(load_commands(), [*line, *more]).exit_code == 130
    command(*line, "--resume")
    assert times > 5
    whole, stopped = (tmp_path / out / "model.safetensors" for out in ("whole", "stopped"))
    assert whole.read_bytes() == stopped.read_bytes()


def test_hls_recipe_is_the_default() -> None:
    assert Recipe.of("action") == Recipe(10, 8, 5e-5, "adam")
    assert Recipe.of("narrative") == Recipe(3, 8, 5e-5, "adamw")
    assert Recipe.of("scene", epochs=4, batch=None).epochs == 4
    with pytest.raises(UsageError, match="epochs is 0; it is at least 1"):
        Recipe.of("scene", epochs=0)


def test_confidence_weighs_captions_and_their_mean_weight_is_one(hl: Path) -> None:
    images = [hl.parent / f"{n}.png" for n in range(3)]
    subjects = [
        Subject(str(n), (image,), [Caption("one", "action", c), Caption("two", "scene", 5)])
        for n, (image, c) in enumerate(zip(images, (4.0, 2.0, None), strict=True))
    ]
    held_out = [Subject("h", (hl.parent / "9.png",), [Caption("three", None)])]
    found = examples(subjects, "action", "hl", held_out=held_out, confidence=True)
    assert [one.weight for one in found.learned] == [4 / 3, 2 / 3, 1.0]
    assert [one.text for one in found.held_out] == ["three"]
    with pytest.raises(UsageError, match="1 pictures are in both files, such as 0"):
        examples(subjects, "action", "hl", held_out=subjects[:1])


def test_pictures_are_held_out_whole_and_the_same_again(hl: Path) -> None:
    subjects = [Subject(str(n), (hl.parent / f"{n}.png",), [Caption(t) for t in "abc"]) for n in range(20)]
    one, two = (examples(subjects, "scene", "x", share=0.2, seed=3) for _ in range(2))
    assert one == two and (one.pictures, len(one.held_out)) == (16, 12)
    assert not {e.picture for e in one.learned} & {e.picture for e in one.held_out}


def test_what_cannot_be_learned_from_is_told(hl: Path, tmp_path: Path) -> None:
    git = save_git(tmp_path / "git")
    (tmp_path / "broken.png").write_text("no picture")
    (tmp_path / "items.jsonl").write_text('{"id": "a", "images": ["broken.png"], "text": "a dog"}\n')
    for line, message in {
        (
            hl,
            "--axis",
            "rationale",
            "--base",
            f"git:{git}",
        ): "no caption of the axis 'rationale'; it has 48 of action",
        (hl, "--axis", "scene", "--base", "pocket"): "--base pocket: what can be trained is git:NAME",
        (hl, "--axis", "scene", "--base", f"blip:{git}"): "is a git, not a blip",
        (hl, "--axis", "scene", "--base", f"git:{git}", "--clip", "x"): "--clip and --gpt2 belong to",
        (
            tmp_path / "items.jsonl",
            "--base",
            f"git:{git}",
        ): "no picture with a caption to learn from .*not a picture",
        (tmp_path / "items.jsonl", "--base", f"git:{git}", "--confidence", "--rate", "0"): "rate is 0",
    }.items():
        with pytest.raises(UsageError, match=message):
            command("train", "captioner", *line, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()
