"""What people read: tables with intervals, reasons and pairs, and pages whose plots say what they show."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

from sightline.cli.app import console
from sightline.cli.meta import screen_table, show_findings
from sightline.io.results import ResultFolder
from sightline.items import Item
from sightline.meta.evaluate import evaluate
from sightline.meta.experiments.base import ExperimentTable, Plot
from sightline.meta.experiments.files import write_experiment
from sightline.meta.experiments.words import compact
from sightline.meta.findings.files import markdown, write_findings
from sightline.meta.findings.words import Findings, numeric, reasons, table_of
from sightline.meta.protocols import make_protocol


def study(**extra: Any) -> Findings:
    """Four groups of three texts; `up` follows the ratings, `down` does the opposite."""
    items = [
        Item(
            str(n),
            ratings={"fit": (n % 5 + 1.0, (n + n // 4) % 5 + 1.0)},
            extra={"group": str(n // 3), "votes": n % 3, **extra},
        )
        for n in range(12)
    ]
    scores = {"up": {item.key: sum(item.ratings["fit"]) for item in items}}
    scores["down"] = {key: -value for key, value in scores["up"].items()}
    scores["flat"] = dict.fromkeys(scores["up"], 1.0)
    found = evaluate(items, scores, samples=50)
    return Findings(make_protocol("likert"), found, dict.fromkeys(scores, "signed"), [], "items.jsonl")


def test_the_table_has_people_pairs_and_true_minus_signs() -> None:
    heads, rows = table_of(study(), "fit")
    assert heads[-2:] == ["pairs as rated", "pairs as voted"]
    assert [row[0][0] for row in rows] == ["up", "down", "flat", "people (leave one out)"]
    assert rows[0][-2][0] == "100.0 %" and rows[1][-2][0] == "0.0 %" and rows[2][-2][0] == "50.0 %"
    assert rows[1][1][0].startswith("−") and rows[1][1][1].startswith("[−")
    text = markdown(study())
    assert "| pairs as rated | pairs as voted |" in text and "100.0 % of " in text
    assert "| people (leave one out) |" in text
    assert table_of(study(votes=None), "fit")[0][-1] == "pairs as rated"
    assert table_of(study(votes=None, group=None), "fit")[0][-1] == "not scored"


def test_reasons_stand_below_the_table() -> None:
    assert reasons(study().evaluation, "fit") == ["flat: all scores are equal"]
    assert reasons(study(group="one").evaluation, "fit") == [
        "up, down: no interval, one group cannot be resampled",
        "flat: all scores are equal",
    ]
    with console.capture() as captured:
        show_findings(study())
    assert "flat: all scores are equal" in captured.get()
    assert "pairs as rated: up 100.0 % of" in captured.get()


def test_the_chart_names_its_coefficient_on_the_table_s_scale(tmp_path: Path) -> None:
    write_findings(study(), ResultFolder(tmp_path))
    html = (tmp_path / "report.html").read_text()
    (caption,) = re.findall("<figcaption>(.*?)</figcaption>", html)
    assert caption == "Kendall τ_c with fit, times 100, on an axis from −100 to 100; whiskers: 95 % intervals"
    heads, rows = table_of(study(), "fit")
    shown = re.findall('<span class="value">(.*?)</span>', html)
    place = heads.index("Kendall τ_c")
    assert shown == [row[place][0].replace("–", "not defined") for row in rows]
    assert html.count("people (leave one out)") >= 2
    write_findings(study(group="one"), ResultFolder(tmp_path))
    assert "one group cannot be resampled" in (tmp_path / "report.html").read_text()


ENDS = ("spearman low", "spearman high")
ROWS = tuple(
    (metric, criterion, count, 0.1 * count, 0.05 * count, 0.2 * count, None)
    for criterion in ("a", "b")
    for metric in (f"m{n}" for n in range(8))
    for count in (1, 2)
)
LINES = ExperimentTable(
    "T",
    ("metric", "criterion", "references", "spearman", *ENDS, "why"),
    ROWS,
    (Plot("spearman", colour="metric", across="references"),),
)


def test_lines_of_one_drawing_have_different_colours(tmp_path: Path) -> None:
    write_experiment(LINES, ResultFolder(tmp_path), "t")
    figures = (tmp_path / "t.html").read_text().split("<figure")[1:]
    assert len(figures) == 4  # eight metrics on two criteria, six colours
    for figure in figures:
        colours = re.findall('<g class="series-(.)"', figure)
        assert len(colours) == len(set(colours)) in (2, 6)


def test_bars_keep_what_is_not_defined_and_a_lone_bar_is_still_a_bar(tmp_path: Path) -> None:
    rows = (("m", 0.2, 0.1, 0.3, None), ("k", None, None, None, "all scores are equal"))
    plot = Plot("win rate", interval=("low", "high"), span=(0, 1), mark=0.5)
    found = ExperimentTable("T", ("metric", "win rate", "low", "high", "why"), rows, (plot,))
    write_experiment(found, ResultFolder(tmp_path), "t")
    html = (tmp_path / "t.html").read_text()
    assert "not defined" in html and "on an axis from 0 to 1;" in html and "dashed: 0.5" in html
    assert 'class="mark" x1="50.000%"' in html and html.count('class="error"') == 3
    lone = replace(
        found, columns=("metric", "gap", "low", "high", "why"), rows=rows[:1], plots=(Plot("gap"),)
    )
    write_experiment(lone, ResultFolder(tmp_path), "t")
    assert 'width="80.000%"' in (tmp_path / "t.html").read_text()


def test_tables_hold_intervals_in_their_cells() -> None:
    found = replace(LINES, plots=(Plot("spearman", interval=ENDS),))
    heads, rows = compact(found)
    assert heads == ["metric", "criterion", "references", "Spearman ρ"]
    assert rows[0] == [("m0", ""), ("a", ""), ("1", ""), ("0.1000", "[0.0500, 0.2000]")]
    assert [numeric(rows, place) for place in range(4)] == [False, False, True, True]
    told = replace(found, rows=(("m", "a", 1, None, None, None, "all scores are equal"),))
    assert compact(told)[0][-1] == "why" and compact(told)[1][0][-2:] == [
        ("–", ""),
        ("all scores are equal", ""),
    ]
    wide = replace(found, columns=(*found.columns[:-1], "pearson"))
    assert "Pearson r" in compact(wide)[0] and "Pearson r" not in compact(wide, brief=True)[0]
    assert [column.justify for column in screen_table("T", *compact(found)).columns] == [
        "left", "left", "right", "right"
    ]  # fmt: skip
