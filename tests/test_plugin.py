"""A third party's metric: installed as a package, it stands in the list beside the built-in ones."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

METRIC = '''
from dataclasses import dataclass

from sightline.items import Evidence
from sightline.metrics import Metric, metric


@metric("word-count")
@dataclass(frozen=True)
class WordCount(Metric):
    """How many words the text has."""

    def score(self, got, fitted):
        return float(len(got.item.whole_text.split())), Evidence()
'''


def _wheel(folder: Path) -> Path:
    """A wheel as any build tool would make it."""
    path = folder / "tiny_metric-1.0-py3-none-any.whl"
    about = "tiny_metric-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("tiny_metric.py", METRIC)
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: tiny-metric\nVersion: 1.0\n")
        wheel.writestr(
            f"{about}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        wheel.writestr(f"{about}/entry_points.txt", "[sightline]\ntiny = tiny_metric\n")
        wheel.writestr(f"{about}/RECORD", "")
    return path


def test_an_installed_package_adds_its_metric(tmp_path: Path) -> None:
    site = tmp_path / "site"
    pip = [sys.executable, "-m", "pip", "install", "-q", "--no-index", "--no-deps", "--target", str(site)]
    subprocess.run([*pip, str(_wheel(tmp_path))], check=True, capture_output=True)
    source = Path(__file__).parents[1] / "src"
    environment = {**os.environ, "PYTHONPATH": f"{source}{os.pathsep}{site}", "COLUMNS": "200"}
    run = [sys.executable, "-m", "sightline"]
    listed = subprocess.run([*run, "metrics"], env=environment, capture_output=True, text=True, check=True)
    assert "word-count" in listed.stdout
    assert "How many words the text has." in listed.stdout

    (tmp_path / "items.jsonl").write_text('{"id": "a", "text": "one two three"}\n')
    scored = subprocess.run(
        [
            *run,
            "score",
            str(tmp_path / "items.jsonl"),
            "-m",
            "word-count",
            "-o",
            str(tmp_path / "out"),
            "--no-cache",
        ],
        env=environment,
        capture_output=True,
        text=True,
    )
    assert scored.returncode == 0, scored.stderr
    assert '"score":3.0' in (tmp_path / "out" / "scores.jsonl").read_text().replace(": ", ":")
