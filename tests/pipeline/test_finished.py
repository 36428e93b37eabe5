"""A folder of finished results: what it says of itself, what may be added to it, and what is refused."""

import json
from pathlib import Path
from typing import Any

import pytest
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from typer.testing import CliRunner

import sightline
from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.items import Item
from sightline.pipeline.finished import Finished, together
from sightline.pipeline.kept import KeptItems

ROWS: list[dict[str, Any]] = [
    {"id": "1", "text": "a dog runs on the grass", "references": ["a dog runs on grass", "the dog is there"]},
    {"id": "2", "text": "two cats sit", "references": ["two cats sit down", "cats"]},
    {"id": "3", "text": "a man sings", "references": ["a woman sings a song", "a singer"]},
]


def said(*words: str | Path) -> tuple[int, str]:
    ran = CliRunner().invoke(load_commands(), list(map(str, words)))
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        return (2, str(ran.exception)) if isinstance(ran.exception, UsageError) else (1, repr(ran.exception))
    return ran.exit_code, ran.output


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text("utf-8"))
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write(tmp_path / "captions.jsonl", ROWS)


def test_a_summary_says_how_it_came_about(file: Path, tmp_path: Path) -> None:
    assert said("score", file, "-m", "bleu-1", "-m", "rovist-nr", "-o", tmp_path / "out")[0] == 0
    found = summary(tmp_path / "out")
    assert found["versions"]["sightline"] and found["date"].startswith("20") and found["command"]
    assert (found["items"], found["captions"], found["systems"]) == (3, 3, {})
    bleu, nr = found["metrics"]["bleu-1"], found["metrics"]["rovist-nr"]
    assert bleu["headline"] == "corpus" and nr["headline"] == "mean" and "corpus" not in nr
    assert bleu["corpus_low"] <= bleu["corpus"] <= bleu["corpus_high"]
    assert nr["low"] == nr["mean"] == nr["high"] == 1.0 and nr["se"] == 0, "constant scores"
    other = write(tmp_path / "turned.jsonl", ROWS[::-1])
    assert said("score", other, "-m", "bleu-1", "-o", tmp_path / "turned")[0] == 0
    assert summary(tmp_path / "turned")["input"] == found["input"], "the order is no content"
    write(other, [*ROWS[:2], {**ROWS[2], "text": "a man sang"}])
    said("score", other, "-m", "bleu-1", "-o", tmp_path / "sang")
    assert summary(tmp_path / "sang")["input"] != found["input"]


def test_another_metric_is_added(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(file, [*ROWS, ROWS[0], {"id": "4", "text": "nobody"}])
    assert said("score", file, "-m", "cider", "-o", out)[0] == 3
    before, scores = summary(out), lines(out / "scores.jsonl")
    assert said("score", file, "-m", "meteor", "-m", "cider", "-o", out)[0] == 3
    after = summary(out)
    assert list(after["metrics"]) == ["cider", "meteor"]
    assert after["metrics"]["cider"] == before["metrics"]["cider"]
    assert after["earlier"] == [{"command": before["command"], "date": before["date"]}]
    assert lines(out / "scores.jsonl")[: len(scores)] == scores
    failed = [(row["id"], row["metric"]) for row in lines(out / "failures.jsonl")]
    assert sorted(failed) == [("1", "cider"), ("1", "meteor"), ("4", "cider"), ("4", "meteor")]
    assert set(json.loads((out / "statistics.json").read_text())) == {"df.ptb", "task"}
    assert len(KeptItems(out).names) == 2
    page = (out / "report.html").read_text("utf-8")
    assert "cider" in page and "meteor" in page
    whole = tmp_path / "whole"
    said("score", file, "-m", "cider", "-m", "meteor", "-o", whole)
    assert summary(whole)["metrics"] == after["metrics"]
    assert said("score", file, "-m", "cider", "-o", out)[0] == 3, "nothing is left to do"
    assert summary(out) == after


def test_what_would_replace_results_is_refused(file: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert said("score", file, "-m", "cider", "-o", out)[0] == 0
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    other = write(tmp_path / "other.jsonl", ROWS[:2])
    for words, told in (
        ((other, "-m", "bleu-1"), "results of another input (3 items)"),
        ((file, "-m", "bleu-1", "--idf", "shipped"), "made with idf not given, not shipped"),
        ((file, "-m", "bleu-1", "--region-count", "3"), "made with region_count 10, not 3"),
    ):
        status, message = said("score", *words, "-o", out)
        assert status == 2 and told in message and "--overwrite" in message
        assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    assert said("score", other, "-m", "bleu-1", "-o", out, "--overwrite")[0] == 0
    assert list(summary(out)["metrics"]) == ["bleu-1"] and summary(out)["items"] == 2


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "not the summary of a run"),
        ("[]", "not the summary of a run"),
        ('{"metrics": {}}', "results of an older version"),
        (None, "results of Sightline 0.0.1"),
    ],
)
def test_folders_of_other_versions_are_named(
    file: Path, tmp_path: Path, content: str | None, told: str
) -> None:
    out = tmp_path / "out"
    said("score", file, "-m", "bleu-1", "-o", out)
    found = summary(out)
    found["versions"]["sightline"] = "0.0.1"
    (out / "summary.json").write_text(json.dumps(found) if content is None else content)
    status, message = said("score", file, "-m", "cider", "-o", out)
    assert status == 2 and told in message and "--overwrite" in message


