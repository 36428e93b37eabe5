"""`sightline.score` and what it gives back, on the demo's stories."""

import json
import math
from pathlib import Path

import pytest

import sightline
from sightline import Item
from sightline.demo import STORIES
from sightline.errors import UsageError

pytestmark = pytest.mark.usefixtures("noise")
QUICK = {"encoder": "noise", "regions": "windows", "region_count": 2, "cache": None}


def score(items: object, metrics: list[str], **more: object) -> sightline.Result:
    return sightline.score(items, metrics, **{**QUICK, **more})  # type: ignore[arg-type]


def test_a_file_gives_a_table_a_summary_and_a_report(tmp_path: Path) -> None:
    result = score(STORIES, ["groovist", "clipscore"])
    frame = result.to_pandas()
    assert list(frame.columns) == ["system", "groovist", "clipscore"]
    assert frame.index.name == "id" and len(frame) == len(result.items)
    assert frame["groovist"].mean() == pytest.approx(result.summary["metrics"]["groovist"]["mean"])
    assert result.summary["items"] == len(result.items)
    path = result.report(tmp_path / "report.html", title="From Python")
    assert path == tmp_path / "report.html"
    assert "<title>From Python</title>" in path.read_text("utf-8")
    assert result.report(str(tmp_path / "again.html")).is_file()


def test_dictionaries_and_items_score_as_the_file_does() -> None:
    picture = str(STORIES.parent / "pictures" / "cat.jpg")
    caption = "A close-up of a brown cat with green eyes and long whiskers."
    from_dict = score(
        [{"id": "a", "images": ["pictures/cat.jpg"], "text": caption}], ["clipscore"], base=STORIES.parent
    )
    from_item = score([Item("a", (Path(picture),), caption)], ["clipscore"])
    from_file = {found.id: found.score for found in score(STORIES, ["clipscore"]).scores}
    assert from_dict.scores[0].score == from_item.scores[0].score
    assert from_dict.scores[0].score == pytest.approx(from_file["cat-good"], abs=1e-6)


def test_what_cannot_be_scored_is_a_failure_and_nan() -> None:
    result = score(
        [
            {"id": "a", "images": [], "text": "Without pictures."},
            {"id": "a", "images": [], "text": "The same id again."},
            {"id": "b", "images": [str(STORIES.parent / "pictures" / "cat.jpg")], "text": "A spotted tiger."},
        ],
        ["groovist"],
    )
    assert [failure.id for failure in result.failures] == ["a", "a"]
    frame = result.to_pandas()
    assert math.isnan(frame.loc["a", "groovist"]) and not math.isnan(frame.loc["b", "groovist"])
    assert "system" not in frame


def test_it_shows_itself_in_notebooks_and_at_the_prompt() -> None:
    result = score(STORIES, ["clipscore", "groovist:weights=none"])
    shown = result._repr_html_()
    assert "<code>groovist:weights=none</code>" in shown and "clipscore|" in shown
    assert repr(result).startswith("<Result: clipscore 0.")


def test_hostile_text_is_escaped_in_notebooks() -> None:
    hostile = "<script>alert(1)</script>"
    result = score([{"id": hostile, "images": [], "text": "x y"}], ["clipscore"])
    assert result.failures and "<script>" not in result._repr_html_()


@pytest.mark.parametrize(
    ("items", "metrics", "says"),
    [
        (STORIES, "groovist", "metrics is a list"),
        (STORIES, ["grovist"], "did you mean 'groovist'"),
        (STORIES, [], "no metric is named"),
        (Path("nowhere.jsonl"), ["groovist"], "nowhere.jsonl"),
        ([{"id": "a", "image": "x"}], ["groovist"], "item 1"),
        ({"id": "a", "text": "x"}, ["groovist"], "list of items"),
        (["a story"], ["groovist"], "item 1"),
    ],
)
def test_wrong_use_is_told_in_one_line(items: object, metrics: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says) as told:
        score(items, metrics)
    assert "\n" not in str(told.value)


