"""Data out and in again: the contract's form, VICR's CSV, HL's JSON Lines."""

import csv
import gzip
import io
import json

import pytest
from server_studies import drawing, make_study
from sqlalchemy import select
from test_storage import FREE, join, rate, turn
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.io import read_items
from sightline.server import exchange, setup
from sightline.server.exchange.published import import_published
from sightline.server.storage import schema as t
from sightline.server.storage.database import Database
from skipping import skip


@pytest.fixture
def played(sqlite):
    stored = make_study(sqlite, FREE + "ratings_per_item = 3\n", main=6)
    for n in range(4):
        rater = join(sqlite, stored, f"Person {n}")
        while task := turn(sqlite, stored, rater):
            rate(sqlite, stored, rater, task.item, 1 + (task.item + n) % 5)
    return stored


def out(database, stored, what, form, **options):
    with database.read() as connection:
        return exchange.export(connection, stored, what, form, **options)


def rows(text):
    return [json.loads(line) for line in text.decode().splitlines()]


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_items_and_ratings_make_the_round_trip(sqlite, played, tmp_path, form):
    for n in range(3):
        (tmp_path / f"{n}.png").write_bytes(drawing(n))
    items = [{**row, "images": ["0.png"]} for row in rows(out(sqlite, played, "items", "jsonl"))]
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    (tmp_path / f"ratings.{form}").write_bytes(out(sqlite, played, "ratings", form))
    other = Database(str(tmp_path / "other.db"))
    other.migrate()
    prepared = setup.prepare(played.study, tmp_path, slug="copy")
    with other.write() as connection:
        stored = setup.store(connection, prepared, public=False)
        assert exchange.import_ratings(connection, stored, tmp_path / f"ratings.{form}") == 18
        assert (
            exchange.import_ratings(connection, stored, tmp_path / f"ratings.{form}") == 0
        )  # again: nothing new
    key = lambda row: (row["item"], row["rater"])  # noqa: E731
    before, after = (
        sorted(rows(out(*pair, "ratings", "jsonl")), key=key) for pair in ((sqlite, played), (other, stored))
    )
    assert after == before
    ratings = [{r["id"]: sorted(r["ratings"]["overall"]) for r in rows(out(*pair, "items", "jsonl"))}
               for pair in ((sqlite, played), (other, stored))]  # fmt: skip
    assert ratings[0] == ratings[1]
    with other.read() as connection:
        assert sorted(connection.execute(select(t.Item.people, t.Item.free)).all()) == [(3, 0)] * 6
    other.close()


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_exported_items_are_items_of_the_contract(sqlite, played, tmp_path, form):
    path = tmp_path / f"items.{form}"
    path.write_bytes(out(sqlite, played, "items", form))
    found = list(read_items(path))
    assert len(found) == 6
    assert all(len(item.ratings["overall"]) == 3 and item.system == "sys" for item in found)


def test_known_answers_of_the_checks_count_in_the_export(sqlite):
    """One rater is right in the probation, one is not; where they differ, the first is believed."""
    settings = "ratings_per_item = 2\nchecks = {gold = 0.0, attention = 0.0}\n"
    settings += "training = {tutorial = 0, probation = 20, accuracy = 0.0}\n"
    stored = make_study(sqlite, settings, main=30, training=20)
    with sqlite.read() as connection:
        level = {
            row.id: 1 + int(row.key.split("-")[1]) % 5
            for row in connection.execute(select(t.Item.id, t.Item.key))
        }
    for name, wrong in (("Right", 0), ("Wrong", 2)):
        rater = join(sqlite, stored, name)
        while task := turn(sqlite, stored, rater):
            rate(sqlite, stored, rater, task.item, 1 + (level[task.item] - 1 + wrong) % 5)
    found = [row for row in rows(out(sqlite, stored, "items", "jsonl")) if row.get("role") != "training"]
    assert len(found) == 30
    assert all(row["likely_level"] == 1 + int(row["id"].split("-")[1]) % 5 for row in found)
    assert all(0 < row["likely_share"] <= 1 for row in found)


def test_people_leave_as_codes(sqlite, played):
    for what in ("items", "ratings", "vicr"):
        assert b"Person" not in out(sqlite, played, what, "csv" if what == "vicr" else "jsonl")
    assert b"Person 1" in out(sqlite, played, "ratings", "jsonl", names=True)


def test_a_caption_is_no_formula(sqlite, played):
    with sqlite.write() as connection:
        connection.execute(
            t.Item.__table__.update().values(content={"text": "=HYPERLINK(1)", "pictures": []})
        )
    lines = list(csv.reader(io.StringIO(out(sqlite, played, "vicr", "csv").decode("utf-8-sig"))))
    assert lines[1][1] == "'=HYPERLINK(1)"


@pytest.mark.data
def test_vicr_as_published_comes_back_line_by_line(sqlite, data):
    with sqlite.write() as connection:
        stored, count = import_published(connection, "vicr", data / "vicr_sample.csv", "vicr")
    published = (data / "vicr_sample.csv").read_text("utf-8-sig")
    lines = list(csv.reader(io.StringIO(published)))
    back = list(csv.reader(io.StringIO(out(sqlite, stored, "vicr", "csv").decode("utf-8-sig"))))
    assert count == sum(int(line[3]) for line in lines[1:])
    assert back[0] == lines[0]
    assert sorted(back[1:]) == sorted(lines[1:])


