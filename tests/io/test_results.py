"""Results reach the disk whole, once, and by one run at a time."""

import csv
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sightline.errors import UsageError
from sightline.io.results import LOCK, ResultFolder
from sightline.items import Evidence, Failure


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_every_form(tmp_path: Path) -> None:
    with ResultFolder(tmp_path / "deep" / "out") as out:
        out.json("a.json", {"n": np.int64(3), "mean": np.nan, "x": np.arange(2.0), "lone": "\ud800"})
        out.jsonl("a.jsonl", ({"n": n} for n in range(2)))
        out.csv(
            "a.csv", ("id", "score", "keep"), [("=1+1", np.float64(0.5), True), ("b", float("nan"), None)]
        )
        out.parquet("a.parquet", pa.table({"id": ["a"]}))
        out.text("a.html", ("<p>", "ä"))
        out.bytes("a.png", b"\x89")
        assert out.status == 0
        out.failures([Failure("a", "groovist", "the text is empty", "f.jsonl:1", "arel")])
        assert out.status == 3
    place = tmp_path / "deep" / "out"
    assert names(place) == ["a.csv", "a.html", "a.json", "a.jsonl", "a.parquet", "a.png", "failures.jsonl"]
    assert json.loads((place / "a.json").read_text()) == {
        "n": 3, "mean": None, "x": [0.0, 1.0], "lone": "\ud800",
    }  # fmt: skip
    assert (place / "a.csv").read_text() == "id,score,keep\n'=1+1,0.5,true\nb,,\n"
    assert pq.read_table(place / "a.parquet").to_pylist() == [{"id": "a"}]
    assert (place / "a.html").read_text("utf-8") == "<p>ä"
    failure = json.loads((place / "failures.jsonl").read_text())
    assert list(failure) == ["id", "system", "metric", "reason", "source"]


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_cell_is_a_formula(tmp_path: Path, start: str) -> None:
    with ResultFolder(tmp_path) as out:
        out.csv("a.csv", (f"{start}name",), [(f"{start}cmd",), (-1.5,)])
    with (tmp_path / "a.csv").open(newline="") as file:
        assert list(csv.reader(file)) == [[f"'{start}name"], [f"'{start}cmd"], ["-1.5"]]


def test_what_fails_half_way_is_not_there(tmp_path: Path) -> None:
    def rows():
        yield {"n": 1}
        raise UsageError("the second is bad")

    with ResultFolder(tmp_path) as out:
        out.text("a.jsonl", "old")
        with pytest.raises(UsageError, match="the second is bad"):
            out.jsonl("a.jsonl", rows())
        with pytest.raises(TypeError, match="an object has no place"):
            out.json("b.json", {"a": object()})
    assert names(tmp_path) == ["a.jsonl"]
    assert (tmp_path / "a.jsonl").read_text() == "old"


def test_dataclasses_are_written_as_their_fields(tmp_path: Path) -> None:
    with ResultFolder(tmp_path) as out:
        out.json("a.json", Evidence(threshold=0.5))
    assert json.loads((tmp_path / "a.json").read_text())["threshold"] == 0.5


def test_a_folder_in_the_way_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.json").mkdir()
    (tmp_path / "file").write_text("")
    with (
        ResultFolder(tmp_path) as out,
        pytest.raises(UsageError, match=r"a.json: cannot write there \(a folder"),
    ):
        out.json("a.json", {})
    with pytest.raises(UsageError, match=r"file: cannot write there"), ResultFolder(tmp_path / "file"):
        pass
    with (
        pytest.raises(UsageError, match=r"below: cannot write there"),
        ResultFolder(tmp_path / "file" / "below"),
    ):
        pass


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    # a process may be told to write little: the system's own way to say that there is no room
    code = """
        import resource, signal, sys
        from pathlib import Path
        from sightline.errors import UsageError
        from sightline.io.results import ResultFolder
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (5000, 5000))
        with ResultFolder(Path(sys.argv[1])) as out:
            try:
                out.text("a.html", "x" * 10_000)
            except UsageError as fault:
                print(fault)
    """
    done = _python(code, tmp_path)
    assert done.stdout.strip() == f"{tmp_path / 'a.html'}: cannot write there (File too large)", done.stderr
    assert names(tmp_path) == []


def test_one_run_at_a_time(tmp_path: Path) -> None:
    with ResultFolder(tmp_path):
        with pytest.raises(UsageError) as told, ResultFolder(tmp_path):
            pass
        assert str(told.value) == f"{tmp_path}: another run (pid {os.getpid()}) is writing here"
    with ResultFolder(tmp_path):  # and again when the first is done
        pass
    assert names(tmp_path) == []


def test_what_a_killed_run_left_is_taken_over(tmp_path: Path) -> None:
    code = """
        import os, signal, sys
        from pathlib import Path
        from sightline.io.results import ResultFolder, whole
        with ResultFolder(Path(sys.argv[1])) as out, whole(Path(sys.argv[1]) / "a.json") as file:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
    """
    assert _python(code, tmp_path).returncode == -9
    assert LOCK in names(tmp_path)
    assert len(names(tmp_path)) == 2
    with ResultFolder(tmp_path) as out:
        out.json("a.json", {})
    assert names(tmp_path) == ["a.json"]


def test_many_at_once_never_both(tmp_path: Path) -> None:
    code = """
        import sys, time
        from pathlib import Path
        from sightline.errors import UsageError
        from sightline.io.results import ResultFolder
        for _ in range(200):
            try:
                with ResultFolder(Path(sys.argv[1])):
                    mark = Path(sys.argv[1]) / "inside"
                    mark.touch(exist_ok=False)
                    mark.unlink()
            except UsageError as fault:
                assert "is writing here" in str(fault), fault
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path)]
    both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [(run.wait(), run.stderr.read()) for run in both if run.stderr] == [(0, ""), (0, "")]


def _python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code), str(folder)],
        capture_output=True,
        text=True,
        check=False,
    )


def test_what_other_programs_write_comes_in_place_whole_or_not_at_all(tmp_path: Path) -> None:
    out = tmp_path / "model"
    with ResultFolder(out) as results:
        with results.staged() as folder:
            (folder / "vocab").mkdir()
            (folder / "vocab" / "words").write_text("a\n")
            assert not (out / "vocab").exists()
        assert (out / "vocab" / "words").read_text() == "a\n"
        with pytest.raises(ZeroDivisionError), results.staged() as folder:
            (folder / "half").write_text("ha")
            raise ZeroDivisionError
        (out / ".left.part").mkdir()  # by a run that was killed
    assert [path.name for path in out.iterdir()] == ["vocab"]
