"""`sightline.score` and what it gives back, on the demo's stories."""

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