def test_bad_lines_of_a_file_are_failures_and_the_rest_is_scored(tmp_path: Path) -> None:
    file = tmp_path / "stories.jsonl"
    file.write_text('{"id": "a", "images": [], "text": "A dog runs. A cat sits."}\nnot JSON\n')
    result = score(file, ["rovist-nr"])
    assert [one.id for one in result.scores] == ["a"]
    assert [failure.source for failure in result.failures] == [f"{file}:2"]
    assert result.report(tmp_path / "new" / "folder" / "report.html").is_file()


def test_an_option_that_nothing_reads_is_refused() -> None:
    with pytest.raises(UsageError, match="unknown option 'thetta'; did you mean 'theta'"):
        score(STORIES, ["groovist"], thetta=0.6)


TALES = [
    {"id": id, "system": system, "text": text, "references": ["A dog runs over the grass."]}
    for id, said in {
        "1": {"a_b": "A dog runs over the grass.", "plain": "A cat sits on the grass."},
        "2": {"a_b": "A brown dog runs over grass.", "plain": ""},
    }.items()
    for system, text in said.items()
]


def test_tables_of_pandas_polars_markdown_and_latex() -> None:
    result = score(TALES, ["bleu-1", "rovist-nr"])
    pandas, polars = result.to_pandas().reset_index(), result.to_polars()
    assert list(polars.columns) == list(pandas.columns) == ["id", "system", "bleu-1", "rovist-nr"]
    assert polars["bleu-1"].to_list() == pandas["bleu-1"].tolist()
    assert polars["rovist-nr"].to_list()[3] is None and math.isnan(pandas["rovist-nr"][3])
    corpus = result.summary["systems"]["a_b"]["bleu-1"]["corpus"]
    low = result.summary["systems"]["a_b"]["bleu-1"]["corpus_low"]
    assert corpus != result.summary["systems"]["a_b"]["bleu-1"]["mean"]
    row = next(line for line in result.to_markdown().splitlines() if "a\\_b" in line)
    assert f"{corpus:.4f}" in row and f"{low:.4f}" in row, "the published number, with its own interval"
    latex = result.to_latex()
    assert r"\toprule" in latex and r"a\_b & " in latex and latex.count(r"\\") == 3
    assert f"bleu-1 {result.summary['metrics']['bleu-1']['corpus']:.4f}" in repr(result)
    single = score([{"text": "A dog runs. It sleeps."}], ["rovist-nr"])
    assert "| all | " in single.to_markdown() and "system" not in single.to_polars().columns


def test_a_folder_is_loaded_as_it_was_scored(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from sightline.cli.app import load_commands

    file = tmp_path / "tales.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in TALES))
    words = ["-m", "bleu-1,rovist-nr", "--no-cache", "-o"]
    ran = CliRunner().invoke(load_commands(), ["score", str(file), *words, str(tmp_path / "out")])
    assert ran.exit_code == 3, ran.output
    loaded, scored = sightline.Result.load(tmp_path / "out"), score(file, ["bleu-1", "rovist-nr"])
    assert [(s.key, s.metric, s.score) for s in loaded.scores] == [
        (s.key, s.metric, s.score) for s in scored.scores
    ]
    assert [item.key for item in loaded.items] == [item.key for item in scored.items]
    assert loaded.summary["systems"] == scored.summary["systems"]
    assert loaded.to_polars().equals(scored.to_polars())
    assert len(loaded.failures) == len(scored.failures) == 1
    assert loaded.report(tmp_path / "again.html").is_file()
    ran = CliRunner().invoke(
        load_commands(),
        ["compare", str(tmp_path / "out"), "-m", "bleu-1", "-o", str(tmp_path / "compared")],
    )
    compared = sightline.Result.load(tmp_path / "compared")
    assert compared.to_pandas()["bleu-1"].notna().all() and len(compared.to_pandas()) == 4
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(UsageError, match="no finished run in it"):
            sightline.Result.load(folder)


def test_a_verdict_as_tables() -> None:
    found = sightline.compare(TALES, ["bleu-1"], cache=None)
    assert found.to_polars().columns == list(found.to_pandas().columns)
    assert found.to_polars()["a"].to_list() == ["a_b"]
    value = found.summary["systems"]["a_b"]["bleu-1"]
    assert (
        f"{value['corpus']:.4f} \\[{value['corpus_low']:.4f}, {value['corpus_high']:.4f}\\]"
        in found.to_markdown()
    )
    assert "<li>bleu-1: a_b" in found._repr_html_()
