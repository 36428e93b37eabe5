"""`meta --experiment length` and `order`: what metrics like besides the truth."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from scipy import stats

from chat_server import Reply, chat_server, said
from doors import command
from sightline.errors import UsageError
from sightline.io.results import ResultFolder
from sightline.items import Item
from sightline.meta.experiments import ExperimentTask, make_experiment
from sightline.meta.experiments.files import write_experiment
from sightline.meta.scoring import Scored


def task(seed: int, liking: float, samples: int = 200) -> ExperimentTask:
    """Texts of any length, ratings that do not look at it, and a metric that likes it as much as told."""
    rng = np.random.default_rng(seed)
    words, quality = rng.integers(3, 30, 300), rng.normal(size=300)
    items = [
        Item(
            f"i{n}",
            (Path(f"p{n % 60}.jpg"),),
            "word " * int(words[n]),
            ratings={"truth": (float(quality[n]),)},
        )
        for n in range(300)
    ]
    score = quality + liking * (words - words.mean()) / words.std() + rng.normal(size=300)
    found = {item.key: float(one) for item, one in zip(items, score, strict=True)}

    def scorer(*_: Any, **__: Any) -> Scored:
        return Scored({"m": found}, {"m": {}}, {"m": "m"}, [])

    return ExperimentTask(items, ["m"], scorer, samples=samples)


@pytest.mark.parametrize("liking", [0.0, 1.0, -1.0])
def test_a_liking_for_length_is_found_where_there_is_one(liking: float) -> None:
    _, length = make_experiment("length")
    (row,) = (
        dict(zip(table.columns, row, strict=True))
        for table in [length(task(1, liking))]
        for row in table.rows
    )
    left, low, high = (row[name] for name in ("score with length, given the rating", "low", "high"))
    assert low < left < high and row["why"] is None and row["n"] == 300
    assert (low <= 0 <= high) if not liking else np.sign(low) == np.sign(high) == np.sign(liking)


def test_the_correlations_are_spearmans() -> None:
    given = task(2, 0.5, samples=0)
    table = make_experiment("length")[1](given)
    row = dict(zip(table.columns, table.rows[0], strict=True))
    score = list(given.score([], []).scores["m"].values())
    words = [len(item.text.split()) for item in given.items]
    people = [item.ratings["truth"][0] for item in given.items]
    pairs = ((score, words), (score, people), (words, people))
    a, b, c = (stats.spearmanr(*pair).statistic for pair in pairs)
    assert row["score with length"] == pytest.approx(a) and row["rating with length"] == pytest.approx(c)
    partial = (a - b * c) / np.sqrt((1 - b**2) * (1 - c**2))
    assert row["score with length, given the rating"] == pytest.approx(partial)


def test_what_has_no_correlation_says_why() -> None:
    given = task(3, 0.0)
    some = ExperimentTask(given.items[:2], ["m"], given.score)
    assert make_experiment("length")[1](some).rows[0][-1] == "fewer than 3 texts"


def rivals(folder: Path) -> Path:
    Image.new("RGB", (20, 20), "red").save(folder / "p.png")
    rows = [
        {
            "id": f"i{n}",
            "images": ["p.png"],
            "text": f"{system} {n}",
            "system": system,
            "ratings": {"truth": [n % 3]},
        }
        for n in range(6)
        for system in ("one", "two")
    ]
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize(("always", "first", "agree"), [("1", 1.0, 0.0), ("2", 0.0, 0.0), (None, 0.5, 1.0)])
def test_a_liking_for_the_first_place(tmp_path: Path, always: str | None, first: float, agree: float) -> None:
    def answer(body: dict[str, Any]) -> Reply:
        words = body["messages"][1]["content"][-1]["text"]
        return said(always or ("1" if 'Text 1: "one' in words else "2"))

    with chat_server(answer) as url:
        told = ["-m", "judge-pair:model=m", "--experiment", "order", "--judge-url", url, "--no-cache"]
        command("meta", rivals(tmp_path), *told, "-o", tmp_path / "out", "--samples", "50")
    (row,) = json.loads((tmp_path / "out" / "order.json").read_text())["rows"]
    assert (row["first preferred"], row["both orders agree"], row["texts"]) == (first, agree, 12)


def test_order_is_asked_of_metrics_that_compare(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="rovist-nr compares no two texts"):
        path = rivals(tmp_path)
        path.write_text(path.read_text().replace('"text": "', '"text": "A dog ran home. '))
        command(
            "meta", path, "-m", "rovist-nr", "--experiment", "order", "-o", tmp_path / "out", "--no-cache"
        )


def test_length_on_a_file(tmp_path: Path) -> None:
    path = rivals(tmp_path)
    told = command(
        "meta", path, "-m", "clipscore", "--experiment", "length", "-o", tmp_path / "out", "--no-cache"
    )
    assert "length" in told and "every length is the same" in (tmp_path / "out" / "length.md").read_text()
    given = task(4, 0.5)
    with ResultFolder(tmp_path / "drawn") as results:
        write_experiment(make_experiment("length")[1](given), results, "length")
    assert (tmp_path / "drawn" / "length.html").read_text().count("<figure") == 1
