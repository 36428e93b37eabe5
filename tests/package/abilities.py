"""Every ability that comes with a core install, tried once, by the Python of an environment that holds nothing else.

Prints a line for each; what fails ends it. Nothing here may import from the repository.
"""

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import sightline
from sightline.demo import STORIES

SIGHTLINE = str(Path(sys.executable).with_name("sightline"))
METRICS = (
    "groovist", "clipscore", "vicr", "rovist", "rovist-vg", "rovist-c", "rovist-nr", "unsupported",
    "bleu-4", "rouge-l", "cider", "meteor", "sacrebleu", "scenegraph", "refclipscore",
)  # fmt: skip


def run(*line: object, status: int = 0) -> str:
    done = subprocess.run([SIGHTLINE, *map(str, line)], capture_output=True, text=True, check=False)
    if done.returncode != status or "Traceback" in done.stderr:
        raise SystemExit(
            f"sightline {' '.join(map(str, line))}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
    return done.stdout + done.stderr


def tried(what: str) -> None:
    print(what, flush=True)


def demo() -> None:
    assert "Report: sightline-demo/report.html" in run("demo")
    assert Path("sightline-demo/report.html").stat().st_size > 100_000
    tried("demo")


def items() -> list[dict[str, object]]:
    """The demo's texts, the good one of each set of pictures as reference; system and ratings by version."""
    rows = [json.loads(line) for line in STORIES.read_text("utf-8").splitlines()]
    grades = {"good": [5, 4], "mediocre": [3, 3], "wrong": [1, 2], "shuffled": [3, 2]}
    for row in rows:
        row["images"] = [str(STORIES.parent / image) for image in row["images"]]
        row["group"], _, version = row.pop("id").rpartition("-")
        row["ratings"] = {"truth": grades[version]}
    said = {row["group"]: row for row in rows if row["system"] == "good"}
    for row in rows:
        good = said[row["group"]]
        row["references"] = [good.get("text") or " ".join(good["sentences"])]
        row["id"] = row.pop("group")
    return rows


def score_and_compare() -> None:
    Path("all.jsonl").write_text("".join(json.dumps(row) + "\n" for row in items()))
    chosen = [part for name in METRICS for part in ("-m", name)]
    run(
        "score", "all.jsonl", *chosen, "-o", "scores", status=3
    )  # refclipscore and rovist-c are not for every item
    summary = json.loads(Path("scores/summary.json").read_text())
    for name in METRICS:
        assert summary["metrics"][name]["n"] > 0, name
        tried(f"metric {name}")
    run("compare", "all.jsonl", "-m", "clipscore", "-m", "cider", "-o", "verdict")
    pair = next(
        row
        for row in json.loads(Path("verdict/compare.json").read_text())["pairs"]
        if {row["a"], row["b"]} == {"good", "wrong"} and row["metric"] == "clipscore"
    )
    assert pair["difference"] * (1 if pair["a"] == "good" else -1) > 0
    tried("compare")
    run("meta", "all.jsonl", "-m", "clipscore", "-o", "meta")
    assert json.loads(Path("meta/meta.json").read_text())["rows"][0]["kendall_c"] > 0.3
    tried("meta")


def corpora_and_people() -> None:
    texts = [row["references"][0] for row in items()]
    corpus = [{"id": str(n), "text": text, "references": texts[:3]} for n, text in enumerate(texts)]
    Path("corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in corpus))
    run("corpus", "corpus.jsonl", "-o", "corpus")
    tried("corpus")
    lot = random.Random(1)
    rows = [f"{person},{item},{lot.randrange(4)}" for person in range(40) for item in range(5)]
    Path("answers.csv").write_text("\n".join(["rater,item,rating", *rows]) + "\n")
    run("psych", "answers.csv", "-o", "psych")
    assert len(Path("psych/items.csv").read_text().splitlines()) == 6
    tried("psych")


def captions() -> None:
    run("caption", STORIES.parent / "pictures", "-o", "captions")
    told = [json.loads(line) for line in Path("captions/captions.jsonl").read_text().splitlines()]
    assert len(told) == len(list((STORIES.parent / "pictures").iterdir()))
    assert all(row["text"].strip() for row in told)
    tried("caption")


def python() -> None:
    result = sightline.score(STORIES, ["clipscore"], cache=None)
    result.report("python.html")
    assert len(result.scores) == len(result.items)
    assert sightline.functional.krippendorff_alpha([[1, 2, 3], [1, 2, 4]], "ordinal") > 0
    tried("python")


def told() -> None:
    assert sightline.__version__ in run("--version")
    assert "pocket" in run("models")
    assert "groovist" in run("metrics")
    assert "embedded models" in run("doctor", "--whole")
    findings = json.loads(run("doctor", "--json"))
    assert {row["about"]: row["state"] for row in findings}["torch"] == "absent"
    tried("doctor, models, metrics")
    for line in (("serve", "--port", "1"), ("score", STORIES, "-m", "clipscore", "--encoder", "clip:x/y")):
        said = run(*line, status=2)
        assert "install 'sightline[" in said, said
    tried("what is missing is told")


if __name__ == "__main__":
    repository = str(Path(__file__).parents[2])
    assert not str(Path(sightline.__file__)).startswith(repository), (
        "this tries the repository, not the wheel"
    )
    assert not str(Path.cwd()).startswith(repository)
    assert "PYTHONPATH" not in os.environ
    parts = (
        [told, demo]
        if "--short" in sys.argv
        else [told, demo, score_and_compare, corpora_and_people, captions, python]
    )
    for part in parts:
        part()
