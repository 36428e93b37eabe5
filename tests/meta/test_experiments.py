"""The papers' experiments on made-up studies with known outcomes."""

import json
from pathlib import Path

import numpy as np
import pytest

from sightline.errors import UsageError
from sightline.items import Evidence, Item
from sightline.meta.experiments import ABLATION, experiments, mode, shuffled
from sightline.meta.output import write_experiment
from sightline.meta.scoring import Scored

ITEMS = [
    Item(
        str(n), images=(Path(f"p{n // 2}.jpg"),), text=f"text {n}", references=("a", "b", "c"),
        ratings={"grounding": (n % 5 + 1.0,), "coherence": (5.0 - n % 3,)},
        extra={"group": str(n // 4), "votes": n % 5},
    )
    for n in range(20)
]  # fmt: skip


def scorer(items: list[Item], metrics: list[str]) -> Scored:
    """Knows the right texts, likes what people like, and the more references the better."""
    scores = {
        metric: {
            item.id: 10.0 + (int(item.id) % 5) * len(item.references) if item.id.isdigit() else 1.0
            for item in items
        }
        for metric in metrics
    }
    evidence = {
        metric: {item.id: Evidence(parts={"T": int(item.id) % 2 * 1.5, "P": 0.2 + (int(item.id) % 3) / 20})
                 for item in items if item.id.isdigit()}
        for metric in metrics
    }  # fmt: skip
    return Scored(scores, evidence, dict.fromkeys(metrics, ""), [])


def run(name: str, metrics: list[str]) -> list[dict]:  # type: ignore[type-arg]
    found = experiments.get(name)(ITEMS, metrics, scorer)
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_random_pairs_never_hold_the_own_text() -> None:
    made = shuffled(ITEMS)
    own = {item.id: item.text for item in ITEMS}
    assert len(made) == 100 and all(item.text != own[item.id.split("\x1f")[0]] for item in made)
    with pytest.raises(UsageError, match="different pictures"):
        shuffled(ITEMS[:2])


def test_original_against_random() -> None:
    (row,) = run("random", ["m"])
    assert row["win rate"] == 1.0 and row["n"] == 20 and row["mean difference"] > 8


def test_ablation_runs_the_seven_variants() -> None:
    rows = run("ablation", [])
    assert [row["metric"] for row in rows if row["criterion"] == "grounding"] == list(ABLATION)
    assert rows[0]["kendall_b"] == pytest.approx(1.0)


def test_number_of_references() -> None:
    rows = run("references", ["m"])
    assert {row["metric, references"] for row in rows} == {"m, 1", "m, 2", "m, 3"}


def test_splits_by_t_and_p() -> None:
    rows = run("splits", ["m"])
    counts = {row["metric, bin"]: row["n"] for row in rows}
    assert counts["m, low T (< 1)"] == 10 and counts["m, high T (>= 1)"] == 10
    assert sum(n for name, n in counts.items() if name.startswith(("m, low P", "m, high P"))) > 5
    assert mode(np.array([0.1, 0.2, 0.2, 0.3])) == 0.2


def test_criteria_against_votes() -> None:
    rows = {row["criterion"]: row for row in run("ranking", [])}
    assert rows["grounding"]["kendall_b"] == pytest.approx(1.0) and rows["grounding"]["sequences"] == 5
    with pytest.raises(UsageError, match="votes"):
        experiments.get("ranking")([Item("1", ratings={"a": (1.0,)})], [], scorer)


def test_an_experiment_leaves_a_table_and_a_plot(tmp_path: Path) -> None:
    write_experiment(experiments.get("random")(ITEMS, ["m"], scorer), tmp_path, "random")
    assert json.loads((tmp_path / "random.json").read_text())["rows"][0]["metric"] == "m"
    assert "| m |" in (tmp_path / "random.md").read_text()
    assert "<svg" in (tmp_path / "random.html").read_text()
