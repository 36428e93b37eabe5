"""The contract's own formats: JSON Lines, CSV and Parquet."""

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sightline.errors import UsageError
from sightline.io import BadLine, item_from_dict, read_items
from sightline.items import Item

ITEMS: list[dict[str, Any]] = [
    {
        "id": "a1",
        "images": ["p1.jpg", "sub/p2.jpg"],
        "text": "One, „two“. Two.",
        "references": ["A reference."],
        "system": "arel",
        "ratings": {"grounding": [3, 4, 4]},
        "regions": [[[0, 0, 10, 10]], [[1.5, 2, 3, 4], [0, 0, 1, 1]]],
    },
    {"id": "a2", "images": ["p1.jpg"], "sentences": ["One.", "Two."], "mood": "bright"},
    {"id": "a3", "images": [], "text": "No picture."},
]


def jsonl(path: Path, items: list[dict[str, Any]] = ITEMS) -> Path:
    path.write_text("".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items), "utf-8")
    return path


def csv(path: Path) -> Path:
    def cell(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value)

    columns = ["id", "images", "text", "sentences", "references", "system", "ratings", "regions", "mood"]
    lines = [",".join(columns)]
    for item in ITEMS:
        cells = [cell(item[name]) if name in item else "" for name in columns]
        lines.append(",".join('"' + text.replace('"', '""') + '"' for text in cells))
    path.write_text("\n".join(lines), "utf-8")
    return path


def parquet(path: Path) -> Path:
    columns = {
        key: [item.get(key) for item in ITEMS] for key in dict.fromkeys(k for item in ITEMS for k in item)
    }
    pq.write_table(pa.table(columns), path)
    return path


def without_source(item: Item) -> dict[str, Any]:
    return {name: getattr(item, name) for name in Item.__slots__ if name != "source"}


def test_jsonl_in_full(tmp_path: Path) -> None:
    one, two, three = read_items(jsonl(tmp_path / "items.jsonl"))
    assert one == Item(
        id="a1",
        images=(tmp_path / "p1.jpg", tmp_path / "sub" / "p2.jpg"),
        text="One, „two“. Two.",
        references=("A reference.",),
        system="arel",
        ratings={"grounding": (3.0, 4.0, 4.0)},
        regions=(((0.0, 0.0, 10.0, 10.0),), ((1.5, 2.0, 3.0, 4.0), (0.0, 0.0, 1.0, 1.0))),
        source=f"{tmp_path / 'items.jsonl'}:1",
    )
    assert two.sentences == ("One.", "Two.")
    assert two.extra == {"mood": "bright"}
    assert three.images == ()


def test_every_format_gives_the_same_items(tmp_path: Path) -> None:
    wanted = [without_source(item) for item in read_items(jsonl(tmp_path / "items.jsonl"))]
    for made in (csv(tmp_path / "items.csv"), parquet(tmp_path / "items.parquet")):
        assert [without_source(item) for item in read_items(made)] == wanted


@pytest.mark.parametrize("name", ["items.jsonl", "items.jsonl.gz", "items.data", "items.json", "items"])
def test_the_format_is_guessed(tmp_path: Path, name: str) -> None:
    data = jsonl(tmp_path / "plain.jsonl").read_bytes()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    assert [item.id for item in read_items(tmp_path / name)] == ["a1", "a2", "a3"]