@pytest.mark.data
def test_hl_as_published_comes_back_picture_by_picture(sqlite, data, tmp_path):
    with gzip.open(data / "hl_test.jsonl.gz", "rt", encoding="utf-8") as lines:
        published = [json.loads(line) for _, line in zip(range(60), lines, strict=False)]
    (tmp_path / "hl.jsonl").write_text("\n".join(map(json.dumps, published)))
    with sqlite.write() as connection:
        stored, count = import_published(connection, "hl", tmp_path / "hl.jsonl", "hl")
    back = {row["file_name"]: row for row in rows(out(sqlite, stored, "hl", "jsonl"))}
    assert count == 180
    for row in published:
        axes = ("scene", "action", "rationale")
        assert back[row["file_name"]]["captions"] == {axis: row["captions"][axis] for axis in axes}
        assert back[row["file_name"]]["confidence"] == {axis: row["confidence"][axis] for axis in axes}


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("r.jsonl", '{"item": "main-0", "rater": "x", "value": 9}', ":1: 9 is not on the scale"),
        ("r.jsonl", '{"item": "nope", "rater": "x", "value": 3}', "item 'nope' is not in study"),
        ("r.jsonl", '{"item": "main-0", "value": 3}', "have the columns item, rater and value"),
        ("r.jsonl", "[1]", ":1: not a JSON object"),
        ("r.jsonl", "{", ":1: not JSON"),
        ("r.csv", "item,rater,value\nmain-0,x,three\n", ":2: 'three' is not on the scale"),
        ("r.parquet", "no parquet", "not a readable Parquet file"),
    ],
)
def test_bad_ratings_are_told_with_their_line_and_change_nothing(sqlite, tmp_path, name, text, why):
    stored = make_study(sqlite, FREE)
    (tmp_path / name).write_text(text)
    with pytest.raises(UsageError, match=why), sqlite.write() as connection:
        exchange.import_ratings(connection, stored, tmp_path / name)
    with sqlite.read() as connection:
        assert connection.execute(select(t.Rater.id)).all() == []


def test_the_commands(sqlite, played, tmp_path, memory):
    run = lambda *line: CliRunner().invoke(load_commands(), list(line))  # noqa: E731
    db = str(memory / "ratings.db")
    done = run(
        "ratings", "export", "captions", "-o", str(tmp_path / "r.csv"), "--what", "ratings", "--db", db
    )
    assert done.exit_code == 0, done.output
    assert run("ratings", "import", str(tmp_path / "r.csv"), "--study", "captions", "--db", db).exit_code == 0
    for line, why in [
        (("export", "captons", "-o", str(tmp_path / "r.csv"), "--db", db), "did you mean 'captions'"),
        (("export", "captions", "-o", str(tmp_path / "r.xls"), "--db", db), "name it"),
        (
            ("export", "captions", "-o", str(tmp_path / "r.csv"), "--db", str(tmp_path / "no.db")),
            "no such database",
        ),
        (("import", str(tmp_path / "none.csv"), "--study", "captions", "--db", db), "no such file"),
    ]:
        failed = run("ratings", *line)
        assert isinstance(failed.exception, UsageError)
        assert why in str(failed.exception)


@pytest.mark.parametrize(("what", "form"), [("ratings", "csv"), ("ratings", "parquet"), ("items", "jsonl")])
def test_an_export_tells_what_is_in_it(sqlite, played, tmp_path, memory, what, form):
    """As Croissant metadata, in which mlcroissant finds nothing wrong, and through which it reads every row."""
    try:
        import mlcroissant
    except ImportError as fault:
        skip(f"mlcroissant is not there: {fault}")
    file = tmp_path / f"{what}.{form}"
    line = [
        "ratings",
        "export",
        "captions",
        "-o",
        str(file),
        "--what",
        what,
        "--db",
        str(memory / "ratings.db"),
        "--croissant",
    ]
    done = CliRunner().invoke(load_commands(), [*line, "--license", "CC-BY-4.0"])
    assert done.exit_code == 0, done.output
    dataset = mlcroissant.Dataset(tmp_path / f"{what}.croissant.json")
    assert not dataset.metadata.ctx.issues.errors
    told = list(dataset.records(what))
    expected = rows(out(sqlite, played, what, "jsonl"))
    assert len(told) == len(expected) > 0
    name = "item" if what == "ratings" else "id"
    assert [row[f"{what}/{name}"].decode() for row in told] == [str(row[name]) for row in expected]


def test_the_export_holds_the_wording_that_raters_saw(sqlite, played):
    told = json.loads(out(sqlite, played, "wording", "jsonl"))
    assert told["kind"] == "rating game" and len(told["scale"]["levels"]) == 5
    assert "names most of the objects" in told["scale"]["levels"][1]["meaning"]
