"""`sightline corpus` where something is wrong: what it keeps, what it lists, and what it refuses before it counts."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from PIL import Image
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.corpus import analysis
from sightline.errors import UsageError


def run(*arguments: object) -> Result:
    return CliRunner().invoke(load_commands(), ["corpus", *map(str, arguments)])


def hl(name: str, *scene: Any, **more: Any) -> dict[str, Any]:
    return {
        "file_name": name,
        "captions": {"scene": list(scene) or ["in a park", "a park"], "object": ["a dog"]},
        **more,
    }


def write(path: Path, *rows: Any) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), "utf-8")
    return path


def failures(out: Path) -> list[tuple[str, str, str, str]]:
    """Id, kind, reason, and the line within the file."""
    found = [json.loads(line) for line in (out / "failures.jsonl").read_text("utf-8").splitlines()]
    return [(one["id"], one["metric"], one["reason"], one["source"].rpartition(":")[2]) for one in found]


def captions(out: Path) -> dict[str, tuple[str, str]]:
    """Number of captions and mean confidence of each picture."""
    with (out / "diversity.csv").open(encoding="utf-8", newline="") as file:
        return {row["id"]: (row["captions"], row["confidence"]) for row in csv.DictReader(file)}


def stats(out: Path) -> dict[str, Any]:
    return dict(json.loads((out / "stats.json").read_text("utf-8")))


def test_a_folder_named_like_markup(tmp_path: Path) -> None:
    out = tmp_path / "o[" / "x]"
    done = run(write(tmp_path / "hl.jsonl", hl("a.jpg")), "-o", out, "--floor", 1)
    assert done.exit_code == 0, done.output
    assert str(out / "report.html") in done.output.replace("\n", "")


@pytest.mark.parametrize("first", ["garbage", {"file_name": "bad.jpg"}, {"captions": {}}, [1]])
def test_a_bad_first_line_is_one_failure(tmp_path: Path, first: Any) -> None:
    file = write(tmp_path / "hl.jsonl", first, hl("a.jpg"), hl("b.jpg"))
    done = run(file, "-o", tmp_path / "out", "--purity", "none")
    assert done.exit_code == 3, done.output
    ((_, kind, _, line),) = failures(tmp_path / "out")
    assert (kind, line) == ("item", "1") and captions(tmp_path / "out").keys() == {"a.jpg", "b.jpg"}


def test_a_bad_rating_leaves_the_caption(tmp_path: Path) -> None:
    rows: list[Any] = [
        {"id": 1, "images": "a.jpg", "text": "a dog", "ratings": {"confidence": [4, "x", None]}},
        {"id": 2, "images": "a.jpg", "text": "the dog", "ratings": "sure"},
        {"id": 3, "images": "a.jpg", "text": "dogs", "ratings": {"confidence": None, "style": "x"}},
    ]
    out = tmp_path / "out"
    done = run(write(tmp_path / "plain.jsonl", *rows), "-o", out, "--purity", "none")
    assert done.exit_code == 3, done.output
    assert captions(out) == {"a.jpg": ("3", "4.0")}
    assert failures(out) == [
        ("1", "confidence", "text instead of a number", "1"),
        ("1", "confidence", "null instead of a number", "1"),
        ("2", "confidence", "field 'ratings': not an object of criteria", "2"),
    ]


def test_a_bad_rating_in_csv(tmp_path: Path) -> None:
    file = write(
        tmp_path / "plain.csv",
        "id,images,text,ratings",
        '1,a.jpg,a dog,"{""confidence"": ""high""}"',
        '2,a.jpg,the dog,"{""confidence"": [2, 3]}"',
        "3,a.jpg,dogs,{not json",
    )
    out = tmp_path / "out"
    assert run(file, "-o", out, "--purity", "none").exit_code == 3
    assert captions(out) == {"a.jpg": ("3", "2.5")}
    assert [(id, kind) for id, kind, _, _ in failures(out)] == [("1", "confidence"), ("3", "confidence")]


def test_a_list_of_captions(tmp_path: Path) -> None:
    rows: list[Any] = [
        {"id": 9, "captions": ["a dog runs", "the dog", "a running dog"]},
        {"id": 25, "captions": ["a cat", " ", 7, "the cat"], "ratings": {"confidence": [5, 1, 1, "x"]}},
        {"id": 30, "captions": [], "ratings": {}},
        {"id": 31, "captions": ["a cow", "the cow"], "ratings": {"confidence": 5}},
        {"captions": ["a fox", "the fox"]},
    ]
    out = tmp_path / "out"
    done = run(write(tmp_path / "coco.jsonl", *rows), "-o", out, "--purity", "none")
    assert done.exit_code == 3, done.output
    assert captions(out) == {"9": ("3", ""), "25": ("2", "5.0"), "31": ("2", "")}
    assert list(stats(out)["axes"]) == ["caption"]
    assert failures(out) == [
        ("25", "caption", "caption 2: the caption is empty", "2"),
        ("25", "caption", "caption 3: a number instead of text", "2"),
        ("25", "confidence", "caption 4: text instead of a number", "2"),
        ("30", "item", "it has no captions", "3"),
        ("31", "confidence", "1 values for 2 captions; none of them counts", "4"),
        ("", "item", "field 'id': is missing", "5"),
    ]


def test_what_is_left_out_is_told_with_its_line(tmp_path: Path) -> None:
    file = write(
        tmp_path / "hl.jsonl", hl("a.jpg", confidence={"scene": [4, None]}), hl("b.jpg", "in a park")
    )
    done = run(file, "-o", tmp_path / "out", "--purity", "none", "--floor", 1, "--lemma", "zebraqq")
    assert failures(tmp_path / "out") == [
        ("a.jpg", "confidence", "scene, caption 2: null instead of a number", "1"),
        ("b.jpg", "self_bleu", "scene: one caption only: diversity and purity need two", "2"),
    ]
    assert "--lemma zebraqq: not among the nouns" in done.output


def test_purity_names_every_choice(tmp_path: Path) -> None:
    done = run(write(tmp_path / "hl.jsonl", hl("a.jpg")), "-o", tmp_path / "out", "--purity", "foo")
    assert "none, pocket, published" in str(done.exception)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (["-o", "file"], "file: cannot write there (file is a file)"),
        (["-o", "file/below/it"], "file/below/it: cannot write there (file is a file)"),
        (["-o", "taken"], "taken: cannot write there (diversity.csv is a folder)"),
        (["-o", "out", "--hard", "confidnce<3"], "did you mean 'confidence'"),
        (["-o", "out", "--hard", "object.purity<3"], "unknown measure"),
    ],
)
def test_wrong_use_is_told_before_counting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delattr(analysis, "count_all")
    (tmp_path / "file").touch()
    (tmp_path / "taken" / "diversity.csv").mkdir(parents=True)
    done = run(write(tmp_path / "hl.jsonl", hl("a.jpg")), *wrong)
    assert isinstance(done.exception, UsageError) and told in str(done.exception)


def test_pictures_that_no_card_draws_are_opened_too(tmp_path: Path) -> None:
    Image.new("RGB", (8, 6), "red").save(tmp_path / "red.jpg")
    whole = (tmp_path / "red.jpg").read_bytes()
    (tmp_path / "note.jpg").write_text("no picture")
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "short.jpg").write_bytes(whole[:100])
    (tmp_path / "damaged.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(40))
    names = ["red.jpg", "note.jpg", "empty.jpg", "short.jpg", "damaged.png", "gone.jpg"]
    rows = [{"id": name, "images": name, "text": "a dog"} for name in names]
    done = run(write(tmp_path / "plain.jsonl", *rows), "-o", tmp_path / "out", "--purity", "none")
    assert done.exit_code == 3, done.output
    found = failures(tmp_path / "out")
    assert [(id, kind, line) for id, kind, _, line in found] == [
        (name, "picture", str(line)) for line, name in enumerate(names[1:], 2)
    ]
    assert not any(str(tmp_path) in reason for _, _, reason, _ in found)
    assert stats(tmp_path / "out")["pictures"] == 6 and stats(tmp_path / "out")["pictures_found"] == 5


def test_a_picture_fails_once(tmp_path: Path) -> None:
    Image.new("RGB", (64, 48), "red").save(tmp_path / "red.jpg")
    (tmp_path / "half.jpg").write_bytes((tmp_path / "red.jpg").read_bytes()[:-60])
    (tmp_path / "note.jpg").write_text("no picture")
    rows = [hl("red.jpg"), hl("half.jpg"), hl("note.jpg")]
    run(write(tmp_path / "hl.jsonl", *rows), "-o", tmp_path / "out", "--purity", "none")
    found = failures(tmp_path / "out")
    assert sorted(id for id, _, _, _ in found) == ["half.jpg", "note.jpg"]
    assert not any(str(tmp_path) in reason for _, _, reason, _ in found)


def test_missing_pictures_are_one_row_of_the_report(tmp_path: Path) -> None:
    Image.new("RGB", (8, 6), "red").save(tmp_path / "red.jpg")
    rows = [hl("red.jpg"), *(hl(f"{n}.jpg") for n in range(40))]
    run(write(tmp_path / "hl.jsonl", *rows), "-o", tmp_path / "out", "--purity", "none", "--floor", 1)
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert page.count("there is no such picture") == 1 and "0.jpg, 1.jpg, 2.jpg, 3.jpg, 4.jpg, …" in page
    assert "These items have no score" not in page and str(tmp_path) not in page


def test_no_picture_at_all_is_a_note_without_a_path(tmp_path: Path) -> None:
    done = run(write(tmp_path / "hl.jsonl", hl("a.jpg")), "-o", tmp_path / "out", "--purity", "none")
    assert done.exit_code == 0, done.output
    (told,) = (note for note in stats(tmp_path / "out")["notes"] if "at hand" in note)
    assert told == "no picture is at hand, such as a.jpg; the report goes without them"