@pytest.mark.parametrize("name", ["item.json", "item", "item.json.gz"])
@pytest.mark.parametrize("text", ["x", "x" * 100_000], ids=["short", "long"])
@pytest.mark.parametrize("end", ["", "\n", "\r\n\r\n"])
def test_a_file_of_one_item_is_known(tmp_path: Path, name: str, text: str, end: str) -> None:
    data = (json.dumps({"mood": "bright", "id": 7, "text": text}) + end).encode()
    (tmp_path / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    (item,) = read_items(tmp_path / name)
    assert (item.id, item.text) == ("7", text)


def test_an_object_that_is_no_item_is_not_taken_for_one(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    for content in ({"id": "a"}, {"text": "x"}, {"id": None, "text": "x"}):
        path.write_text(json.dumps(content))
        with pytest.raises(UsageError, match="format is not known"):
            read_items(path)


def test_no_sentences_beside_a_text_are_none_given(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "items.jsonl", [{"id": "a", "text": "One. Two.", "sentences": []}])
    table = pa.table({"id": ["a"], "text": ["One. Two."], "sentences": pa.array([[]], pa.list_(pa.string()))})
    pq.write_table(table, tmp_path / "items.parquet")
    for made in (path, tmp_path / "items.parquet"):
        (item,) = read_items(made)
        assert (item.sentences, item.whole_text) == (None, "One. Two.")


def test_a_parquet_file_is_known_by_its_content(tmp_path: Path) -> None:
    made = parquet(tmp_path / "items.parquet").rename(tmp_path / "items.bin")
    assert [item.id for item in read_items(made)] == ["a1", "a2", "a3"]


def test_byte_order_mark_and_windows_lines_do_no_harm(tmp_path: Path) -> None:
    for made in (jsonl(tmp_path / "items.jsonl"), csv(tmp_path / "items.csv")):
        wanted = [without_source(item) for item in read_items(made)]
        made.write_bytes(b"\xef\xbb\xbf" + made.read_bytes().replace(b"\n", b"\r\n") + b"\r\n\r\n")
        assert [without_source(item) for item in read_items(made)] == wanted


def test_paths_are_relative_to_the_file_and_may_be_absolute(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "items.jsonl", [{"id": "a", "images": ["../x.jpg", "/data/y.jpg"], "text": "x"}])
    (item,) = read_items(path)
    assert item.images == (tmp_path / ".." / "x.jpg", Path("/data/y.jpg"))


def test_a_caption_given_as_one_image_and_numeric_ids(tmp_path: Path) -> None:
    (item,) = read_items(jsonl(tmp_path / "x.jsonl", [{"id": 7, "images": "p.jpg", "text": "x"}]))
    assert (item.id, item.images) == ("7", (tmp_path / "p.jpg",))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"images": ["p.jpg"], "text": "x"}, "field 'id': is missing"),
        ({"id": " ", "text": "x"}, "field 'id': is empty"),
        ({"id": True, "text": "x"}, "field 'id': true or false instead of text"),
        ({"id": "a"}, "field 'text': is missing; give 'text' or 'sentences'"),
        ({"id": "a", "text": 5}, "field 'text': a number instead of text"),
        ({"id": "a", "sentences": [1]}, "field 'sentences': a number instead of text"),
        ({"id": "a", "sentences": ["x", None]}, "field 'sentences': null instead of text"),
        ({"id": "a", "text": "x", "images": [""]}, "field 'images': an image path is empty"),
        ({"id": "a", "text": "x", "images": ["https://x.org/p.jpg"]}, "field 'images': .* download"),
        ({"id": "a", "text": "x", "images": {"a": 1}}, "field 'images': an object instead of a picture"),
        ({"id": "a", "text": "x", "ratings": [3]}, "field 'ratings': a list instead of criteria"),
        ({"id": "a", "text": "x", "ratings": {"g": ["3"]}}, "field 'ratings': text instead of a number"),
        ({"id": "a", "text": "x", "ratings": {"g": float("nan")}}, "field 'ratings': nan"),
        ({"id": "a", "text": "x", "images": ["p"], "regions": [[[0, 0, 0, 1]]]}, "field 'regions': .* empty"),
        ({"id": "a", "text": "x", "images": ["p"], "regions": [[0, 0, 1, 1]]}, "field 'regions'"),
        ({"id": "a", "text": "x", "images": ["p"], "regions": []}, "field 'regions': 0 lists for 1"),
        ({"id": "a", "text": "half \ud800 a pair"}, "field 'text': a lone surrogate U\\+D800"),
        ({"id": "a", "text": "x", "more": 1 << 70}, "field 'other fields': cannot be stored"),
    ],
)
def test_what_is_wrong_is_told_by_field(given: dict[str, Any], told: str) -> None:
    with pytest.raises(BadLine, match=told) as caught:
        item_from_dict(given, Path(), "stories.jsonl:3")
    assert str(caught.value).startswith("stories.jsonl:3: ")
    assert caught.value.id == (given["id"] if given.get("id") == "a" else "")


