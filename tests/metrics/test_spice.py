"""SPICE's driver against a stand-in for `java`: what it is asked, and what becomes of its answers and failures."""

import json
import sys
from pathlib import Path

import pytest

from sightline import score
from sightline.errors import UsageError
from sightline.items import Item
from sightline.jars import ask_spice, jar_files

ITEMS = [
    Item("1", text="A dog runs.", references=("A dog is running.", " ")),
    Item("2", text="Two cats.", references=("A man.",)),
    Item("none", text="Two cats."),
    Item("blank", text=" ", references=("A man.",)),
]
ANSWER = """
import json, sys
_, heap, _, jar, source, _, target, _ = sys.argv
asked = json.load(open(source))
json.dump(asked, open("asked.json", "w"))
given = [{"image_id": row["image_id"], "scores": {"All": {"f": len(row["refs"]) / 4, "pr": 0.5, "re": 0.25}}}
         for row in reversed(asked)]
json.dump(given, open(target, "w"))
"""


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, program: str) -> Path:
    java = folder / "java"
    java.write_text(f"#!{sys.executable}\n{program}\n")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    jar = folder / "spice-1.0.jar"
    jar.write_bytes(b"")
    return jar


def test_the_jars_answers_reach_their_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jar = stand_in(tmp_path, monkeypatch, ANSWER)
    found = score(ITEMS, ["spice"], cache=None, spice_jar=str(jar))
    assert [(row.id, row.score) for row in found.scores] == [("1", 0.25), ("2", 0.25)]
    assert found.scores[0].evidence.parts == {"precision": 0.5, "recall": 0.25}
    assert {f.id: f.reason for f in found.failures} == {
        "none": "there are no references",
        "blank": "the text has no words",
    }
    asked = json.loads((tmp_path / "asked.json").read_text())
    assert asked[0] == {"image_id": 0, "test": "A dog runs.", "refs": ["A dog is running."]}
    assert f"jar:{jar_files(jar).digest}" in found.summary["metrics"]["spice"]["signature"]


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (
            "import sys; sys.stderr.write('java.io.IOException: no models\\n\\tat edu.Main:1'); sys.exit(1)",
            "failed: java.io.IOException: no models",
        ),
        ("pass", "failed: no message"),
        ("import sys; open(sys.argv[6], 'w').write('[]')", "cannot be read"),
        ("import sys; open(sys.argv[6], 'w').write('{')", "cannot be read"),
        ("import time; time.sleep(30)", "no answer within 1 seconds"),
    ],
)
def test_a_failing_jar_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, message: str
) -> None:
    jar = stand_in(tmp_path, monkeypatch, program)
    with pytest.raises(UsageError, match=message):
        ask_spice(jar, [{"image_id": 0, "test": "a", "refs": ["a"]}], limit=1)