def test_runs_that_measured_otherwise_are_refused_with_what_mends_it(file: Path, tmp_path: Path) -> None:
    runs = {}
    for name, rows, options in (
        ("a", ROWS, ()), ("b", ROWS[1:], ()), ("c", ROWS, ("--option", "wordnet=none")), ("d", ROWS, ()),
    ):  # fmt: skip
        path = write(tmp_path / f"{name}.jsonl", rows)
        said("score", path, "-m", "cider", "-m", "bleu-1", *options, "-o", tmp_path / name)
        runs[name] = Finished.open(tmp_path / name)
    found = together({"a": runs["a"], "b": runs["b"]})
    assert [row["cider"]["n"] for row in found.summary["systems"].values()] == [3, 2]
    (tmp_path / "b" / "items.parquet").unlink()
    with pytest.raises(UsageError, match=r"items\.parquet: cannot be read"):
        together({"a": runs["a"], "b": Finished.open(tmp_path / "b")})
    changed = summary(tmp_path / "d")
    changed["metrics"]["bleu-1"]["signature"] = "bleu-1|tokens:ptb|version:0.0.1"
    (tmp_path / "d" / "summary.json").write_text(json.dumps(changed))
    with pytest.raises(UsageError, match=r"version is .*0\.0\.1 in d.*sightline compare a=FILE d=FILE"):
        together({"a": runs["a"], "d": Finished.open(tmp_path / "d")})
    with pytest.raises(UsageError, match="has no spice"):
        together({"a": runs["a"], "c": runs["c"]}, ["spice"])
    several = write(tmp_path / "s.jsonl", [{**row, "system": s} for row in ROWS for s in ("a", "x")])
    said("score", several, "-m", "bleu-1", "-o", tmp_path / "s")
    with pytest.raises(UsageError, match="two systems are called 'a'"):
        together({"a": runs["a"], "s": Finished.open(tmp_path / "s")}, ["bleu-1"])


