"""`sightline corpus` from file to files: the published numbers, plain captions, and bad input."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from PIL import Image
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError


def run(*arguments: object) -> Result:
    return CliRunner().invoke(load_commands(), ["corpus", *map(str, arguments)])


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def stats(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "stats.json").read_text("utf-8")))


@pytest.fixture(scope="module")
def published(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("corpus")
    done = run(data / "hl_test.jsonl.gz", "-o", out, "--floor", 10)
    assert done.exit_code == 0, done.output
    return out


def test_published_diversities(published: Path) -> None:
    found = rows(published / "diversity.csv")
    assert len(found) == 4497
    equal = [abs(float(row["self_bleu"]) - float(row["published_self_bleu"])) < 1e-6 for row in found]
    assert sum(equal) >= 4486
    first = found[0]
    assert (first["id"], first["axis"]) == ("COCO_train2014_000000138878.jpg", "scene")
    assert float(first["self_bleu"]) == pytest.approx(25.965358893403383, abs=1e-9)
    assert float(first["diversity"]) == pytest.approx(1 - 0.25965358893403383, abs=1e-9)


def test_published_means_and_correlations(published: Path) -> None:
    told = stats(published)
    means = {axis: row["confidence"]["mean"] for axis, row in told["axes"].items() if row["confidence"]}
    assert {axis: round(mean, 3) for axis, mean in means.items()} == {
        "scene": 4.620,
        "action": 4.510,
        "rationale": 4.319,
    }
    assert told["confidence"]["mean"] == pytest.approx(4.483, abs=5e-4)  # all 13,491; the paper, all HL: 4.47
    r = {(one["x"], one["y"]): round(one["pearson"], 3) for one in told["published"]["correlations"]}
    assert r == {
        ("confidence", "published_self_bleu"): 0.127,
        ("confidence", "published_purity"): 0.157,
        ("published_self_bleu", "published_purity"): 0.493,
    }
    assert told["published"]["purity"]["pearson"] > 0.7  # of the embedded scorer with BLEURT
    # Table 2's lengths over all of HL are 5.18, 6.02, 6.81 and 11.42.
    lengths = {axis: row["length"] for axis, row in told["axes"].items()}
    assert lengths == pytest.approx(
        {"scene": 5.18, "action": 6.02, "rationale": 6.81, "object": 11.42}, abs=0.06
    )
    assert [word for word, _ in told["axes"]["scene"]["nouns"][1:4]] == ["street", "room", "road"]  # Table 5
    assert [word for word, _ in told["axes"]["rationale"]["lemmas"][:3]] == ["want", "enjoy", "fun"]


def test_objects_tell_of_words(published: Path) -> None:
    found = rows(published / "pmi.csv")
    told = stats(published)["pmi"]
    assert (told["floor"], told["floor_by"]) == (10, "mentions")
    assert {one["objects"] for one in told["axes"].values()} == {356}
    assert {"meter", "carriage", "mirror", "sink"} <= {
        row["object"] for row in found
    }  # of the paper's Table 5
    often = [row for row in found if int(row["object_images"]) >= 100]
    street = [row["object"] for row in often if (row["axis"], row["lemma"]) == ("scene", "street")]
    assert set(street[:3]) == {"city", "street", "building"}


def hl(name: str, scene: Any, **more: Any) -> dict[str, Any]:
    confidence = {"scene": [5.0] * len(scene)} if isinstance(scene, list) else {}
    line = {
        "file_name": name,
        "captions": {"scene": scene, "action": ["he runs", "running fast"], "object": ["a man runs"]},
        "confidence": confidence,
    }
    return {**line, **more}


def write(path: Path, *objects: Any) -> Path:
    path.write_text("\n".join(json.dumps(one) for one in objects), "utf-8")
    return path


def reasons(out: Path) -> dict[tuple[str, str], str]:
    return {(one["id"], one["metric"]): one["reason"] for one in lines(out / "failures.jsonl")}


def test_bad_lines_and_captions_are_listed_and_the_rest_is_analysed(tmp_path: Path) -> None:
    file = write(
        tmp_path / "hl.jsonl",
        hl("good.jpg", ["in a park", "at the park"]),
        hl("one.jpg", ["in a park"]),
        hl("empty.jpg", ["in a park", "  ", "a park"]),
        hl("doubt.jpg", ["in a park", "a park"], confidence={"scene": ["very", 4.0]}),
        hl("few.jpg", ["in a park", "a park"], confidence={"scene": [3.0]}),
        hl("list.jpg", "in a park"),
        hl("number.jpg", [7, "a park", "the park"]),
        {"file_name": "no-axes.jpg", "captions": ["a", "b"]},
        {"captions": {}},
        {"file_name": "nothing.jpg", "captions": {}},
        hl("good.jpg", ["again", "and again"]),
        {"file_name": "missing.jpg", "captions": {"scene": ["in a park", "a park"], "object": ["x"]}},
    )
    out = tmp_path / "out"
    done = run(file, "-o", out, "--floor", 1)
    assert done.exit_code == 3, done.output
    found = reasons(out)
    assert found["one.jpg", "self_bleu"] == "scene: one caption only: diversity and purity need two"
    assert found["empty.jpg", "caption"] == "scene, caption 2: the caption is empty"
    assert found["doubt.jpg", "confidence"] == "scene, caption 1: text instead of a number"
    assert found["few.jpg", "confidence"] == "scene: 1 values for 2 captions; none of them counts"
    assert found["list.jpg", "caption"] == "field 'captions.scene': not a list"
    assert found["number.jpg", "caption"] == "scene, caption 1: a number instead of text"
    assert found["no-axes.jpg", "item"] == "field 'captions': not an object of axes"
    assert ("", "item") in found
    assert found["nothing.jpg", "item"] == "it has no captions"
    assert "was there before" in found["good.jpg", "item"]
    assert found["missing.jpg", "axis"] == "the axis 'action' is missing"
    assert found["list.jpg", "axis"] == "the axis 'scene' is missing"
    told = stats(out)
    assert told["pictures"] == 8 and told["failures"] == len(lines(out / "failures.jsonl"))
    assert (
        told["axes"]["scene"]["confidence"]["n"] == 8
    )  # 2 + 1 + 2 + 1 of doubt.jpg + 2 of number.jpg; none of few.jpg
    scored = {(row["id"], row["axis"]): row["self_bleu"] for row in rows(out / "diversity.csv")}
    assert scored["one.jpg", "scene"] == "" and scored["empty.jpg", "scene"]
    assert "another number of captions" in " ".join(told["notes"])


def test_pictures_that_are_not_there(tmp_path: Path) -> None:
    Image.new("RGB", (40, 30), "red").save(tmp_path / "red.jpg")
    (tmp_path / "broken.jpg").write_bytes(b"not a picture")
    objects = [hl(name, ["in a park", "a park"]) for name in ("red.jpg", "broken.jpg", "gone.jpg")]
    some = run(write(tmp_path / "some.jsonl", *objects), "-o", tmp_path / "some")
    assert some.exit_code == 3
    found = reasons(tmp_path / "some")
    assert found["gone.jpg", "picture"] == "there is no such picture"
    assert "not a picture" in found["broken.jpg", "picture"]
    assert "data:image/webp;base64," in (tmp_path / "some" / "report.html").read_text()
    none = run(write(tmp_path / "none.jsonl", objects[2]), "-o", tmp_path / "none")
    assert none.exit_code == 0 and "no picture is at hand" in none.output.replace("\n", " ")


def test_plain_captions_are_put_together_by_picture(tmp_path: Path) -> None:
    file = write(
        tmp_path / "plain.jsonl",
        {"id": 1, "images": ["a.jpg"], "text": "a dog runs", "ratings": {"confidence": [4, 5]}},
        {"id": 2, "images": ["b.jpg"], "text": "a cat sits"},
        {"id": 3, "images": ["a.jpg"], "text": "the dog is running"},
        {"id": 4, "images": ["b.jpg"], "text": " "},
        {"id": 5, "images": ["b.jpg"], "text": "a cat", "ratings": {"confidence": "high"}},
        {"id": 6, "images": ["c.jpg"], "text": "a cow"},
    )
    out = tmp_path / "out"
    done = run(file, "-o", out, "--purity", "none")
    assert done.exit_code == 3, done.output
    found = rows(out / "diversity.csv")
    assert [(row["id"], row["axis"], row["captions"], row["confidence"]) for row in found] == [
        ("a.jpg", "caption", "2", "4.5"),
        ("b.jpg", "caption", "2", ""),
        ("c.jpg", "caption", "1", ""),
    ]
    assert found[0]["self_bleu"] and not found[0]["purity"] and not found[2]["self_bleu"]
    assert reasons(out) == {
        ("4", "caption"): "the caption is empty",
        ("5", "confidence"): "text instead of a number",
        ("c.jpg", "self_bleu"): "caption: one caption only: diversity and purity need two",
    }
    assert (out / "pmi.csv").read_text().count("\n") == 1  # no objects: the header alone


def test_one_caption_each_is_no_failure_but_has_no_diversity(tmp_path: Path) -> None:
    file = write(tmp_path / "texts.jsonl", {"id": 1, "text": "a dog"}, {"id": 2, "text": "a cat"})
    done = run(file, "-o", tmp_path / "out")
    assert done.exit_code == 0 and "every picture has one caption" in done.output
    assert stats(tmp_path / "out")["axes"]["caption"]["self_bleu"] is None


def test_a_megabyte_and_hostile_text(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"
    file = write(
        tmp_path / "hl.jsonl",
        hl("big.jpg", ["a dog " * 170_000, "a dog", "the dog"]),
        hl("long.jpg", ["a dog " * 3_000, "a dog"]),
        hl("evil.jpg", [evil, f"{evil} again"]),
        hl("<b>name</b>.jpg", ["a park", "in a park"]),
    )
    out = tmp_path / "out"
    done = run(file, "-o", out, "--floor", 1, "--hard", "self_bleu>=0")
    assert done.exit_code == 3, done.output
    told = {
        ("big.jpg", "caption"): "scene, caption 1: the caption has 1,020,000 characters, more than 20,000"
    }
    assert reasons(out) == told
    assert int(stats(out)["axes"]["scene"]["lengths"]["6000"]) == 1
    page = (out / "report.html").read_text("utf-8")
    assert len(page) < 200_000 and "18,000 characters" in page
    assert "<script" not in page and "<img src=x" not in page and "<b>name" not in page
    assert "&lt;script&gt;alert(1)" in page


@pytest.mark.parametrize(
    ("content", "told"),
    [("", "empty"), ("\n \n", ""), ('{"file_name": "a", "captions": {}}\n{}', "no caption in it")],
)
def test_files_without_captions(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "none.jsonl"
    path.write_text(content)
    done = run(path, "-o", tmp_path / "out")
    assert isinstance(done.exception, UsageError) and told in str(done.exception)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (["--purity", "bleu"], "unknown purity scorer"),
        (["--hard", "sure<3"], "unknown measure"),
        (["--hard", "x"], "--hard: cannot read"),
        (["--nlp", "no_such_pipeline"], "no spaCy pipeline"),
        (["--corrections", "nowhere.csv"], "no such file"),
    ],
)
def test_wrong_use(tmp_path: Path, wrong: list[str], told: str) -> None:
    file = write(tmp_path / "hl.jsonl", hl("a.jpg", ["in a park", "a park"]))
    done = run(file, "-o", tmp_path / "out", *wrong)
    assert isinstance(done.exception, UsageError) and told in str(done.exception)


def test_two_processes_find_what_one_finds(tmp_path: Path) -> None:
    scenes = ["in a park", "at the beach", "on the street", "in the kitchen of a house"]
    objects = [hl(f"{n}.jpg", [scenes[n % 4], scenes[n % 3], f"near place {n}"]) for n in range(150)]
    file = write(tmp_path / "hl.jsonl", *objects)
    for processes in (1, 2):
        done = run(file, "-o", tmp_path / str(processes), "--processes", processes, "--floor", 5)
        assert done.exit_code == 0, done.output
    for name in ("stats.json", "diversity.csv", "items.csv", "pmi.csv", "hard.jsonl", "report.html"):
        one, two = ((tmp_path / folder / name).read_bytes() for folder in "12")
        foot = one.index(b'<footer class="made">') if name == "report.html" else None  # says when
        assert one[:foot] == two[:foot], name


def test_pmi_of_a_planted_file(tmp_path: Path) -> None:
    """12 pictures; 'beach' in 4, 'wave' in 3 of those and in 1 other: log2(3 * 12 / (4 * 4)) = log2(2.25)."""
    objects = []
    for n in range(12):
        scene = "at the beach" if n < 4 else "in the kitchen"
        thing = "a wave near a man" if n in (0, 1, 2, 11) else "a man"
        objects.append({"file_name": f"{n}.jpg", "captions": {"scene": [scene, scene], "object": [thing]}})
    done = run(
        write(tmp_path / "hl.jsonl", *objects), "-o", tmp_path / "out", "--floor", 4, "--lemma", "beach"
    )
    assert done.exit_code == 0, done.output
    found = {(row["lemma"], row["object"]): row for row in rows(tmp_path / "out" / "pmi.csv")}
    assert float(found["beach", "wave"]["pmi"]) == pytest.approx(1.169925001442312, abs=1e-12)
    assert found["beach", "wave"]["together"] == "3" and found["beach", "wave"]["object_images"] == "4"
    assert float(found["kitchen", "man"]["pmi"]) == 0
    top = stats(tmp_path / "out")["pmi"]["axes"]["scene"]["top"]
    assert top[0]["lemma"] == "beach" and top[0]["objects"][0][0] == "wave"


def test_published_purity_and_objects_alone(tmp_path: Path) -> None:
    line = {
        "file_name": "a.jpg",
        "captions": {"object": ["a dog", "the dog", "dogs"]},
        "purity": {"object": [1, 2, 6]},
    }
    file = write(tmp_path / "objects.jsonl", line)
    done = run(file, "-o", tmp_path / "out", "--purity", "published")
    assert done.exit_code == 0, done.output
    (row,) = rows(tmp_path / "out" / "diversity.csv")
    assert (row["axis"], float(row["purity"])) == ("object", 3.0) and float(row["self_bleu"]) >= 0
    assert stats(tmp_path / "out")["purity_scorer"] == "published"


def test_another_axis_of_objects(tmp_path: Path) -> None:
    line = {
        "file_name": "a.jpg",
        "captions": {"scene": ["in a park", "a park"], "things": ["a dog in a park"]},
    }
    done = run(
        write(tmp_path / "hl.jsonl", line), "-o", tmp_path / "out", "--objects", "things", "--floor", 1
    )
    assert done.exit_code == 0, done.output
    assert {row["object"] for row in rows(tmp_path / "out" / "pmi.csv")} == {"dog", "park"}
    assert [row["axis"] for row in rows(tmp_path / "out" / "diversity.csv")] == ["scene"]
