"""Systems compared: what is shared and what is not, one measurement of several runs, and the files that tell it."""

import csv
import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from sightline.api import compare, score
from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.items import Evidence, Item, PhraseEvidence, Score
from sightline.meta.comparison.board import Board
from sightline.meta.comparison.files import chance, latex, markdown, pair_row, told
from sightline.meta.comparison.makings import Making, Wording, costly, more_of, part_rows
from sightline.meta.comparison.one_measure import measured_alike
from sightline.meta.comparison.sources import named_sources
from sightline.meta.comparison.verdict import compared

SIGNATURE = "groovist|weights:concreteness|penalty:on|units:phrases|tanh:off|theta:{}|version:1"


def scores(
    system: str, values: Mapping[str, float], metric: str = "m", signature: str = "m|x"
) -> list[Score]:
    return [Score(id, metric, value, signature, Evidence(), system) for id, value in values.items()]


def board(systems: Mapping[str, Mapping[str, float]], metric: str = "m") -> Board:
    return Board.of(score for name, values in systems.items() for score in scores(name, values, metric))


def test_shared_items_are_compared_and_the_rest_counted_and_named() -> None:
    found = compared(board({"a": {"1": 1.0, "2": 2.0, "3": 5.0}, "b": {"2": 1.0, "3": 5.0, "9": 0.0}}))
    (pair,) = found.pairs
    assert (pair.contest.n, pair.contest.difference) == (2, 0.5)
    assert (pair.contest.wins, pair.contest.ties, pair.contest.losses) == (1, 1, 0)
    assert pair.only_a == ("1",) and pair.only_b == ("9",)
    assert any("1 item of a (1) and 1 item of b (9) have no counterpart" in note for note in found.notes)
    left = told(found, {})["left_out"]
    assert left == [{"metric": "m", "a": "a", "b": "b", "only_a": ("1",), "only_b": ("9",)}]


def test_many_items_left_out_are_counted_and_some_named() -> None:
    found = compared(board({"a": {str(n): 1.0 for n in range(60)}, "b": {str(n): 1.0 for n in range(30)}}))
    assert any("30 items of a (30, 31, 32, 33, 34 and 25 more)" in note for note in found.notes)


def test_against_compares_all_with_one_and_the_difference_is_theirs() -> None:
    systems = {name: {str(n): float(n + k) for n in range(25)} for k, name in enumerate("abc")}
    found = compared(board(systems), against="b")
    assert [(p.a, p.b, p.contest.difference) for p in found.pairs] == [("a", "b", -1.0), ("c", "b", 1.0)]
    assert [p.winner for p in found.pairs] == ["b", "c"]


