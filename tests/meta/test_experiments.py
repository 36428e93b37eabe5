"""The papers' experiments on made-up studies with known outcomes."""

import json
import time
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.io.results import ResultFolder
from sightline.items import Evidence, Failure, Item
from sightline.meta.evaluate import ONE_GROUP
from sightline.meta.experiments.files import write_experiment
from sightline.meta.experiments.pairings import first_criterion, shuffled
from sightline.meta.experiments.papers import ABLATION, ExperimentTask, experiments, make_experiment, mode
from sightline.meta.scoring import Scored

ITEMS = [
    Item(
        str(n), images=(Path(f"p{n // 2}.jpg"),), text=f"text {n}", references=("a", "b", "c"),
        ratings={"grounding": (n % 5 + 1.0,), "coherence": (5.0 - n % 3,)},
        extra={"group": str(n // 4), "votes": n % 5},
    )
    for n in range(20)
]  # fmt: skip


def scorer(
    items: Sequence[Item], metrics: Sequence[str], learn_from: Collection[str] | None = None
) -> Scored:
    """Knows the right texts, likes what people like, and the more references the better."""
    scores = {
        metric: {
            item.key: 10.0 + (int(item.id) % 5) * len(item.references) if item.id.isdigit() else 1.0
            for item in items
        }
        for metric in metrics
    }
    evidence = {
        metric: {item.key: Evidence(parts={"T": int(item.id) % 2 * 1.5, "P": 0.2 + (int(item.id) % 3) / 20})
                 for item in items if item.id.isdigit()}
        for metric in metrics
    }  # fmt: skip
    return Scored(scores, evidence, dict.fromkeys(metrics, ""), [])


def run(name: str, metrics: list[str], items: list[Item] = ITEMS) -> list[dict]:  # type: ignore[type-arg]
    found = experiments.get(name)(ExperimentTask(items, metrics, scorer))
    return [dict(zip(found.columns, row, strict=True)) for row in found.rows]


def test_random_pairs_never_hold_the_own_text() -> None:
    for item, made in zip(ITEMS, shuffled(ITEMS), strict=True):
        assert len(made) == 5
        assert all(one.images == item.images and one.text != item.text and not one.ratings for one in made)
    with pytest.raises(UsageError, match="different pictures"):
        shuffled(ITEMS[:2])


def test_original_against_random() -> None:
    (row,) = run("random", ["m"])
    assert row["win rate"] == 1.0 and row["n"] == 20
    assert row["difference"] == pytest.approx(9 + 3 * 2)  # 10 + 3 (n % 5) against 1
    assert row["low"] < row["difference"] < row["high"]


def test_the_first_criterion_resamples_groups_as_it_is_told() -> None:
    """Within a group all items differ alike, so whole groups must be drawn: the interval is far wider."""
    scores = {item.key: 10.0 * (int(item.id) // 5) for item in ITEMS}
    scores |= {(f"{item.id}\x1f0", None): 12.0 for item in ITEMS}
    alone = [replace(item, images=(), extra={}) for item in ITEMS]
    grouped = [replace(item, extra={"group": str(int(item.id) // 5)}) for item in ITEMS]
    narrow, wide = (first_criterion(items, scores, 500, 0) for items in (alone, grouped))
    for ends in ("difference_ci", "wins_ci"):
        (low, high), (further, beyond) = getattr(narrow, ends), getattr(wide, ends)
        assert further < low < high < beyond
    assert (narrow.difference, narrow.wins) == (wide.difference, wide.wins) == (3.0, 0.5)
    one = first_criterion([replace(item, extra={"group": "a"}) for item in ITEMS], scores, 500, 0)
    assert one.difference_ci is one.wins_ci is None and one.why == ONE_GROUP


def test_samples_and_seed_reach_the_experiments() -> None:
    def row(name: str, **change: int) -> dict:  # type: ignore[type-arg]
        found = experiments.get(name)(replace(ExperimentTask(noisy(), ["m"], scorer), **change))  # type: ignore[arg-type]
        return dict(zip(found.columns, found.rows[0], strict=True))

    for name, end in (("random", "high"), ("splits", "kendall_c high"), ("ranking", "kendall_b high")):
        assert row(name, samples=0)[end] is None, name
        assert row(name, samples=25) == row(name, samples=25) != row(name, samples=25, seed=1), name


def noisy() -> list[Item]:
    rng = np.random.default_rng(3)
    return [
        replace(item, ratings={"g": (float(rng.integers(1, 6)),)}, images=(Path(f"{item.id}.jpg"),))
        for item in ITEMS
    ]


def test_few_other_texts_are_told() -> None:
    items = [replace(item, images=(Path(f"{item.id}.jpg"),)) for item in ITEMS[:3]]
    assert "the best of 2 texts" in experiments.get("random")(ExperimentTask(items, ["m"], scorer)).notes[0]
    assert "the best of 5 texts" in experiments.get("random")(ExperimentTask(ITEMS, ["m"], scorer)).notes[0]


def test_random_pairs_are_drawn_evenly() -> None:
    items = [Item(str(n), images=(Path(f"{n % 4}.jpg"),), text=str(n)) for n in range(24)]
    drawn = Counter(one.text for seed in range(400) for one in shuffled(items, seed)[2])
    assert set(drawn) == {str(n) for n in range(24) if n % 4 != 2}
    assert min(drawn.values()) > 75 and max(drawn.values()) < 150  # 2,000 draws over 18 texts


def test_many_items_are_paired_quickly() -> None:
    items = [Item(str(n), images=(Path(f"{n // 40}.jpg"),)) for n in range(20_000)]
    start = time.process_time()
    shuffled(items)
    assert time.process_time() - start < 10  # looking through all others for each took minutes


def test_statistics_come_from_the_originals_alone() -> None:
    asked: list[Collection[str] | None] = []

    def watching(
        items: Sequence[Item], metrics: Sequence[str], learn_from: Collection[str] | None = None
    ) -> Scored:
        asked.append(learn_from)
        assert len(items) == 120 and [item.id for item in items[:2]] == [
            "0",
            "0\x1f0",
        ]  # neighbours share pictures
        return scorer(items, metrics)

    experiments.get("random")(ExperimentTask(ITEMS, ["m"], watching))
    assert asked == [{item.key for item in ITEMS}]


def test_ablation_runs_the_seven_variants_on_both_criteria() -> None:
    rows = [row for row in run("ablation", []) if row["criterion"] == "grounding"]
    assert [row["metric"] for row in rows] == list(ABLATION)
    assert rows[0]["kendall_b"] == pytest.approx(1.0) and rows[0]["observations"] == 20
    assert (
        rows[0]["difference"] == pytest.approx(15) and rows[0]["win rate"] == 1 and rows[0]["stories"] == 20
    )
    assert rows[0]["kendall_c low"] <= rows[0]["kendall_c"] <= rows[0]["kendall_c high"]


def test_ablation_of_rated_captions_and_unrated_stories() -> None:
    """The papers' own arrangement: criterion 1 on stories, criterion 2 on rated captions, each with its theta."""
    calls: list[int] = []

    def counting(
        items: Sequence[Item], metrics: Sequence[str], learn_from: Collection[str] | None = None
    ) -> Scored:
        calls.append(len(items))
        return scorer(items, metrics)

    two = (Path("a.jpg"), Path("b.jpg"))
    stories = [Item(str(100 + n), images=(*two, Path(f"{n}.jpg")), text=f"story {n}") for n in range(8)]
    found = experiments.get("ablation")(ExperimentTask([*ITEMS, *stories], [], counting))
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert calls == [48, 20] and rows[0]["stories"] == 8 and rows[0]["observations"] == 20
    unrated = experiments.get("ablation")(ExperimentTask(stories, [], counting))
    assert len(unrated.rows) == 7 and "no item has ratings" in unrated.notes[1]


def test_number_of_references() -> None:
    rows = run("references", ["m"])
    assert [row["references"] for row in rows if row["criterion"] == "grounding"] == [1, 2, 3]
    with pytest.raises(UsageError, match="at least two references"):
        run("references", ["m"], [Item("1", ratings={"a": (1.0,)}, references=("x",))])


def test_items_with_too_few_references_are_left_out_and_told() -> None:
    """Figure 4 compares the same items: those with as many references as are asked for."""
    poor = [replace(item, references=item.references[:1]) for item in ITEMS[:6]]
    name, experiment = make_experiment("references")
    found = experiment(ExperimentTask([*poor, *ITEMS[6:]], ["m"], scorer))
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    assert name == "references" and max(row["references"] for row in rows) == 3
    assert found.notes == (f"6 of {len(ITEMS)} items have fewer than 3 references and are left out",)
    assert {row["n"] for row in rows if row["criterion"] == "grounding"} == {len(ITEMS) - 6}
    two = make_experiment("references:most=2")[1](ExperimentTask(ITEMS, ["m"], scorer))
    assert {row[2] for row in two.rows} == {1, 2} and not two.notes
    with pytest.raises(UsageError, match=r"references:most=9 there is none .* is 3"):
        make_experiment("references:most=9")[1](ExperimentTask(ITEMS, ["m"], scorer))


def test_splits_by_t_and_p() -> None:
    rows = [row for row in run("splits", ["m"]) if row["metric"] == "m"]
    counts = {row["bin"]: row["n"] for row in rows}
    assert counts["low T (< 1)"] == 10 and counts["high T (≥ 1)"] == 10
    assert sum(n for name, n in counts.items() if " P " in name) > 5
    assert mode(np.array([0.1, 0.2, 0.2, 0.3])) == 0.2
    assert all(row["kendall_c low"] <= row["kendall_c"] <= row["kendall_c high"] for row in rows[:2])


def test_a_share_at_the_cut_is_high_and_the_cut_can_be_given() -> None:
    def same(items: Sequence[Item], metrics: Sequence[str], learn_from: object = None) -> Scored:
        scored = scorer(items, metrics)
        evidence = {item.key: Evidence(parts={"T": 0.5, "P": 6 / 23}) for item in items}
        return replace(scored, evidence=dict.fromkeys(metrics, evidence))

    def counts(spec: str) -> dict[str, int]:
        found = make_experiment(spec)[1](ExperimentTask(ITEMS, [], same))
        return {str(row[0]): int(row[-2] or 0) for row in found.rows}

    liked = counts("splits")["high P (≥ 0.2609)"]
    assert liked > 5 and counts("splits")["low P (< 0.2609)"] == 0
    given = counts("splits:p=0.3,t=0.5")
    assert given["low P (< 0.3000)"] == liked and given["high T (≥ 0.5)"] == 20
    assert given["low T (< 0.5)"] == 0
    for spec, message in (
        ("splits:p=nan", "finite"),
        ("splits:q=1", "unknown option of splits"),
        ("random:p=1", "random takes no options"),
        ("split", "did you mean 'splits'"),
    ):
        with pytest.raises(UsageError, match=message):
            make_experiment(spec)


@pytest.mark.parametrize("name", ["references", "splits", "ablation", "ranking"])
def test_an_undefined_coefficient_has_a_reason(name: str) -> None:
    level = [replace(item, ratings={"g": (3.0,)}) for item in ITEMS]
    for row in run(name, ["m"], level):
        assert row["kendall_b"] is None
        assert row["why"] in ("all ratings are equal", "no item is in this bin")


def voted(seed: int = 0) -> list[Item]:
    """Twenty sequences of four stories, as in RoViST's study: people vote for what is coherent, then grounded."""
    rng = np.random.default_rng(seed)
    made = []
    for sequence in range(20):
        quality = rng.normal(size=(4, 3))
        liking = quality @ (0.5, 2.0, 0.2)
        for story, (grounding, coherence, repetition) in enumerate(quality):
            given = {"grounding": grounding, "coherence": coherence, "non-redundancy": repetition}
            ratings = {name: tuple(np.clip(np.round(3 + value + rng.normal(0, 0.5, 26)), 1, 5).tolist())
                       for name, value in given.items()}  # fmt: skip
            votes = int((liking < liking[story]).sum())
            extra = {"group": str(sequence), "votes": votes}
            made.append(Item(f"{sequence}/{story}", ratings=ratings, extra=extra))
    return made


def test_criteria_against_votes() -> None:
    rows = {row["criterion"]: row for row in run("ranking", [])}
    assert rows["grounding"]["kendall_b"] == pytest.approx(1.0) and rows["grounding"]["sequences"] == 5
    simulated = {row["criterion"]: row["kendall_b"] for row in run("ranking", [], voted())}
    assert simulated["coherence"] > simulated["grounding"] > simulated["non-redundancy"]
    with pytest.raises(UsageError, match="votes"):
        run("ranking", [], [Item("1", ratings={"a": (1.0,)})])


@pytest.mark.parametrize(
    "name", sorted(set(experiments) - {"length", "order"})
)  # these have tests of their own
def test_an_experiment_leaves_a_table_and_a_plot(tmp_path: Path, name: str) -> None:
    found = experiments.get(name)(ExperimentTask(ITEMS, ["m <b>"], scorer))
    write_experiment(found, ResultFolder(tmp_path), name)
    assert len(json.loads((tmp_path / f"{name}.json").read_text())["rows"]) == len(found.rows)
    assert (tmp_path / f"{name}.md").read_text().count("\n|") == len(found.rows) + 2
    html = (tmp_path / f"{name}.html").read_text()
    several = len({row[1] for row in found.rows}) if "criterion" in found.columns[1:] else 1
    drawn = sum(1 if plot.once else several for plot in found.plots)
    assert html.count("<figure") == drawn and "<b>" not in html


def test_failures_of_originals_and_pairings_are_kept_once() -> None:
    def failing(
        items: Sequence[Item], metrics: Sequence[str], learn_from: Collection[str] | None = None
    ) -> Scored:
        broken = [item for item in items if item.id.startswith("3") or item.id == "4\x1f0"]
        whole = scorer([item for item in items if item not in broken], metrics)
        return replace(whole, failures=[Failure(item.id, "m", "broken") for item in broken])

    found = experiments.get("random")(ExperimentTask(ITEMS, ["m"], failing))
    assert [(failure.id, failure.reason) for failure in found.failures] == [
        ("3", "broken"),
        ("4", "with the text of another item: broken"),
    ]
    assert dict(zip(found.columns, found.rows[0], strict=True))["n"] == 19
    for name in ("ablation", "references", "splits"):
        failures = experiments.get(name)(ExperimentTask(ITEMS, ["m"], failing)).failures
        assert ("3", "broken") in {(failure.id, failure.reason) for failure in failures}


def test_the_command_tells_of_failures_in_experiments(tmp_path: Path) -> None:
    rows = [
        {"id": str(n), "images": [f"{n}.jpg"], "text": "a dog runs", "references": ["a dog", "dogs"],
         "ratings": {"m": [n + 1]}}
        for n in range(4)
    ]  # fmt: skip
    rows[0]["references"] = []
    file = tmp_path / "items.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["meta", str(file), "-m", "bleu-1", "--experiment", "random", "-o", str(tmp_path / "out")]
    found = CliRunner().invoke(load_commands(), arguments, catch_exceptions=False)
    assert found.exit_code == 3 and "failures.jsonl" in found.output
    (failure,) = map(json.loads, (tmp_path / "out" / "failures.jsonl").read_text().splitlines())
    assert failure["id"] == "0"