def bad_file(tmp_path: Path) -> Path:
    path = tmp_path / "items.jsonl"
    lines = [
        '{"id": "a", "text": "x"}',
        '{"id": "b", "text": }',
        '{"id": "c", "text": 1}',
        "[1, 2]",
        '{"id": "d", "text": "y"}',
    ]
    path.write_text("\n".join(lines))
    return path


def test_bad_lines_stop_the_reading_or_are_collected(tmp_path: Path) -> None:
    path = bad_file(tmp_path)
    with pytest.raises(BadLine, match=r"items.jsonl:2: not JSON"):
        list(read_items(path))
    found = list(read_items(path, on_error="collect"))
    assert [item.id for item in found if isinstance(item, Item)] == ["a", "d"]
    bad = [(line.where, line.id) for line in found if isinstance(line, BadLine)]
    assert bad == [(f"{path}:2", ""), (f"{path}:3", "c"), (f"{path}:4", "")]


def test_a_file_of_nothing_but_bad_lines_is_wrong_use(tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    path.write_text('{"story": "x"}\n{"story": "y"}\n')
    with pytest.raises(UsageError, match=r"no item in it; .*items.jsonl:1: field 'id': is missing"):
        list(read_items(path, on_error="collect"))


def test_files_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "blank.jsonl").write_text("\n\n")
    (tmp_path / "wide.jsonl").write_text('{"id": 1}', "utf-16")
    (tmp_path / "half.gz").write_bytes(gzip.compress(b'{"id": "a", "text": "x"}\n' * 9999)[:-20])
    (tmp_path / "prose.doc").write_text("Once upon a time")
    (tmp_path / "odd.csv").write_text("a,b\n1,2\n")
    (tmp_path / "not.parquet").write_bytes(b"PAR1 nothing")
    for name, told in {
        "missing.jsonl": "no such file",
        ".": "folder",
        "empty.jsonl": "0 bytes",
        "blank.jsonl": "no item",
        "wide.jsonl": "UTF-16",
        "prose.doc": "format is not known",
        "odd.csv": "format is not known",
        "not.parquet": "not a readable Parquet",
        "half.gz": "cannot be read",
    }.items():
        with pytest.raises(UsageError, match=told) as caught:
            list(read_items(tmp_path / name))
        assert "\n" not in str(caught.value)


def test_format_is_a_name_with_options(tmp_path: Path) -> None:
    path = jsonl(tmp_path / "items.jsonl")
    for spec, told in {
        "jsonnl": "did you mean 'jsonl'",
        "jsonl:x=1": "takes no options",
        "csv": "no column 'id'",
    }.items():
        with pytest.raises(UsageError, match=told):
            list(read_items(path, format=spec))


def test_csv_rows_with_faults_are_told_by_line(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_bytes(
        b'id,images,text\na,"[""p.jpg""]","two\nlines"\nb,[broken,x\nc,p.jpg,x,y\nd,p.jpg,caf\xe9\ne,p.jpg,fine\n'
    )
    found = list(read_items(path, on_error="collect"))
    assert [item.id for item in found if isinstance(item, Item)] == ["a", "e"]
    told = [str(line) for line in found if isinstance(line, BadLine)]
    assert len(told) == 3
    assert "items.csv:4: field 'images': not JSON" in told[0]
    assert "items.csv:5: 4 cells for 3 columns" in told[1]
    assert "items.csv:6: field 'text': byte 0xe9 is not UTF-8" in told[2]