@pytest.mark.parametrize(
    ("systems", "options", "message"),
    [
        ({"a": {"1": 1.0}}, {}, "there is one system, a"),
        ({"a": {"1": 1.0}, "b": {"2": 1.0}}, {}, "share no item"),
        (
            {"a": {"1": 1.0}, "b": {"1": 1.0}},
            {"against": "c"},
            "--against c: there is no such system; there are a, b",
        ),
        ({"a": {"1": 1.0}, "b": {"1": 1.0}}, {"human": "c"}, "--human c"),
    ],
)
def test_what_cannot_be_compared(
    systems: dict[str, dict[str, float]], options: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        compared(board(systems), **options)  # type: ignore[arg-type]


def test_one_shared_item_and_constant_scores_are_told() -> None:
    found = compared(board({"a": {"1": 0.5, "2": 0.5}, "b": {"1": 0.25}}))
    (pair,) = found.pairs
    assert (pair.contest.n, pair.contest.low, pair.contest.p) == (1, None, 1.0)
    assert any("has no interval" in note for note in found.notes)
    same = {str(n): 0.5 for n in range(30)}
    found = compared(board({"a": same, "b": same}))
    assert (
        found.pairs[0].contest.ties == 30 and found.pairs[0].contest.p == 1 and found.pairs[0].winner is None
    )


def test_a_metric_that_failed_on_one_side_leaves_those_items_out() -> None:
    given = board({"a": {str(n): float(n) for n in range(20)}, "b": {str(n): 0.0 for n in range(19)}})
    given.add(Score("19", "m", math.nan, "m|x", Evidence(), "b"))
    (pair,) = compared(given).pairs
    assert pair.contest.n == 19 and pair.only_a == ("19",)
    assert given.columns["m"]["b"].failed == 1


def test_a_metric_that_one_system_lacks_is_said() -> None:
    given = board({"a": {"1": 1.0, "2": 2.0}, "b": {"1": 1.0, "2": 1.0}})
    for one in scores("a", {"1": 1.0}, "other"):
        given.add(one)
    found = compared(given)
    assert [pair.metric for pair in found.pairs] == ["m"]
    assert "other: b has no score and is not compared" in found.notes


def test_pictures_are_resampled_whole() -> None:
    chance_ = random.Random(1)
    values = {f"{n}#{k}": chance_.random() for n in range(30) for k in range(5)}
    other = {id: value - 0.1 for id, value in values.items()}
    groups = {id: id.split("#")[0] for id in values}
    whole = compared(board({"a": values, "b": other}), groups=groups).pairs[0].contest
    assert (whole.groups, whole.n) == (30, 150)


# --- scores that cannot be made again


def cider_of(system: str, signature: str) -> list[Score]:
    return scores(system, {"1": 1.0, "2": 2.0}, "cider", signature)


def test_other_statistics_are_refused_with_the_command_that_mends_it() -> None:
    given = Board.of(
        [
            *cider_of("a", "cider|tokens:ptb|df:corpus=1a2b|version:1"),
            *cider_of("b", "cider|tokens:ptb|df:corpus=3c4d|version:1"),
        ]
    )
    with pytest.raises(UsageError) as refused:
        measured_alike(given, files={"a": "a.jsonl"})
    said = str(refused.value)
    assert "df is corpus=1a2b for a, corpus=3c4d for b" in said
    assert "sightline compare a=a.jsonl b=FILE -m cider -o DIR" in said
    assert "df is corpus=1a2b for a" in measured_alike(given, as_measured=True)[0]


def test_what_is_not_told_is_said_and_what_is_alike_needs_no_note() -> None:
    one = "cider|tokens:ptb|df:corpus=1a2b|version:1"
    assert measured_alike(Board.of([*cider_of("a", one), *cider_of("b", one)])) == []
    (note,) = measured_alike(Board.of([*cider_of("a", one), *cider_of("c", "")]))
    assert note == "cider: how c was measured is not told"


# --- what the user names


def jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def test_names_paths_and_what_is_wrong_with_them(tmp_path: Path) -> None:
    a, b = (jsonl(tmp_path / f"{name}.jsonl", [{"id": "1", "text": "A dog."}]) for name in "ab")
    found = named_sources([f"x={a}", f"y={b}"])
    assert [(source.name, source.path) for source in found] == [("x", a), ("y", b)]
    assert [source.name for source in named_sources([str(a), str(b)])] == ["human", "generated"]
    assert [source.name for source in named_sources([str(a)])] == [None]
    odd = jsonl(tmp_path / "p=q.jsonl", [{"id": "1", "text": "A dog."}])
    assert [source.path for source in named_sources([str(odd)])] == [odd]
    for given_, message in (
        ([f"x={a}", f"x={b}"], "2 of the files are named x"),
        ([str(a), str(b), f"c={a}"], f"name each system: a={a} b={b} c={a}"),
        ([f"={a}", f"y={b}"], "name is missing"),
        (["x=nowhere.jsonl", f"y={b}"], "nowhere.jsonl: there is no such file or folder"),
        ([str(tmp_path)], "not the folder of a run"),
    ):
        with pytest.raises(UsageError, match=re.escape(message)):
            named_sources(given_)


def test_a_run_with_two_systems_cannot_take_one_name(tmp_path: Path) -> None:
    rows = [{"id": "1", "system": s, "metric": "rouge-l", "score": 0.5} for s in "xy"]
    run = jsonl(tmp_path / "scores.jsonl", rows)
    (source, _) = named_sources([f"a={run}", f"b={jsonl(tmp_path / 'o.jsonl', rows[:1])}"])
    with pytest.raises(UsageError, match="holds the systems x, y"):
        list(source.scores())


# --- what comes out

HOSTILE = '=cmd|"/c calc"!A1 & <script>alert(1)</script> \\textbf{50%_$#}|x'


def rows(system: str, words: int, n: int = 40) -> list[dict[str, Any]]:
    chance_ = random.Random(3)
    told_ = []
    for number in range(n):
        text = " ".join(chance_.choices("a dog cat runs on the green hill near water".split(), k=9))
        told_.append(
            {
                "id": f"p{number}",
                "system": system,
                "text": " ".join(text.split()[:words]),
                "references": [text],
            }
        )
    return told_


def run(*arguments: object) -> Any:
    return CliRunner().invoke(load_commands(), ["compare", *map(str, arguments)])


def test_tables_for_a_paper_are_well_formed_and_guarded(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "s.jsonl", [*rows(HOSTILE, 9), *rows("b", 5)])
    done = run(file, "-m", "bleu-4", "-m", "rouge-l", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    out = tmp_path / "out"
    found = json.loads((out / "compare.json").read_text())
    assert set(found["systems"]) == {HOSTILE, "b"}
    assert set(found["pairs"][0]) >= {
        "metric", "a", "b", "difference", "low", "high", "p", "p_holm", "wins", "ties", "losses", "n", "detectable",
    }  # fmt: skip
    assert (
        found["d_hm"] is None
        and found["systems"] == json.loads((out / "summary.json").read_text())["systems"]
    )
    table = list(csv.DictReader((out / "compare.csv").open()))
    assert len(table) == 2 and all(not row["a"].startswith("=") for row in table)
    assert float(table[0]["difference"]) == pytest.approx(found["pairs"][0]["difference"])
    tex = (out / "compare.tex").read_text()
    assert tex.count(r"\toprule") == tex.count(r"\bottomrule") == tex.count(r"\begin{tabular}") == 2
    assert r"\textbackslash{}textbf\{50\%\_\$\#\}" in tex
    for line in tex.splitlines():
        if line.endswith(r"\\"):
            assert len(re.findall(r"(?<!\\)&", line)) in (2, 9), line
    lines = (out / "compare.md").read_text().splitlines()
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in lines if line.startswith("|")} == {4, 11}
    assert r"\<script\>" in lines[2]
    page = (out / "report.html").read_text()
    assert "<script>alert" not in page and "script-src 'sha256-" in page


def test_the_terminal_fits_eighty_columns_in_a_pipe(tmp_path: Path) -> None:
    names = [f"a rather long name of a system, number {n}" for n in range(3)]
    file = jsonl(tmp_path / "s.jsonl", [row for k, name in enumerate(names) for row in rows(name, 9 - 2 * k)])
    done = run(file, "-m", "rouge-l", "-m", "rovist-nr:variant=paper")
    assert done.exit_code == 0, done.output
    assert max(map(len, done.output.splitlines())) <= 80 and "…" not in done.output
    assert "Report:" not in done.output
    said = run(file, "-m", "rouge-l", "--json")
    assert json.loads(said.stdout)["pairs"][0]["metric"] == "rouge-l"


def test_words_fit_captions(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "s.jsonl", [*rows("x", 9), *rows("y", 5)])
    done = run(file, "-m", "rouge-l", "-o", tmp_path / "out")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "2 systems, 40 captions" in done.output
    assert "x against y" in page and "40 captions" in page
    for word in ("generated", "human", "stories", "story-"):
        assert word not in done.output
    body = re.sub(r"<(style|script)[^>]*>.*?</\1>", "", page, flags=re.S)
    assert "generated" not in body and "stories" not in body and "1 captions" not in body


def test_three_files_one_file_and_python_say_the_same(tmp_path: Path) -> None:
    systems = {"x": rows("x", 9), "y": rows("y", 7), "z": rows("z", 4)}
    whole = jsonl(tmp_path / "all.jsonl", [row for some in systems.values() for row in some])
    plain = {
        name: jsonl(
            tmp_path / f"{name}.jsonl", [{k: v for k, v in row.items() if k != "system"} for row in some]
        )
        for name, some in systems.items()
    }
    asked = ("-m", "bleu-4", "-m", "cider", "-m", "rovist-nr")
    run(whole, *asked, "-o", tmp_path / "one")
    run(*(f"{name}={path}" for name, path in plain.items()), *asked, "-o", tmp_path / "three")
    one, three = (json.loads((tmp_path / name / "compare.json").read_text()) for name in ("one", "three"))
    assert one["systems"] == three["systems"] and one["pairs"] == three["pairs"]
    found = compare(plain, ["bleu-4", "cider", "rovist-nr"], cache=None)
    assert found.summary["systems"] == one["systems"] and found.summary["pairs"] == one["pairs"]
    assert len(found.to_pandas()) == 9 and r"\midrule" in found.to_latex() and "| x |" in found.to_markdown()
    assert found.report(tmp_path / "python.html").read_text().startswith("<!doctype html>")


def test_a_system_against_itself_in_every_metric_of_texts() -> None:
    items = [Item(row["id"], text=row["text"], references=tuple(row["references"])) for row in rows("x", 8)]
    found = compare(
        {"a": items, "b": items}, ["bleu-1", "bleu-4", "rouge-l", "cider", "meteor", "rovist-nr"], cache=None
    )
    for pair in found.summary["pairs"]:
        assert (pair["difference"], pair["p"], pair["ties"], pair["wins"], pair["losses"]) == (
            0,
            1,
            40,
            0,
            0,
        ), pair
        assert (pair["low"], pair["high"]) == (0, 0)


def test_run_folders_are_made_one_measurement_or_refused(tmp_path: Path) -> None:
    for name, words in (("x", 9), ("y", 5)):
        plain = [{k: v for k, v in row.items() if k != "system"} for row in rows(name, words)]
        if name == "y":
            plain[0]["references"] = ["something else entirely"]
        jsonl(tmp_path / f"{name}.jsonl", plain)
        result = score(tmp_path / f"{name}.jsonl", ["cider", "rouge-l"], cache=None)
        folder = tmp_path / f"run-{name}"
        folder.mkdir()
        jsonl(folder / "scores.jsonl", [
            {"id": s.id, "system": None, "metric": s.metric, "score": s.score, "signature": s.signature,
             "evidence": {"counts": {key: list(value) for key, value in s.evidence.counts.items()}}}
            for s in result.scores
        ])  # fmt: skip
    asked = (f"x={tmp_path / 'run-x'}", f"y={tmp_path / 'run-y'}")
    refused = run(*asked, "-o", tmp_path / "out")
    assert isinstance(refused.exception, UsageError) and "df is corpus=" in str(refused.exception)
    assert not (tmp_path / "out" / "compare.json").exists()
    done = run(*asked, "-m", "rouge-l", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert len(json.loads((tmp_path / "out" / "compare.json").read_text())["pairs"]) == 1
    done = run(*asked, "--as-measured", "-o", tmp_path / "other", "--overwrite")
    assert done.exit_code == 0, done.output
    for place in (
        done.output,
        (tmp_path / "other" / "compare.json").read_text(),
        (tmp_path / "other" / "report.html").read_text(),
    ):
        assert "measured in different ways" in re.sub(r"\s+", " ", place)


def test_chances_as_they_stand_in_tables() -> None:
    assert [chance(p) for p in (None, 0.0004, 0.0123, 0.5, 1.0)] == ["–", "< .001", ".012", ".500", "1"]


# --- why


def phrase(similarity: float, weight: float, theta: float) -> PhraseEvidence:
    kept = similarity if similarity >= theta else similarity - theta
    return PhraseEvidence("x", 0, 0, 1, similarity, kept, weight, kept * weight)


def test_parts_phrases_and_words_tell_why() -> None:
    seen, unseen = Making(), Making()
    for making, similarity in ((seen, 0.9), (unseen, 0.2)):
        for n in range(4):
            making.add(
                Evidence(
                    phrases=(
                        replace(phrase(similarity, 3.0, 0.6), text="a rocket"),
                        phrase(0.8 + n / 100, 2.0, 0.6),
                    ),
                    parts={"P": 0.3},
                )
            )
    first = part_rows({"a": seen, "b": unseen}, ["a", "b"])
    by_name = {row.name: row.means for row in first}
    assert by_name["share of phrases not seen"] == [0.0, 0.5]
    assert by_name["phrases per word (P)"] == pytest.approx([0.3, 0.3]) and first[-1].apart == 0
    assert costly(seen) == [] and costly(unseen)[0][:2] == ("a rocket", 4)
    wording = {name: Wording() for name in "ab"}
    for name, text in (("a", "a dog runs"), ("b", "a zebra runs")):
        wording[name].add(Item("1", text=text, references=("the dog runs", "a dog runs fast", "one dog")))
    assert dict(wording["b"].unsupported) == {"zebra": 1} and wording["b"].missed["dog"] == 1
    assert more_of(wording["b"].unsupported, [wording["a"].unsupported]) == [("zebra", 1)]
    assert more_of(wording["a"].unsupported, [wording["b"].unsupported]) == []


def test_a_pair_keeps_its_shape() -> None:
    found = compared(board({"a": {"1": 1.0, "2": 3.0}, "b": {"1": 1.0, "2": 1.0}}))
    row = pair_row(found.pairs[0])
    assert row["difference"] == row["value_a"] - row["value_b"] == 1.0
    assert "| a |" in markdown(found, {}) and r"\bottomrule" in latex(found, {})
    assert replace(found, notes=["x|y"]).notes and r"x\|y" in markdown(replace(found, notes=["x|y"]), {})
