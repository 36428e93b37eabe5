"""Hostile files: whatever a file holds, out come items, bad lines, or one clear line of wrong use."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sightline.errors import UsageError
from sightline.io import BadLine, make_reader, read_items, readers
from sightline.items import Item
from sightline.pipeline.wire import decode, encode

FORMATS = sorted(readers)
fuzz = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def read_all(path: Path, format: str | None = None) -> list[Item | BadLine]:
    """What comes out, having checked that it can be stored; wrong use gives nothing."""
    try:
        found = list(read_items(path, format=format, on_error="collect"))
    except UsageError as told:
        assert str(told)
        return []
    for one in found:
        if isinstance(one, Item):
            assert decode(encode(one), Item) == one
    return found


@pytest.mark.parametrize(
    "line",
    [
        b'{"id": "x", "text": "' + b"a" * (1 << 20) + b'"}',
        b'{"id": "x", "text": "\\u0000\\u0007\\u001b[31m\\u202e\\ufeff"}',
        b'{"id": "x", "text": "tab\there"}',
        b'{"id": "x", "text": "\\ud800"}',
        b'{"id": "x", "text": "\xff\xfe"}',
        b'{"id": "x", "text": "caf\xe9"}',
        b'{"id": "x", "text": NaN}',
        b'{"id": "x", "text": "t", "ratings": {"g": [1e999]}}',
        b'{"id": "x", "text": "t", "ratings": {"g": [' + b"9" * 5000 + b"]}}",
        b'{"id": ' + b"9" * 5000 + b', "text": "t"}',
        b'{"id": "x", "text": "t", "a": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
        b'{"id": "x", "text": "t", "a": ' + b"[" * 900 + b"]" * 900 + b"}",
        b"[" * 20_000,
        b'{"id": "x", "id": "y", "text": "t"}',
        b'{"id": "x", "text": "<script>alert(1)</script>"}',
        b"\x00" * 1000,
        b"\xef\xbb\xbf\xef\xbb\xbf{}",
    ],
)
def test_a_hostile_line_leaves_its_neighbours_alone(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "items.jsonl"
    path.write_bytes(b'{"id": "before", "text": "t"}\n' + line + b'\n{"id": "after", "text": "t"}\n')
    found = read_all(path)
    assert [found[0].id, found[-1].id] == ["before", "after"]
    assert len(found) == 3


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.io.source.LONGEST_LINE", 1 << 17)
    path = tmp_path / "items.jsonl"
    path.write_bytes(b'{"id": "x", "text": "' + b"a" * (1 << 18))
    with pytest.raises(UsageError, match=r"items.jsonl:1: the line is longer"):
        list(read_items(path))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("items.jsonl", '{"id": "a", "text": "x"}\n{"id": "b", "text": "LONG"}\n{"id": "c", "text": "y"}\n'),
        ("items.csv", "id,text\na,x\nb,LONG\nc,y\n"),
        ("tokens.tsv", "a.jpg#0\tx\nb.jpg#0\tLONG\nc.jpg#0\ty\n"),
    ],
)
def test_reading_goes_on_after_a_line_that_is_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str, packed: bool
) -> None:
    monkeypatch.setattr("sightline.io.source.LONGEST_LINE", 1 << 17)
    monkeypatch.setattr("sightline.io.source.SKIPPED_AT_ONCE", 1 << 12)
    for length in (1 << 17, 1 << 19):
        data = text.replace("LONG", "z" * length).encode()
        path = tmp_path / (name + ".gz" if packed else name)
        path.write_bytes(gzip.compress(data) if packed else data)
        one, long, two = read_all(path)
        assert (one.id[0], two.id[0]) == ("a", "c")
        number = data[: data.index(b"zz")].count(b"\n") + 1
        assert str(long).startswith(f"{path}:{number}: the line is longer than")


def test_a_line_that_is_too_long_inside_a_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sightline.io.source.LONGEST_LINE", 1 << 17)
    path = tmp_path / "items.csv"
    path.write_text(f'id,text\na,x\nb,"two\n{"z" * (1 << 18)}"\nc,y\n')
    _, long, two = read_all(path)
    assert str(long).endswith("items.csv:4: the line is longer than 0 MB; lines 3 to 4 are not read")
    assert (two.id, two.source) == ("c", f"{path}:5")


def test_an_unclosed_quote_does_not_swallow_the_file_silently(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text('id,text\na,fine\nb,"never closed\n' + "c,x\n" * 5)
    found = read_all(path)
    assert [one.id for one in found if isinstance(one, Item)] == ["a"]
    (told,) = (str(one) for one in found if isinstance(one, BadLine))
    assert told.startswith(f"{path}:3: not a CSV row (a quote that is never closed")
    assert "the rows from line 3 to the end of the file, line 8, are not read" in told


def test_rows_lost_to_a_quote_that_closes_too_late_are_told(tmp_path: Path) -> None:
    path = tmp_path / "items.csv"
    path.write_text('id,text\na,"left open\nb,x\nc,"quoted"\nd,y\n')
    bad, item = read_all(path)
    assert str(bad).startswith(f"{path}:2: not a CSV row")
    assert "lines 2 to 4 are not read" in str(bad)
    assert item.id == "d"


@fuzz
@given(data=st.binary(max_size=300), format=st.sampled_from([None, *FORMATS]))
def test_random_bytes(tmp_path: Path, data: bytes, format: str | None) -> None:
    path = tmp_path / "file"
    path.write_bytes(data)
    read_all(path, format)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ITEM = "id images text sentences references system ratings regions"
PUBLISHED = (
    "file_name captions dataset image index caption rating storyid image_path image_id annotations story_id "
    "photo_flickr_id worker_arranged_photo_order scene object confidence"
)
KEYS = [*ITEM.split(), *PUBLISHED.split()]
records = st.dictionaries(st.sampled_from(KEYS), json_values, max_size=8)


@fuzz
@given(lines=st.lists(records, max_size=4), format=st.sampled_from(["jsonl", "hl", "composite"]))
def test_random_objects_a_line(tmp_path: Path, lines: list[dict], format: str) -> None:
    path = tmp_path / "file.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), "utf-8")
    read_all(path, format)


documents = (
    records
    | st.lists(records, max_size=3)
    | st.fixed_dictionaries(
        {"annotations": st.lists(st.lists(records, max_size=2) | records | json_values, max_size=3)}
    )
)


@fuzz
@given(document=documents, format=st.sampled_from(["vist", "coco", "coco-results", "aesop", None]))
def test_random_documents(tmp_path: Path, document: object, format: str | None) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(document), "utf-8")
    read_all(path, format)


HEADERS = (
    "id,images,text,ratings",
    "scene_full_id,story_id,link0,link1,text0,text1",
    "image,caption,num_ratings,ratings",
)


@fuzz
@given(
    header=st.sampled_from(HEADERS),
    body=st.text(st.characters(codec="utf-8") | st.sampled_from(',"\n[]{}0123456789/.'), max_size=120),
)
def test_random_tables(tmp_path: Path, header: str, body: str) -> None:
    path = tmp_path / "file.csv"
    path.write_text(f"{header}\n{body}", "utf-8")
    read_all(path)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "..", "/etc/passwd", "a/b/c", "a\\..\\b", "a\0b", "C:x", "x" * 300, ""]
)
def test_ids_of_published_files_never_lead_out_of_their_folder(tmp_path: Path, name: str) -> None:
    files = {
        "aesop.json": [{"storyid": name, "text": ["x"], "image_path": [name]}],
        "vist.json": {
            "annotations": [
                [{"story_id": "1", "photo_flickr_id": name, "worker_arranged_photo_order": 0, "text": "x"}]
            ]
        },
        "results.json": [{"image_id": name, "caption": "x"}],
    }
    for file, content in files.items():
        (tmp_path / file).write_text(json.dumps(content))
    lines = {
        "hl.jsonl": {"file_name": name, "captions": {"scene": ["x"]}},
        "composite.jsonl": {"dataset": "coco", "image": name, "index": 0, "caption": "x", "rating": 1},
    }
    for file, content in lines.items():
        (tmp_path / file).write_text(json.dumps(content) + "\n")
    for file in (*files, *lines):
        for item in read_all(tmp_path / file):
            if isinstance(item, Item):
                for image in item.images:
                    assert image.resolve().is_relative_to(tmp_path.resolve())


def test_reading_streams(tmp_path: Path, environment: dict[str, str]) -> None:
    """Peak memory does not grow with the file: 12 MB of lines are read in far less."""
    line = json.dumps({"id": "{}", "images": ["p.jpg"], "text": "x" * 600})
    jsonl, table = tmp_path / "items.jsonl.gz", tmp_path / "items.csv"
    with gzip.open(jsonl, "wt", compresslevel=1) as file:
        file.writelines(line.replace("{}", str(n), 1) + "\n" for n in range(20_000))
    with table.open("w") as file:
        file.write("id,images,text\n")
        file.writelines(f"{n},p.jpg,{'x' * 600}\n" for n in range(20_000))
    script = (
        "import sys, tracemalloc; from pathlib import Path; from sightline.io import read_items\n"
        "for name in sys.argv[1:]:\n"
        "    stream = read_items(Path(name)); tracemalloc.start(); n = sum(1 for _ in stream)\n"
        "    print(n, tracemalloc.get_traced_memory()[1]); tracemalloc.stop()\n"
    )
    words = [sys.executable, "-c", script, str(jsonl), str(table)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, check=True)
    for told in done.stdout.splitlines():
        lines, peak = map(int, told.split())
        assert lines == 20_000
        assert peak < 4 << 20, f"{peak >> 20} MB for 12 MB of lines"


def test_every_reader_says_what_it_reads() -> None:
    for name in FORMATS:
        assert readers.describe(name)
        assert len(readers.describe(name)) < 110
        assert callable(make_reader(name).read)
    published = "vist vwp aesop hl flickr8k coco coco-results composite vicr"
    assert {"jsonl", "csv", "parquet", *published.split()} <= set(FORMATS)
