"""`sightline captioners`: the paper's tables, their numbers those of `score`, and the captions side by side."""

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner

import sightline
from doors import command
from sightline.cli.app import load_commands
from sightline.errors import Unscorable, UsageError
from sightline.generate.base import Axis, Candidate, Decoding, Described, captioners
from sightline.train.captioner.evaluation import models_named

SAID = ("he is playing in the park", "they are eating pizza at home", "a man rides a horse on the beach")


@dataclass(frozen=True)
class Drawing:
    """Says one of three things, by the picture's shade and the seed; a wrong one now and then."""

    good: bool = True
    axes: tuple[Axis, ...] = ()
    refuses: int = -1

    @property
    def signature(self) -> str:
        return f"drawing@{self.good}{self.refuses}"

    def describe(self, pictures: Sequence[Image.Image], axis: Axis, decoding: Decoding) -> list[Described]:
        return [self._one(picture, decoding.seed) for picture in pictures]

    def _one(self, picture: Image.Image, seed: int) -> Described:
        shade = picture.getpixel((0, 0))
        assert isinstance(shade, tuple)
        if shade[0] == self.refuses:
            return Unscorable("it would not")
        right = self.good and (shade[0] + seed) % 4 != 0
        return [Candidate(SAID[(shade[0] + (0 if right else 1)) % 3], None)]


@pytest.fixture
def hl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, made in {"good": Drawing(), "bad": Drawing(False), "shy": Drawing(refuses=5)}.items():
        monkeypatch.setitem(captioners._entries, name, lambda _, made=made: made)
    rows = []
    for n in range(24):
        Image.new("RGB", (8, 8), (n, 0, 0)).save(tmp_path / f"{n}.png")
        texts = [SAID[n % 3], f"{SAID[n % 3]} today"]
        rows.append({"file_name": f"{n}.png", "captions": {"action": texts, "scene": [f"near {SAID[n % 3]}"]},
                     "narrative": [SAID[n % 3]]})  # fmt: skip
    (tmp_path / "hl.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path / "hl.jsonl"


def test_table_3_is_printed_with_intervals_and_its_numbers_are_those_of_score(
    hl: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    told = command(
        "captioners", hl, "--model", "X (PRE)=bad", "--model", "X (FT)=good", "--axis", "action", "--axis", "scene",
        "--runs", 3, "-o", out,
    )  # fmt: skip
    assert "Each number is the average of 3 runs" in told
    table = json.loads((out / "table.json").read_text())
    rows = {(row["model"], row["axis"]): row for row in table["rows"]}
    assert list(rows) == [(m, a) for a in ("action", "scene") for m in ("X (PRE)", "X (FT)")]
    ours = rows["X (FT)", "action"]["values"]
    assert (
        rows["X (PRE)", "action"]["values"]["cider"]["high"] < ours["cider"]["low"] <= ours["cider"]["mean"]
    )
    assert (
        len(ours["cider"]["runs"]) == 3
        and ours["cider"]["low"] < ours["cider"]["mean"] < ours["cider"]["high"]
    )

    both = [item for item in sightline.read_items(out / "captions.jsonl") if item.extra["axis"] == "action"]
    alone = sightline.score(both, ["cider", "sacrebleu", "rouge-l"]).summary["systems"]
    for metric, scale in (("cider", 100), ("sacrebleu", 1), ("rouge-l", 100)):
        runs = [alone[f"X (FT) · run {run}"][metric]["corpus"] * scale for run in (1, 2, 3)]
        assert ours[metric]["runs"] == pytest.approx(runs)
        assert ours[metric]["mean"] == pytest.approx(sum(runs) / 3)

    text = (out / "table.md").read_text()
    assert text.startswith("| Model | Axis | CIDEr | SacreBLEU | ROUGE-L |")
    latex = (out / "table.tex").read_text()
    assert (
        "Model & Axis & CIDEr & SacreBLEU & ROUGE-L" in latex and f"& {ours['cider']['mean']:.2f} &" in latex
    )
    with (out / "table.csv").open(newline="") as file:
        assert len(list(csv.DictReader(file))) == 12
    page = (out / "report.html").read_text()
    assert page.count("data:image/webp") == 24 and page.index("X (PRE)</b>") < page.index("X (FT)</b>")
    with pytest.raises(UsageError, match="holds a table already"):
        command("captioners", hl, "--model", "good", "-o", out)


def test_narratives_get_table_4_and_beam_search_one_run(hl: Path, tmp_path: Path) -> None:
    models, out = ("-c", "A=good", "-c", "B@narrative=bad"), tmp_path / "o"
    told = command("captioners", hl, *models, "--axis", "narrative", "--beams", 3, "-o", out)
    assert "one run, as beam search has one outcome, with the decoding beams=3, length=50" in told
    assert (tmp_path / "o/table.md").read_text().startswith("| Model | SacreBLEU | ROUGE-L | CIDEr |")


def test_what_a_captioner_cannot_tell_is_counted_and_in_no_mean(hl: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(
        load_commands(),
        ["captioners", str(hl), "-c", "shy", "--axis", "action", "--runs", "2", "-o", str(tmp_path / "o")],
    )
    assert done.exit_code == 3
    assert "count in nothing: shy (action): 2" in " ".join(done.output.split())
    reasons = [json.loads(line) for line in (tmp_path / "o/failures.jsonl").read_text().splitlines()]
    assert [row["system"] for row in reasons] == ["shy · run 1", "shy · run 2"]


class Interrupted(Drawing):
    calls = 0

    def describe(self, pictures: Sequence[Image.Image], axis: Axis, decoding: Decoding) -> list[Described]:
        Interrupted.calls += 1
        if Interrupted.calls == 2:
            raise KeyboardInterrupt
        return super().describe(pictures, axis, decoding)


def test_a_stopped_comparison_goes_on(hl: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(captioners._entries, "stopping", lambda _: Interrupted())
    asked = ("captioners", hl, "-c", "stopping", "--axis", "action", "--runs", 3)
    assert (
        CliRunner().invoke(load_commands(), [str(p) for p in (*asked, "-o", tmp_path / "o")]).exit_code == 130
    )
    command(*asked, "-o", tmp_path / "o", "--resume")
    assert Interrupted.calls == 4
    command(*asked, "-o", tmp_path / "whole")
    one, two = (json.loads((tmp_path / name / "table.json").read_text())["rows"] for name in ("o", "whole"))
    assert one == two


def test_models_are_named(hl: Path, tmp_path: Path) -> None:
    found = models_named(["A@scene=git:x", "A@action=git:y", "B=chat:m", "git:some=odd/name"])
    assert [(one.name, one.spec("scene"), one.spec("action")) for one in found] == [
        ("A", "git:x", "git:y"), ("B", "chat:m", "chat:m"), ("git:some=odd/name",) * 3,
    ]  # fmt: skip
    wrong: dict[tuple[Any, ...], str] = {
        ("-c", "A=good", "-c", "A=bad"): "'A' has two captioners for all axes",
        ("-c", "A@scen=good"): "unknown axis 'scen'",
        ("-c", "A@scene=good", "--axis", "action"): "no model is given for the axis 'action'",
        (
            "-c",
            "good",
            "--axis",
            "rationale",
        ): "no picture has a caption of the axis 'rationale'",
    }
    for line, message in wrong.items():
        with pytest.raises(UsageError, match=message):
            command("captioners", hl, *line, "-o", tmp_path / "o")