def test_who_says_nothing_is_counted_as_coco_counts_it(tmp_path: Path) -> None:
    rows = [{**row, "system": "talks"} for row in ROWS]
    rows += [{**row, "system": "silent", "text": "" if n else row["text"]} for n, row in enumerate(ROWS)]
    rows[-1]["text"] = "..."
    file, out = write(tmp_path / "two.jsonl", rows), tmp_path / "out"
    specs = ["bleu-1", "bleu-4", "rouge-l", "cider", "meteor"]
    status, told = said("score", file, *(part for spec in specs for part in ("-m", spec)), "-o", out)
    assert status == 0, told
    found = summary(out)["systems"]["silent"]
    references = {row["id"]: row["references"] for row in ROWS}
    silent = {row["id"]: ["" if n else row["text"]] for n, row in enumerate(ROWS)}
    bleu, _ = Bleu(4).compute_score(references, silent, verbose=0)
    expected = {
        "bleu-1": bleu[0], "bleu-4": bleu[3], "rouge-l": Rouge().compute_score(references, silent)[0],
        "cider": Cider().compute_score(references, silent)[0],
    }  # fmt: skip
    for spec in specs:
        assert (found[spec]["n"], found[spec]["failed"], found[spec]["wordless"]) == (3, 0, 2)
        assert found[spec]["corpus"] < summary(out)["systems"]["talks"][spec]["corpus"]
        if spec in expected:
            assert found[spec]["corpus"] == pytest.approx(expected[spec], abs=1e-9), spec
    notes = [row["evidence"]["notes"] for row in lines(out / "scores.jsonl") if row["id"] == "2"]
    assert ["the text has no words; it counts as one of length 0"] in notes


def test_cider_with_document_frequencies_that_are_given(file: Path, tmp_path: Path) -> None:
    one = [Item("1", text=ROWS[0]["text"], references=tuple(ROWS[0]["references"]))]
    assert "df=references" in sightline.score(one, ["cider"], cache=None).failures[0].reason
    (score,) = sightline.score(one, ["cider:df=references"], cache=None).scores
    assert score.score > 0 and "|df:references=" in score.signature
    said("score", file, "-m", "cider", "-o", tmp_path / "run")
    whole = lines(tmp_path / "run" / "scores.jsonl")[0]
    only = write(tmp_path / "references.jsonl", [{"references": row["references"]} for row in ROWS])
    for place in (tmp_path / "run", only):
        (score,) = sightline.score(one, [f"cider:df={place}"], cache=None).scores
        assert score.score == whole["score"]
    (score,) = sightline.score(one, [f"cider:df={tmp_path / 'run'}"], cache=None).scores
    assert score.signature == whole["signature"], "the same measurement"
    for place, told in (
        (tmp_path / "nowhere", "there is no such file"),
        (tmp_path, "score into it first"),
        (write(tmp_path / "bad.jsonl", [{"references": "a dog"}]), "not a list of texts"),
    ):
        with pytest.raises(UsageError, match=told):
            sightline.score(one, [f"cider:df={place}"], cache=None)


def test_meteor_takes_the_whole_run_for_captions_or_for_stories() -> None:
    caption, story = "A dog runs.", "A dog runs. It barks at a cat."

    def signature(*texts: str) -> str:
        items = [Item(str(n), text=text, references=("A dog runs.",)) for n, text in enumerate(texts)]
        found = sightline.score(items, ["meteor"], cache=None)
        assert {score.signature for score in found.scores} == {
            found.summary["metrics"]["meteor"]["signature"]
        }
        return str(found.scores[0].signature)

    assert "|task:rank|" in signature(caption, caption, story), "a text without pictures may be a caption"
    assert "|task:hter|" in signature(caption, story, story)
    asked = sightline.score(
        [Item("0", text=caption, references=(caption,))], ["meteor:task=rank"], cache=None
    )
    assert asked.scores[0].signature == signature(caption)


def test_statistics_are_fitted_on_a_system_that_is_there(file: Path, tmp_path: Path) -> None:
    rows = [{**row, "system": name} for row in ROWS for name in ("arel", "glac")]
    write(file, rows)
    status, told = said("score", file, "-m", "cider", "--fit-on", "arle", "-o", tmp_path / "out")
    assert status == 2 and "unknown system 'arle'; did you mean 'arel'?" in told
    mended = ("--fit-on", "arel", "--resume")
    assert said("score", file, "-m", "cider", *mended, "-o", tmp_path / "out")[0] == 0
    assert len(lines(tmp_path / "out" / "scores.jsonl")) == 6
