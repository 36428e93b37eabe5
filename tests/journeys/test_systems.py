"""From the texts of several systems to a table of them: the published numbers, however the texts are filed."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import sightline
from sightline.cli.app import load_commands
from sightline.items import Item
from sightline.pipeline.finished import Finished, differences, together
from sightline.pipeline.settings import Settings

SPECS = [f"{name}:tokens=space" for name in ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "cider", "rouge-l")]
GOLDEN = {
    # The authors' own numbers for their stories; ROUGE-L without the two blanks that open each of them.
    "arel": [
        0.6381759914147579, 0.38857339155358817, 0.22948088446870943, 0.13811595855259248,
        0.09541749824670757, 0.299488582345787,
    ],
    # pycocoevalcap 1.2 on the same stories without every fifth word, and without every third.
    "fifth": [
        0.5940163294798005, 0.3314618715375706, 0.17039207512556148, 0.0822180435110428,
        0.04924995865441843, 0.27806348022438104,
    ],
    "third": [
        0.5094773412874278, 0.24430651943499018, 0.056173279358155914, 0.01548290675643409,
        0.021768019572867305, 0.2547472955389601,
    ],
}  # fmt: skip


def sightline_says(*words: str | Path) -> str:
    ran = CliRunner().invoke(load_commands(), list(map(str, words)), catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.output


def summary(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "summary.json").read_text("utf-8"))
    return found


def scores(folder: Path) -> dict[tuple[str, str, str], float]:
    rows = map(json.loads, (folder / "scores.jsonl").read_text("utf-8").splitlines())
    return {(row["system"], row["metric"], row["id"]): row["score"] for row in rows}


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def without(every: int) -> Callable[[str], str]:
    return lambda story: " ".join(word for n, word in enumerate(story.split(), 1) if n % every)


@pytest.mark.data
def test_three_systems_with_published_scores_in_one_file_and_in_three(data: Path, tmp_path: Path) -> None:
    with gzip.open(data / "vist_test_references.jsonl.gz", "rt", encoding="utf-8") as lines:
        references = {row["album_id"]: row["references"] for row in map(json.loads, lines)}
    with gzip.open(data / "vist_arel_stories.jsonl.gz", "rt", encoding="utf-8") as lines:
        stories = {row["album_id"]: row["story"] for row in map(json.loads, lines)}
    systems = {"arel": str, "fifth": without(5), "third": without(3)}
    files = {
        name: write(
            tmp_path / f"{name}.jsonl",
            [{"id": id, "text": make(text), "references": references[id]} for id, text in stories.items()],
        )
        for name, make in systems.items()
    }
    rows = [
        {"id": id, "system": name, "text": make(text), "references": references[id]}
        for id, text in stories.items()
        for name, make in systems.items()
    ]
    wanted = [part for spec in SPECS for part in ("-m", spec)]
    told = sightline_says("score", write(tmp_path / "one.jsonl", rows), *wanted, "-o", tmp_path / "one")
    together_in_one = summary(tmp_path / "one")
    for name, values in GOLDEN.items():
        assert name in told, "a row for each system"
        found = together_in_one["systems"][name]
        for spec, value in zip(SPECS, values, strict=True):
            row = found[spec]
            assert row["corpus"] == pytest.approx(value, abs=1e-6)
            assert (row["n"], row["failed"], row["headline"]) == (1010, 0, "corpus")
            assert row["low"] < row["mean"] < row["high"] and row["se"] > 0
            assert row["corpus_low"] < row["corpus"] < row["corpus_high"]
    assert "0.1381" in told and "0.0948" in told, "the corpus value, and the mean beside it"

    named = [f"{name}={file}" for name, file in files.items()]
    sightline_says("compare", *named, *wanted, "-o", tmp_path / "three")
    assert summary(tmp_path / "three")["systems"] == together_in_one["systems"], "to the bit"
    assert scores(tmp_path / "three") == scores(tmp_path / "one")
    signatures = {spec: row["signature"] for spec, row in together_in_one["metrics"].items()}
    assert {
        spec: row["signature"] for spec, row in summary(tmp_path / "three")["metrics"].items()
    } == signatures

    runs = {}
    for name, file in files.items():  # each alone: an id's references count once, so nothing differs
        sightline_says("score", file, *wanted, "-o", tmp_path / "alone" / name)
        runs[name] = Finished.open(tmp_path / "alone" / name)
    assert differences(runs) == []
    assert together(runs).summary["systems"] == together_in_one["systems"]


SAID = [
    "A red dog runs over the wet grass.",
    "Two men sit in a small boat.",
    "A woman throws a ball to her dog.",
    "The old house stands near a river.",
    "Children play in the snow.",
    "A black cat sleeps on a chair.",
]
OFFLINE = [
    "groovist", "groovist:weights=idf", "rovist-vg", "clipscore", "refclipscore", "vicr", "rovist-nr", "bleu-4",
    "rouge-l", "cider", "meteor", "scenegraph", "wmd", "sacrebleu",
]  # fmt: skip


@pytest.fixture(scope="module")
def captions(tmp_path_factory: pytest.TempPathFactory) -> list[Item]:
    folder = tmp_path_factory.mktemp("pictures")
    items = []
    for n, text in enumerate(SAID):
        levels = np.random.default_rng(n).integers(0, 256, (6, 8, 3), dtype=np.uint8)
        Image.fromarray(levels).resize((96, 72)).save(folder / f"{n}.png")
        references = (text.replace("A ", "One "), SAID[n - 1], "Somebody is there.")
        items.append(Item(f"p{n}", (folder / f"{n}.png",), text, references=references))
    return items


def of(system: str, items: list[Item], shared: int) -> list[Item]:
    """A system that says of the later pictures what it should say of the next."""
    said = [item.text if n < shared else items[n - 1].text for n, item in enumerate(items)]
    return [replace(item, system=system, text=text) for item, text in zip(items, said, strict=True)]


def test_captions_that_two_systems_share_score_the_same_in_every_metric(captions: list[Item]) -> None:
    items = [*of("good", captions, 6), *of("bad", captions, 4)]
    found = sightline.score(items, OFFLINE, cache=None, theta="corpus", idf="corpus")
    assert not found.failures
    by_key = {(one.system, one.metric, one.id): one.score for one in found.scores}
    assert len(by_key) == len(items) * len(OFFLINE)
    for spec in OFFLINE:
        for n in range(6):
            good, bad = by_key["good", spec, f"p{n}"], by_key["bad", spec, f"p{n}"]
            if n < 4:
                assert good == bad, f"{spec} of caption {n}"
        assert len({one.signature for one in found.scores if one.metric == spec}) == 1
    assert any(by_key["good", "cider", f"p{n}"] != by_key["bad", "cider", f"p{n}"] for n in (4, 5))
    theta = found.scores[0].evidence.threshold
    assert f"theta:corpus={theta:.10g}" in found.scores[0].signature
    alone = sightline.score(items[6:], ["groovist"], cache=None, theta="corpus")
    assert alone.scores[0].evidence.threshold != theta, "apart, each would have a theta of its own"
    fitted = sightline.score(items, ["groovist"], cache=None, theta="corpus", fit_on="bad")
    assert fitted.scores[0].evidence.threshold == alone.scores[0].evidence.threshold


def test_runs_apart_become_one_measurement(captions: list[Item], tmp_path: Path) -> None:
    """Each run has fitted its own theta, idf and frequencies; from the features they kept all is measured again."""

    def rows(items: list[Item]) -> list[dict[str, Any]]:
        return [
            {
                "id": item.id, "images": list(map(str, item.images)), "text": item.text,
                "references": list(item.references), **({"system": item.system} if item.system else {}),
            }
            for item in items
        ]  # fmt: skip

    good, bad = of("good", captions, 6)[:5], of("bad", captions, 3)[1:]
    files = {
        "good": write(tmp_path / "good.jsonl", [{**row, "system": None} for row in rows(good)]),
        "bad": write(tmp_path / "bad.jsonl", [{**row, "system": None} for row in rows(bad)]),
        "both": write(tmp_path / "both.jsonl", rows([*good, *bad])),
    }
    wanted = ["groovist", "groovist:weights=idf", "cider", "rouge-l"]
    words = [part for spec in wanted for part in ("-m", spec)]
    for name, file in files.items():
        fitted = ["--theta", "corpus", "--idf", "corpus", "--cache", tmp_path / "cache"]
        sightline_says("score", file, *words, *fitted, "-o", tmp_path / name)
    runs = {name: Finished.open(tmp_path / name) for name in ("good", "bad")}
    apart = {(one.metric, one.part) for one in differences(runs)}
    assert apart == {
        ("groovist", "theta"), ("groovist:weights=idf", "theta"), ("groovist:weights=idf", "idf"), ("cider", "df"),
    }  # fmt: skip
    assert "theta is corpus=" in str(differences(runs)[0]) and " in good, corpus=" in str(
        differences(runs)[0]
    )
    choice = Settings().with_options(theta="corpus", idf="corpus")
    one = together(runs, settings=choice)
    whole = summary(tmp_path / "both")
    assert one.summary["systems"] == whole["systems"], "to the bit"
    assert one.summary["metrics"] == whole["metrics"], "signatures too"
    assert {(s.system, s.metric, s.id): s.score for s in one.scores} == scores(tmp_path / "both")

    sightline_says(
        "score", files["bad"], "-m", "groovist", "--theta", tmp_path / "good", "-o", tmp_path / "held",
        "--cache", tmp_path / "cache",
    )  # fmt: skip
    held = Finished.open(tmp_path / "held")
    assert held.statistics["theta.phrases"]["value"] == runs["good"].statistics["theta.phrases"]["value"]
    assert not differences({"good": runs["good"], "held": held}, ["groovist"])
