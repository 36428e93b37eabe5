"""Evaluation of made-up studies, significance against known numbers, and what bad input says."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.items import Evidence, Item, Key
from sightline.meta.evaluate import evaluate
from sightline.meta.protocols import make_protocol
from sightline.meta.raters import leave_one_out, preferences
from sightline.meta.scoring import shared_notes
from sightline.meta.significance import bootstrap_p, williams


def study(n: int = 60) -> tuple[list[Item], dict[str, dict[Key, float]]]:
    """Two criteria, three raters; `good` follows grounding, `poor` does so less."""
    rng = np.random.default_rng(4)
    items, good, poor = [], {}, {}
    for number in range(n):
        truth = float(rng.uniform(1, 5))
        values = {
            name: tuple(float(np.clip(round(truth + rng.normal()), 1, 5)) for _ in range(3))
            for name in ("grounding", "coherence")
        }
        items.append(Item(str(number), ratings=values, extra={"group": f"g{number // 4}"}))
        key = items[-1].key
        good[key], poor[key] = truth + rng.normal() / 3, truth + rng.normal() * 4
    return items, {"good": good, "poor": poor}


def test_rows_equal_scipy_on_means_and_on_single_ratings() -> None:
    items, scores = study()
    x = [scores["good"][item.key] for item in items]
    means = [np.mean(item.ratings["grounding"]) for item in items]
    row = evaluate(items, scores, samples=50).row("good", "grounding")
    assert row.correlation.values["kendall_c"] == pytest.approx(
        stats.kendalltau(x, means, variant="c").statistic
    )
    each = evaluate(items, scores, observations="each", samples=0).row("good", "grounding")
    singles = [value for item in items for value in item.ratings["grounding"]]
    assert each.correlation.n == 180 and each.ci["kendall_b"] is None
    assert each.correlation.values["kendall_b"] == pytest.approx(
        stats.kendalltau(np.repeat(x, 3), singles).statistic
    )


def test_overall_is_the_sum_of_the_criteria() -> None:
    items, scores = study()
    total = [np.mean(i.ratings["grounding"]) + np.mean(i.ratings["coherence"]) for i in items]
    row = evaluate(items, scores, samples=0).row("good", "overall")
    x = [scores["good"][item.key] for item in items]
    assert row.correlation.values["pearson"] == pytest.approx(stats.pearsonr(x, total).statistic)


def test_intervals_hold_the_value_and_the_better_metric_is_told() -> None:
    items, scores = study()
    found = evaluate(items, scores, samples=400)
    row = found.row("good", "grounding")
    for name, value in row.correlation.values.items():
        low, high = row.ci[name] or (1, 0)
        assert value is not None and low < value < high, name
    pair = found.comparisons[0]
    assert (pair.metric, pair.other) == ("good", "poor")
    p, ends = pair.p["kendall_c"], pair.ci["kendall_c"]
    assert p is not None and p < 0.05 and ends is not None and ends[0] > 0
    assert pair.williams is not None and pair.williams.p < 0.05
    assert evaluate(items, scores, samples=400).to_json() == found.to_json()  # the seed decides


def test_constant_scores_are_null_with_a_reason() -> None:
    items, scores = study()
    found = evaluate(items, {"flat": dict.fromkeys(scores["good"], 1.0), "good": scores["good"]}, samples=20)
    row = json.loads(json.dumps(found.to_json(), allow_nan=False))["rows"][0]
    assert row["kendall_c"] is None and row["why"] == "all scores are equal" and row["ci"]["pearson"] is None
    assert found.comparisons[0].difference["pearson"] is None and found.comparisons[0].williams is None


def test_items_that_a_metric_could_not_score_are_counted() -> None:
    items, scores = study()
    part = {key: value for key, value in scores["good"].items() if int(key[0]) % 2}
    found = evaluate(items, {"good": part, "poor": scores["poor"]}, samples=20)
    assert (found.row("good", "grounding").missing, found.comparisons[0].items) == (30, 30)


def test_criteria_on_different_scales_are_not_summed() -> None:
    items = [Item(str(n), ratings={"a": (n % 5 + 1.0,), "b": (10.0 * (n % 7),)}) for n in range(20)]
    found = evaluate(items, {"m": {item.key: float(item.id) for item in items}}, samples=0)
    assert {row.criterion for row in found.rows} == {"a", "b"}
    assert "different scales" in found.notes[0]


def test_leave_one_out_by_hand() -> None:
    found = leave_one_out([(1, 2, 4), (3, 3, 5), (2,)])
    rest, held_out = [3, 2.5, 1.5, 4, 4, 3], [1, 2, 4, 3, 3, 5]
    assert found is not None and found.n == 6
    assert found.values["pearson"] == pytest.approx(stats.pearsonr(rest, held_out).statistic)
    assert leave_one_out([(1,), (2,)]) is None


def by_key(values: dict[str, Any]) -> dict[Key, Any]:
    return {(id, None): value for id, value in values.items()}


def test_preferences_count_ties_half() -> None:
    scores = by_key({"a": 1.0, "b": 2.0, "c": 2.0, "d": 9.0})
    liking = by_key({"a": 1.0, "b": 2.0, "c": 3.0, "d": 0.0})
    found = preferences(scores, liking, by_key({"a": "x", "b": "x", "c": "x", "d": "y"}))
    assert (found.pairs, found.accuracy, found.ties) == (3, pytest.approx(2.5 / 3), 1)
    assert preferences(scores, {}, {}).accuracy is None


def test_only_texts_that_were_held_against_each_other_are_a_pair() -> None:
    """One picture with two pairs: the metric has the first right and the second wrong; pictures are resampled."""
    rows = [("p", "1", 1.0, 0.9), ("p", "1", 0.0, 0.1), ("p", "2", 1.0, 0.2), ("p", "2", 0.0, 0.8)]
    rows += [("q", "3", 1.0, 0.5), ("q", "3", 0.0, 0.4)]
    items = [
        Item(str(n), ratings={"HC": (liked,)}, extra={"group": picture, "pair": pair})
        for n, (picture, pair, liked, _) in enumerate(rows)
    ]
    scores = {item.key: row[3] for item, row in zip(items, rows, strict=True)}
    row = evaluate(items, {"m": scores, "flat": dict.fromkeys(scores, 0.5)}, samples=400).row("m", "HC")
    assert (row.preferences.pairs, row.preferences.accuracy) == (3, pytest.approx(2 / 3))
    assert row.ci["pairwise_accuracy"] == (0.5, 1.0)  # of p alone, and of q alone
    apart = [replace(item, extra={"group": item.extra["group"]}) for item in items]
    assert evaluate(apart, {"m": scores}, samples=0).row("m", "HC").preferences.pairs == 5


def test_many_systems_over_the_same_ids_are_as_many_items() -> None:
    items = [
        Item(str(n), system=system, ratings={"fit": (1.0 + (n + shift) % 5,)}, extra={"group": str(n)})
        for n in range(30)
        for shift, system in enumerate(("a", "b"))
    ]
    scores = {item.key: item.ratings["fit"][0] for item in items}
    row = evaluate(items, {"m": scores}, samples=0).row("m", "fit")
    assert (row.items, row.preferences.pairs) == (60, 30) and row.correlation.values[
        "pearson"
    ] == pytest.approx(1)
    with pytest.raises(UsageError, match="two items of system 'a' have the id '0'"):
        evaluate([*items, items[0]], {"m": scores}, samples=0)


def test_williams_published_example() -> None:
    """Steiger 1980's setting: n = 103, r12 = .50, r13 = .40, r23 = .10, with Williams' formula by hand."""
    rng = np.random.default_rng(0)
    base = np.linalg.qr(rng.normal(size=(103, 4)) - 0)[0]
    base = base - base.mean(axis=0)
    base = np.linalg.qr(base)[0][:, :3] * np.sqrt(103)
    wanted = np.array([[1, 0.5, 0.4], [0.5, 1, 0.1], [0.4, 0.1, 1]])
    y, one, other = (base @ np.linalg.cholesky(wanted).T).T
    y, one, other = (v - v.mean() for v in (y, one, other))
    np.testing.assert_allclose(np.corrcoef([y, one, other]), wanted, atol=1e-9)
    det = 1 - 0.25 - 0.16 - 0.01 + 2 * 0.5 * 0.4 * 0.1
    t = 0.1 * np.sqrt(102 * 1.1 / (2 * det * 102 / 100 + 0.45**2 * 0.9**3))
    found = williams(one, other, y)
    assert found is not None and found.t == pytest.approx(t, abs=1e-6)
    assert found.p == pytest.approx(2 * stats.t.sf(t, 100), abs=1e-6)


def test_bootstrap_p_is_never_zero() -> None:
    assert bootstrap_p(np.ones(999)) == pytest.approx(0.002)
    assert bootstrap_p(np.array([-1.0, 1.0] * 100)) == 1.0
    assert bootstrap_p(np.full(9, np.nan)) is None


def write(path: Path, rows: list[dict]) -> Path:  # type: ignore[type-arg]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


ROWS = [
    {"id": str(n), "text": "a dog runs" if n % 3 else "two cats", "references": ["a dog runs", f"dog {n}"],
     "ratings": {"match": [n % 4 + 1, n % 3 + 1]}}
    for n in range(24)
]  # fmt: skip


def meta(*arguments: str | Path) -> tuple[int, str]:
    try:
        found = CliRunner().invoke(load_commands(), ["meta", *map(str, arguments)], catch_exceptions=False)
    except UsageError as fault:
        return 2, str(fault)
    return found.exit_code, found.output


def test_command_leaves_the_contract_files(tmp_path: Path) -> None:
    file = write(tmp_path / "items.jsonl", ROWS)
    code, _ = meta(file, "-m", "bleu-1", "-m", "rouge-l", "-o", tmp_path / "out", "--samples", "30")
    assert code == 0
    found = json.loads((tmp_path / "out" / "meta.json").read_text())
    row = found["rows"][0]
    assert {"metric", "criterion", "n", "kendall_b", "kendall_c", "spearman", "pearson", "ci"} <= row.keys()
    assert (row["metric"], row["criterion"], row["n"], len(row["ci"]["kendall_c"])) == (
        "bleu-1",
        "match",
        24,
        2,
    )
    assert row["signature"].startswith("bleu-1|tokens:ptb")
    text = (tmp_path / "out" / "meta.md").read_text()
    assert "Kendall τ_c" in text and "| bleu-1 |" in text
    assert "Kendall τ_c" in (tmp_path / "out" / "report.html").read_text()


def test_failed_items_give_status_3(tmp_path: Path) -> None:
    file = write(tmp_path / "items.jsonl", [*ROWS, {"id": "x", "text": "a", "ratings": {"match": [1]}}])
    code, text = meta(file, "-m", "bleu-1", "-o", tmp_path / "out", "--samples", "0")
    assert code == 3 and "failures.jsonl" in text
    assert "there are no references" in (tmp_path / "out" / "failures.jsonl").read_text()


def no_constant(name: str) -> float:
    raise AssertionError(f"{name} is not JSON")


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"text": "a dog runs", "references": ["a dog runs"]}, "all scores are equal"),
        ({"ratings": {"match": [3]}}, "all ratings are equal"),
    ],
)
def test_undefined_correlations_are_null_in_the_files(tmp_path: Path, change: dict, why: str) -> None:  # type: ignore[type-arg]
    file = write(tmp_path / "items.jsonl", [row | change for row in ROWS])
    code, _ = meta(file, "-m", "bleu-1", "-m", "rouge-l", "-o", tmp_path / "out", "--samples", "20")
    found = json.loads((tmp_path / "out" / "meta.json").read_text(), parse_constant=no_constant)
    assert code == 0 and [row["why"] for row in found["rows"]] == [why, why]
    for row in found["rows"]:
        assert row["kendall_b"] is row["kendall_c"] is row["spearman"] is row["pearson"] is None
    assert found["comparisons"][0]["difference"]["kendall_c"] is None
    assert "nan" not in (tmp_path / "out" / "meta.md").read_text().lower()


def test_one_item_for_cider_fails_with_a_reason(tmp_path: Path) -> None:
    file = write(tmp_path / "items.jsonl", ROWS[:1])
    code, _ = meta(file, "-m", "cider", "-o", tmp_path / "out", "--samples", "0")
    assert code == 3 and "at least two items" in (tmp_path / "out" / "failures.jsonl").read_text()
    (row,) = json.loads((tmp_path / "out" / "meta.json").read_text(), parse_constant=no_constant)["rows"]
    assert row["kendall_b"] is None and row["why"] == "fewer than two observations" and row["missing"] == 1


@pytest.mark.parametrize(
    ("change", "protocol", "message"),
    [
        ({"ratings": {"match": [9]}}, "likert:scale=1-5", "rating 9 is outside the scale from 1 to 5"),
        ({"ratings": {"match": [0]}}, "vist-rovist", "outside the scale"),
        ({}, "likert:scale=5", "not of the form 1-5"),
        ({}, "flickr8k-expert", "is no folder"),
        ({}, "liker", "did you mean 'likert'?"),
    ],
)
def test_bad_input(tmp_path: Path, change: dict, protocol: str, message: str) -> None:  # type: ignore[type-arg]
    file = write(tmp_path / "items.jsonl", [ROWS[0] | change, *ROWS[1:]])
    code, text = meta(file, "-m", "bleu-1", "-o", tmp_path / "out", "--protocol", protocol)
    assert code == 2 and message in text


def test_no_ratings_and_no_file(tmp_path: Path) -> None:
    file = write(tmp_path / "items.jsonl", [{"id": "1", "text": "a", "references": ["a"]}])
    assert "no item has ratings" in meta(file, "-m", "bleu-1", "-o", tmp_path / "out")[1]
    assert "give a FILE" in meta("-m", "bleu-1", "-o", tmp_path / "out")[1]


def test_a_broken_protocol_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "flickr8k_expert.tsv").write_text("a.jpg\tb.jpg#2\t1\t2\t3\na.jpg\tb.jpg#2\t1\t2\n")
    (tmp_path / "flickr8k_captions.tsv").write_text("a.jpg#2\ta dog\nb.jpg#2\ta cat\n")
    with pytest.raises(UsageError, match=":2: 4 columns instead of 5"):
        make_protocol("flickr8k-expert").items(tmp_path)
    (tmp_path / "flickr8k_expert.tsv").write_text("a.jpg\tb.jpg#2\t1\t2\t7\n")
    with pytest.raises(UsageError, match=":1: columns 3 to 5: neither three ratings from 1 to 4"):
        make_protocol("flickr8k-expert").items(tmp_path)


COMPOSITE = {"dataset": "coco", "image": "1", "index": 0, "caption": "a dog", "rating": 4}


def composite(folder: Path, row: dict[str, object], known: dict[str, object]) -> Path:
    (folder / "composite.jsonl").write_text(json.dumps(row) + "\n\n")
    (folder / "coco_eval_references.jsonl").write_text(json.dumps(known) + "\n")
    (folder / "flickr8k_captions.tsv").write_text("a.jpg#0\ta dog\n")
    return folder


def test_an_empty_line_is_passed_over(tmp_path: Path) -> None:
    known: dict[str, object] = {"id": 1, "references": ["A dog .", "dogs"]}
    (item,) = make_protocol("composite").items(composite(tmp_path, COMPOSITE, known))
    assert item.references == ("dogs",)


@pytest.mark.parametrize("missing", list(COMPOSITE))
def test_a_field_that_a_composite_row_lacks_is_named(tmp_path: Path, missing: str) -> None:
    row = {name: value for name, value in COMPOSITE.items() if name != missing}
    with pytest.raises(UsageError, match=rf"composite\.jsonl:1: field '{missing}': is missing"):
        make_protocol("composite").items(composite(tmp_path, row, {"id": 1, "references": ["b"]}))


@pytest.mark.parametrize(
    ("known", "message"),
    [
        ({"id": 1}, ":1: no 'references'"),
        ({"references": []}, ":1: no 'id'"),
        ({"id": 1, "references": [3]}, ":1: its captions are not a list of texts"),
    ],
)
def test_references_that_cannot_be_read(tmp_path: Path, known: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make_protocol("composite").items(composite(tmp_path, COMPOSITE, known))


def test_other_broken_rows_are_named(tmp_path: Path) -> None:
    composite(tmp_path, COMPOSITE | {"caption": 3}, {"id": 1, "references": ["b"]})
    with pytest.raises(UsageError, match=":1: field 'caption': a number instead of text"):
        make_protocol("composite").items(tmp_path)
    (tmp_path / "vicr.csv").write_text("image,ratings\nx/000001.jpg,3\n")
    with pytest.raises(
        UsageError, match=r"vicr\.csv: not a VICR file; it needs the columns image, caption and ratings"
    ):
        make_protocol("vicr").items(tmp_path)
    (tmp_path / "flickr8k_crowdflower.tsv").write_text("a.jpg\ta.jpg#0\t1\t0\t0\n")
    with pytest.raises(UsageError, match=":1: columns 3 to 5"):
        make_protocol("flickr8k-cf").items(tmp_path)


def test_notes_that_many_items_carry_are_told_once() -> None:
    seen, rare = Evidence(notes=("it learned from this picture",)), Evidence(notes=("sentence 1 was cut",))
    by_item = {str(n): seen if n < 30 else rare if n == 99 else Evidence() for n in range(100)}
    assert shared_notes({"learned": by_item, "plain": {"1": Evidence()}}) == (
        "learned: it learned from this picture (30 of 100 items)",
    )
    assert shared_notes({"empty": {}}) == ()
