"""The circle: pictures are described, captions judged, joined to narratives, learned from, and compared anew."""

import json
from pathlib import Path

import pytest
from PIL import Image

from doors import command
from sightline.generate.kept import Sources
from tiny_captioners import save_git

torch = pytest.importorskip("torch")
SAID = {
    "red": Sources("in a house", "the man is playing", "to sit near the river"),
    "blue": Sources("on a boat", "a small dog runs", "to sit on the woman"),
}


def test_captions_are_made_judged_learned_from_and_made_better(tmp_path: Path) -> None:
    torch.set_num_threads(1)
    rows = []
    for n in range(12):
        colour = list(SAID)[n % 2]
        Image.new("RGB", (32, 32), colour).save(tmp_path / f"{n}.png")
        captions = {axis: [text] * 2 for axis, text in SAID[colour].told().items()}
        rows.append({"file_name": f"{n}.png", "captions": captions})
    hl = tmp_path / "hl.jsonl"
    hl.write_text("".join(json.dumps(row) + "\n" for row in rows))
    base = f"git:{save_git(tmp_path / 'git')}"

    command("narrate", hl, "-o", tmp_path / "gold")
    narratives = [json.loads(line) for line in (tmp_path / "gold/narratives.jsonl").read_text().splitlines()]
    assert narratives[0]["text"] == "The man is playing in a house to sit near the river."

    quick = ("--rate", "5e-3", "--epochs", 8, "--batch", 4, "--patience", 8)
    for axis in ("scene", "action"):
        command("train", "captioner", hl, "--base", base, "--axis", axis, "-o", tmp_path / axis, *quick)
    models = ("-c", f"GIT (PRE)={base}", *(
        part for axis in ("scene", "action") for part in ("-c", f"GIT (FT)@{axis}=git:{tmp_path / axis}")
    ))  # fmt: skip
    axes = ("--axis", "scene", "--axis", "action")
    command("captioners", hl, *models, *axes, "--beams", 2, "--length", 12, "-o", tmp_path / "table")
    table = json.loads((tmp_path / "table/table.json").read_text())["rows"]
    sizes = {(row["model"], row["axis"]): row["values"]["rouge-l"]["mean"] for row in table}
    for axis in ("scene", "action"):
        assert sizes["GIT (FT)", axis] > 95 > 40 > sizes["GIT (PRE)", axis]

    out = tmp_path / "told"
    command("caption", hl, "-c", f"git:{tmp_path / 'action'}", "--axis", "action", "--length", 12, "-o", out)
    told = command(
        "score", out / "captions.jsonl", "-m", "cider", "-m", "clipscore", "-o", tmp_path / "scores"
    )
    assert "cider" in told
    summary = json.loads((tmp_path / "scores/summary.json").read_text())
    assert summary["metrics"]["cider"]["n"] == 12
    sheet = (tmp_path / "table/report.html").read_text()
    assert sheet.index("GIT (PRE)</b>") < sheet.index("GIT (FT)</b>") and "a small dog runs" in sheet
