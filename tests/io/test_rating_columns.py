"""Ratings from tables of any shape, by a mapping of columns."""

from pathlib import Path

import pytest

from doors import command
from sightline.errors import SightlineError, UsageError
from sightline.io.rating_columns import mapped_ratings
from sightline.io.ratings import read_ratings

LONG = "HIT,Worker,Score,Q\nc1,w1,4,clear\nc1,w2,,clear\nc2,w1,2.5,true\n"
CRITERIA = "HIT,Worker,Answer.clear,Answer.true,Comment\nc1,w1,4,5,nice\nc2,w1,2,1,-\n"
RATERS = "caption,anna,bob\nc1,4,5\nc2,,1\n"
ITEMS = "person,c1,c2,age\nanna,4,NA,30\nbob,5,1,41\n"
WORDS = "HIT,Worker,Score\nc1,w1,agree\nc2,w1,neutral\n"


def told(text: str, mapping: list[str], path: Path, **more: object) -> list[tuple[str, str, str, float]]:
    path.write_text(text)
    return [(r.item, r.rater, r.criterion, r.value) for r in mapped_ratings(path, mapping, **more)]


@pytest.mark.parametrize(
    ("text", "mapping", "found"),
    [
        (
            LONG,
            ["item=HIT", "rater=Worker", "rating=Score", "criterion=Q"],
            [("c1", "w1", "clear", 4.0), ("c2", "w1", "true", 2.5)],
        ),
        (
            CRITERIA,
            ["item=HIT", "rater=Worker", "criteria=Answer.*"],
            [
                ("c1", "w1", "Answer.clear", 4.0),
                ("c1", "w1", "Answer.true", 5.0),
                ("c2", "w1", "Answer.clear", 2.0),
                ("c2", "w1", "Answer.true", 1.0),
            ],
        ),
        (
            RATERS,
            ["item=caption", "raters=*"],
            [("c1", "anna", "overall", 4.0), ("c1", "bob", "overall", 5.0), ("c2", "bob", "overall", 1.0)],
        ),
        (
            ITEMS,
            ["rater=person", "items=c?"],
            [("c1", "anna", "overall", 4.0), ("c1", "bob", "overall", 5.0), ("c2", "bob", "overall", 1.0)],
        ),
    ],
)
def test_every_shape(text: str, mapping: list[str], found: object, tmp_path: Path) -> None:
    assert told(text, mapping, tmp_path / "t.csv") == found


def test_answers_in_words(tmp_path: Path) -> None:
    mapping = ["item=HIT", "rater=Worker", "rating=Score"]
    found = told(WORDS, mapping, tmp_path / "t.csv", levels={"agree": 5, "neutral": 3})
    assert [value for *_, value in found] == [5, 3]


@pytest.mark.parametrize(
    ("text", "mapping", "message"),
    [
        (LONG, ["item=HIT"], "--map has item; a table is one of: item=… rater=… rating=…"),
        (LONG, ["item=HIT", "rater=Who", "rating=Score"], "there is no column 'Who'; there are HIT, Worker"),
        (LONG, ["HIT"], "write ROLE=COLUMN"),
        (LONG, ["item=HIT", "item=Q", "rater=Worker", "rating=Score"], "a column of item already"),
        (RATERS, ["item=caption", "raters=x*"], "no column is 'x*'; there are anna, bob"),
        (RATERS, ["item=caption", "raters=*", "criterion=anna"], "a table is one of"),
        (
            WORDS,
            ["item=HIT", "rater=Worker", "rating=Score"],
            r"t.csv:2.*'agree' is no number; --level 'agree=NUM",
        ),
        ("a,b\n,1\n", ["item=a", "raters=b"], "t.csv:2.*column 'a' is empty"),
        ("a,b\n", ["item=a", "raters=b"], "holds no"),
    ],
)
def test_what_is_wrong_is_one_clear_line(text: str, mapping: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(
        SightlineError, match=message.replace("*'", "[*]'") if "x*" in message else message
    ) as caught:
        told(text, mapping, tmp_path / "t.csv")
    assert "\n" not in str(caught.value)


def test_from_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(WORDS)
    maps = [word for one in ("item=HIT", "rater=Worker", "rating=Score") for word in ("--map", one)]
    levels = ["--level", "agree=5", "--level", "neutral=3"]
    said = command("ratings", "convert", tmp_path / "t.csv", *maps, *levels, "-o", tmp_path / "r.csv")
    assert "2 ratings of 2 items by 1 raters" in said
    assert [one.value for one in read_ratings(tmp_path / "r.csv")] == [5, 3]
    with pytest.raises(UsageError, match="write WORDS=NUMBER"):
        command(
            "ratings", "convert", tmp_path / "t.csv", *maps, "--level", "agree", "-o", tmp_path / "r2.csv"
        )
    with pytest.raises(UsageError, match=r"name it .jsonl or .csv"):
        command("ratings", "convert", tmp_path / "t.csv", *maps, "-o", tmp_path / "r.xlsx")
