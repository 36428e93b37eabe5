"""One reader of rows: what is in a row, where it stands, and what is told of a file that is no table."""

import gzip
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sightline.errors import UsageError
from sightline.io.json_csv import safe_cell
from sightline.io.table import read_rows, unmarked

fuzz = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
CSV = 'name,value\r\nann,1\r\n\r\n"bob, jr",\r\n'


def write(path: Path, data: str | bytes) -> Path:
    data = data.encode() if isinstance(data, str) else data
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t", "t.dat"])
def test_csv_by_line(tmp_path: Path, name: str) -> None:
    path = write(tmp_path / name, "\ufeff" + CSV)
    assert list(read_rows(path)) == [
        (f"{path}:2", {"name": "ann", "value": "1"}),
        (f"{path}:4", {"name": "bob, jr", "value": None}),
    ]


def test_all_kinds_hold_the_same_rows(tmp_path: Path) -> None:
    wanted = [{"name": "ann", "value": 1}, {"name": "bob", "value": None}]
    lines = write(tmp_path / "t.jsonl", "\n\n".join(map(json.dumps, wanted)))
    document = write(tmp_path / "t.json", json.dumps(wanted))
    pq.write_table(pa.Table.from_pylist(wanted), tmp_path / "t.parquet")
    assert [(row.where, row.cells) for row in read_rows(lines)] == [
        (f"{lines}:1", wanted[0]),
        (f"{lines}:3", wanted[1]),
    ]
    assert [row.cells for row in read_rows(document)] == wanted
    assert [(row.where, row.cells) for row in read_rows(tmp_path / "t.parquet")] == [
        (f"{tmp_path / 't.parquet'}:1", wanted[0]),
        (f"{tmp_path / 't.parquet'}:2", wanted[1]),
    ]
    for mark, name in ((";", "t.csv"), ("\t", "t.tsv"), ("\t", "t.txt")):
        found = read_rows(write(tmp_path / name, f"name{mark}value\nann{mark}1\nbob{mark}\n"))
        assert [row.cells for row in found] == [{"name": "ann", "value": "1"}, {"name": "bob", "value": None}]


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("t.csv", "a,b\n1,2\n1,2,3\n", "t.csv:3: 3 cells for 2 columns"),
        ("t.csv", "a,a\n1,2\n", "t.csv:1: two columns have the same name, 'a'"),
        ("t.csv", 'a,b\n1,"2\n3,4\n', "t.csv:2: not a CSV row (a quote that is never closed"),
        ("t.csv", b"a,b\n1,caf\xe9\n", "t.csv:2: column 'b': byte 0xe9 is not UTF-8"),
        ("t.jsonl", '{"a": 1}\n[1]\n', "t.jsonl:2: not a JSON object"),
        ("t.jsonl", '{"a": 1}\n{\n', "t.jsonl:2: not JSON"),
        ("t.parquet", "no", "t.parquet: not a readable Parquet file"),
        ("t.csv", "", "t.csv: the file is empty"),
        ("t.csv", "a,b\n1,\n", "t.csv:2: 'b' is missing"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(
    tmp_path: Path, name: str, data: str | bytes, told: str
) -> None:
    with pytest.raises(UsageError) as fault:
        list(read_rows(write(tmp_path / name, data), need=["b"] if "1,\n" in str(data) else []))
    assert told in str(fault.value)


@fuzz
@given(
    data=st.binary(max_size=200)
    | st.text(alphabet='ab1,;"\n\r\t\x00\x1b\u202e{}[]:é', max_size=80).map(str.encode),
    name=st.sampled_from(["t.csv", "t.tsv", "t.jsonl", "t.json", "t.parquet", "t", "t.csv.gz"]),
)
@example(data=b"a,b\n" + b"x" * (1 << 21) + b",1\n", name="t.csv")
@example(data=b'{"a": "' + b"\\u0007" * (1 << 18) + b'"}\n', name="t.jsonl")
def test_any_bytes_give_rows_or_one_line(tmp_path: Path, data: bytes, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(data)
    try:
        assert all(isinstance(row.cells, dict) for row in read_rows(path))
    except UsageError as told:
        assert str(told).startswith(str(path)) and "\n" not in str(told)


@given(st.text(alphabet="'=+-@\t\ra1 ", max_size=6))
def test_the_mark_against_formulas_goes_again(text: str) -> None:
    assert unmarked(safe_cell(text)) == text
    assert not safe_cell(text).startswith(("=", "+", "-", "@", "\t", "\r"))
