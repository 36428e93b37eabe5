"""`sightline score` on bad input: one clear line or a listed failure, the right status, all else scored."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from sightline.cli import main
from sightline.metrics import metrics

Command = Callable[..., tuple[int, str, str]]

GOOD = {"images": ["p0.png", "p1.png"], "sentences": ["The red dog runs.", "A man sits near the boat."]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stories")
    for number in range(3):
        levels = np.random.default_rng(number).integers(0, 256, (40, 60, 3), dtype=np.uint8)
        Image.fromarray(levels).save(folder / f"p{number}.png")
    (folder / "empty.png").touch()
    (folder / "folder.png").mkdir()
    (folder / "text.png").write_text("this is no picture")
    (folder / "half.png").write_bytes((folder / "p0.png").read_bytes()[:2000])
    (folder / "words.csv").write_text("dog;4.9\nman;4.8\nboat;4.9\n")
    return folder


@pytest.fixture
def sightline(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, tiny_clip: Path
) -> Command:
    """The command, in this process: status, stdout, stderr."""

    def run(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        monkeypatch.chdir(folder)
        monkeypatch.setattr(sys, "argv", ["sightline", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        told = capsys.readouterr()
        return int(ended.value.code or 0), told.out, told.err

    return run


def choices(tiny_clip: Path) -> list[str]:
    regions = ["--regions", "windows", "--region-count", "3"]
    return ["--encoder", f"clip:{tiny_clip}", *regions, "--theta", "0.5", "--no-cache"]


def write(path: Path, items: list[Any]) -> Path:
    path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in items))
    return path


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


BAD = {
    "missing": ({**GOOD, "images": ["p0.png", "nowhere.png"]}, "nowhere.png: there is no such picture"),
    "zero": ({**GOOD, "images": ["p0.png", "empty.png"]}, "0 bytes"),
    "dir": ({**GOOD, "images": ["p0.png", "folder.png"]}, "a folder, not a picture"),
    "fake": ({**GOOD, "images": ["p0.png", "text.png"]}, "not a picture"),
    "half": ({**GOOD, "images": ["p0.png", "half.png"]}, "damaged picture"),
    "silent": ({**GOOD, "sentences": []}, "the text is empty"),
    "blank": ({"images": ["p0.png", "p1.png"], "text": "  "}, "the text is empty"),
    "wordless": ({**GOOD, "sentences": ["Run!", "It ran."]}, "no noun phrase"),
    "unseen": ({"images": [], "text": "The red dog runs."}, "there is no picture"),
    "textless": ({"images": ["p0.png", "p1.png"]}, "field 'text': is missing"),
    "outside": ({**GOOD, "regions": [[[900, 0, 950, 9]], [[0, 0, 9, 9]]]}, "lies outside the picture"),
}


def test_every_bad_item_is_listed_and_every_good_one_scored(
    folder: Path, tiny_clip: Path, environment: dict[str, str]
) -> None:
    """As a user runs it, in a process of its own."""
    bad = [{"id": name, **given} for name, (given, _) in BAD.items()]
    good = [{"id": f"good{n}", **GOOD} for n in range(3)]
    mixed = [good[0], *bad[:5], good[1], *bad[5:], '{"id": "broken"', good[2], {"id": "good1", **GOOD}]
    source = write(folder / "mixed.jsonl", mixed)
    words = ["score", str(source), "-m", "groovist", "-o", str(folder / "mixed"), *choices(tiny_clip)]
    done = subprocess.run(
        [sys.executable, "-m", "sightline", *words, "--concreteness", str(folder / "words.csv")],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    assert [score["id"] for score in lines(folder / "mixed" / "scores.jsonl")] == ["good0", "good1", "good2"]
    failures = {failure["id"]: failure for failure in lines(folder / "mixed" / "failures.jsonl")}
    for name, (_, told) in BAD.items():
        assert told in failures[name]["reason"], name
        assert failures[name]["source"].startswith(str(source)), "file and line"
    assert "not JSON" in failures[""]["reason"]
    assert failures[""]["source"].endswith(":14")
    assert "same id" in failures["good1"]["reason"]
    summary = json.loads((folder / "mixed" / "summary.json").read_text())
    row = summary["metrics"]["groovist"]
    assert (row["n"], row["failed"]) == (3, len(BAD) + 2), "every line of the input is counted"
    assert (summary["duplicates"], summary["bad_lines"]) == (1, 2)
    assert (folder / "mixed" / "report.html").stat().st_size > 1000
    assert not list((folder / "mixed").glob("*.part"))
    assert not list((folder / "mixed").glob("unfinished*"))


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["good.jsonl", "-m", "groovits"], "unknown metric 'groovits'; did you mean 'groovist'?"),
        (["good.jsonl", "-m", "groovist:weihgts=idf"], "did you mean 'weights'?"),
        (["good.jsonl", "-m", "groovist:weights=heavy"], "not one of concreteness, idf, none"),
        (["nowhere.jsonl", "-m", "clipscore"], "nowhere.jsonl: there is no such file"),
        (["folder.png", "-m", "clipscore"], "folder.png: a folder, not a file of items"),
        (["empty.png", "-m", "clipscore"], "empty.png: the file is empty (0 bytes)"),
        (["text.png", "-m", "clipscore"], "the format is not known"),
        (["nothing.jsonl", "-m", "clipscore"], "no item in it; nothing.jsonl:1: field 'id': is missing"),
        (["good.jsonl", "-m", "clipscore", "--format", "jsonnl"], "did you mean 'jsonl'?"),
        (["good.jsonl", "-m", "clipscore", "--encoder", "clip:./nowhere"], "there is no such folder"),
        (["good.jsonl", "-m", "clipscore", "--region-count", "0"], "at least one region"),
        (["good.jsonl", "-m", "clipscore", "--engine", "lokal"], "did you mean 'local'?"),
        (["good.jsonl", "-m", "clipscore", "--option", "wordnett=x"], "did you mean 'wordnet'?"),
        (["good.jsonl", "-m", "clipscore", "--option", "wordnet"], "write it as NAME=VALUE"),
        (
            ["good.jsonl", "-m", "groovist", "--theta", "abc"],
            "abc: neither a number nor the folder of a run",
        ),
        (["good.jsonl", "-m", "groovist", "--theta", "nan"], "--theta nan: not a number to compare with"),
        (["good.jsonl", "-m", "groovist", "--theta", "inf"], "--theta inf: not a number to compare with"),
        (
            ["good.jsonl", "-m", "groovist:weights=idf", "--idf", "nowhere.json"],
            "nowhere.json: not a readable idf",
        ),
        (["good.jsonl"], "Missing option '--metric'"),
        (["good.jsonl", "-m", "clipscore", "--region-count", "x"], "Invalid value for '--region-count'"),
    ],
)
def test_wrong_use_is_one_clear_line_and_leaves_nothing(
    sightline: Command, folder: Path, tmp_path: Path, tiny_clip: Path, words: list[str], told: str
) -> None:
    write(folder / "good.jsonl", [{"id": "a", **GOOD}])
    write(folder / "nothing.jsonl", [{"story": "x"}])
    status, out, err = sightline("score", *choices(tiny_clip), *words, "-o", str(tmp_path / "out"))
    assert status == 2
    assert told in err
    assert err.startswith("sightline: ")
    assert err.count("\n") == 1
    assert out == ""
    assert not list((tmp_path / "out").glob("*")), "a second try is not told of an unfinished run"


def test_all_is_well(sightline: Command, folder: Path, tmp_path: Path, tiny_clip: Path) -> None:
    source = write(folder / "good.jsonl", [{"id": "a", **GOOD}, {"id": "b", **GOOD}])
    status, out, _ = sightline(
        "score", str(source), "-m", "clipscore", "-o", str(tmp_path), *choices(tiny_clip)
    )
    assert status == 0
    assert "clipscore" in out
    assert (tmp_path / "failures.jsonl").read_text() == ""


def test_sentences_and_pictures_that_cannot_be_paired(
    sightline: Command, folder: Path, tmp_path: Path, tiny_clip: Path
) -> None:
    """Metrics that pair them fail for the item; holistic ones go on."""
    source = write(folder / "odd.jsonl", [{"id": "a", **GOOD, "images": ["p0.png", "p1.png", "p2.png"]}])
    chosen = ["-m", "clipscore", "-m", "groovist:weights=none"]
    status, _, _ = sightline("score", str(source), *chosen, "-o", str(tmp_path), *choices(tiny_clip))
    assert status == 3
    (failure,) = lines(tmp_path / "failures.jsonl")
    assert (failure["metric"], failure["reason"]) == (
        "clipscore",
        "2 sentences for 3 pictures: they cannot be paired",
    )
    (score,) = lines(tmp_path / "scores.jsonl")
    assert any("T is not defined" in note for note in score["evidence"]["notes"])


def test_text_that_was_cut_is_said_in_the_evidence(
    sightline: Command, folder: Path, tmp_path: Path, tiny_clip: Path
) -> None:
    source = write(
        folder / "long.jsonl", [{"id": "a", "images": ["p0.png"], "text": "the red dog runs " * 50}]
    )
    sightline("score", str(source), "-m", "clipscore", "-o", str(tmp_path), *choices(tiny_clip))
    (score,) = lines(tmp_path / "scores.jsonl")
    assert score["evidence"]["notes"] == ["sentence 1 was cut to the encoder's length"]


@pytest.mark.parametrize("name", ["scores.jsonl", "summary.json", "report.html"])
def test_a_folder_in_the_place_of_a_result_is_one_clear_line(
    sightline: Command, folder: Path, tmp_path: Path, tiny_clip: Path, name: str
) -> None:
    source = write(folder / "good.jsonl", [{"id": "a", **GOOD}])
    (tmp_path / name).mkdir()
    status, _, err = sightline(
        "score", str(source), "-m", "clipscore", "-o", str(tmp_path), *choices(tiny_clip)
    )
    assert status == 2
    assert name in err and "cannot write there" in err and err.count("\n") == 1
    (tmp_path / name).rmdir()
    status, _, _ = sightline(
        "score", str(source), "-m", "clipscore", "-o", str(tmp_path), "--resume", *choices(tiny_clip)
    )
    assert status == 0


def test_a_caption_is_one_sentence_however_it_is_given(
    sightline: Command, folder: Path, tmp_path: Path, tiny_clip: Path
) -> None:
    one, two = "The red dog runs.", "A man sits near the boat."
    source = write(
        folder / "captions.jsonl",
        [
            {"id": "text", "images": ["p0.png"], "text": f"{one} {two}"},
            {"id": "sentences", "images": ["p0.png"], "sentences": [one, two]},
            {"id": "both", "images": ["p0.png"], "sentences": [], "text": f"{one} {two}"},
        ],
    )
    chosen = ["-m", "clipscore", "-m", "groovist:weights=none"]
    status, _, _ = sightline("score", str(source), *chosen, "-o", str(tmp_path), *choices(tiny_clip))
    assert status == 0
    rows = lines(tmp_path / "scores.jsonl")
    assert len({row["score"] for row in rows if row["metric"] == "clipscore"}) == 1
    assert all(row["evidence"]["sentences"] == [f"{one} {two}"] for row in rows)


def test_a_blank_sentence_keeps_its_place(
    sightline: Command, folder: Path, tmp_path: Path, tiny_clip: Path
) -> None:
    """What is said of the third picture is not held against the second."""
    three = ["p0.png", "p1.png", "p2.png"]
    said = ["The red dog runs.", "", "A man sits near the boat."]
    source = write(folder / "pale.jsonl", [{"id": "a", "images": three, "sentences": said}])
    chosen = ["-m", "groovist:weights=none", "-m", "rovist-nr", "-m", "clipscore"]
    status, _, _ = sightline("score", str(source), *chosen, "-o", str(tmp_path), *choices(tiny_clip))
    assert status == 3
    (failure,) = lines(tmp_path / "failures.jsonl")
    assert failure["reason"] == "sentence 2 is empty: it cannot be held against its picture"
    groovist, nr = lines(tmp_path / "scores.jsonl")
    assert "T" in groovist["evidence"]["parts"]
    assert {phrase["sentence"] for phrase in groovist["evidence"]["phrases"]} == {0, 2}
    assert nr["evidence"]["sentences"] == [said[0], said[2]]


def test_phrases_and_references_that_were_cut_and_own_regions_are_said(
    sightline: Command, folder: Path, tmp_path: Path, tiny_clip: Path
) -> None:
    phrase = "The " + "small red " * 40 + "dog"
    item = {"images": ["p0.png"], "text": f"{phrase} runs.", "references": ["A dog. " * 90, "A dog."]}
    source = write(folder / "cut.jsonl", [{"id": "a", **item, "regions": [[[0, 0, 20, 20]]]}])
    chosen = ["-m", "groovist:weights=none", "-m", "refclipscore"]
    sightline("score", str(source), *chosen, "-o", str(tmp_path), *choices(tiny_clip))
    groovist, reference = (row["evidence"]["notes"] for row in lines(tmp_path / "scores.jsonl"))
    assert any(note.startswith("the phrase 'the small red") and "cut" in note for note in groovist)
    assert "the regions are the item's own" in groovist
    assert "reference 1 was cut to the encoder's length" in reference
    assert not any("reference 2" in note for note in reference)


def test_two_pictures_of_the_same_bytes_keep_the_regions_of_their_names(
    sightline: Command, folder: Path, tmp_path: Path, tiny_clip: Path
) -> None:
    for name in ("twin1.png", "twin2.png"):
        (folder / name).write_bytes((folder / "p0.png").read_bytes())
    table = folder / "twins.csv"
    table.write_text('image_id,bbox\ntwin1,"[0, 0, 20, 20]"\ntwin2,"[30, 10, 60, 40]"\n')
    source = write(
        folder / "twins.jsonl",
        [{"id": name, "images": [f"{name}.png"], "text": "The red dog runs."} for name in ("twin1", "twin2")],
    )
    chosen = ["--encoder", f"clip:{tiny_clip}", "--regions", f"boxes:{table}", "--theta", "0.5"]
    chosen += ["--cache", str(tmp_path / "c")]
    for out in ("first", "again"):
        sightline("score", str(source), "-m", "groovist:weights=none", "-o", str(tmp_path / out), *chosen)
        boxes = [row["evidence"]["phrases"][0]["box"] for row in lines(tmp_path / out / "scores.jsonl")]
        assert boxes == [[0, 0, 20, 20], [30, 10, 60, 40]]


def test_the_list_of_metrics_has_one_line_each(sightline: Command) -> None:
    status, out, _ = sightline("metrics")
    assert status == 0
    assert [line.split()[0] for line in out.splitlines()] == list(metrics)
