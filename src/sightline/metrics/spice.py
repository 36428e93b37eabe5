"""SPICE (Anderson et al. 2016), only through its own jar; `scenegraph` is the measure without one."""

import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import Unscorable, UsageError
from sightline.features.base import Feature, Features, Fitted, Tools
from sightline.features.meteor import jar_files
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric

LIMIT = 3600.0
"""Seconds that the jar may take for a batch."""


@dataclass(frozen=True)
class SpiceValue:
    f: float
    precision: float
    recall: float


@dataclass(frozen=True)
class SpiceGraphs(Feature[SpiceValue]):
    """What the jar says of each text."""

    value = SpiceValue

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[SpiceValue | Unscorable]:
        able = [got for got in batch if self._why_not(got) is None]
        rows = [
            {
                "image_id": n,
                "test": got.item.whole_text,
                "refs": [r for r in got.item.references if r.strip()],
            }
            for n, got in enumerate(able)
        ]
        found = iter(run_jar(_jar(tools), rows)) if rows else iter(())
        return [Unscorable(reason) if (reason := self._why_not(got)) else next(found) for got in batch]

    def _why_not(self, got: Features) -> str | None:
        if not any(text.strip() for text in got.item.references):
            return "there are no references"
        return None if got.item.whole_text.strip() else "the text has no words"

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"jar": jar_files(_jar(tools)).digest}


def _jar(tools: Tools) -> Path:
    given = tools.option("spice_jar")
    if not given or not Path(given).is_file():
        raise UsageError("spice runs only through its jar: give --option spice_jar=PATH, or use scenegraph")
    if shutil.which("java") is None:
        raise UsageError("spice needs a Java runtime; without one, use scenegraph")
    return Path(given)


def run_jar(jar: Path, rows: Sequence[Mapping[str, Any]], limit: float = LIMIT) -> list[SpiceValue]:
    """The jar reads a file and writes one; nothing is left running, and an answer that is not whole is a failure."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.json", Path(folder) / "out.json"
        source.write_text(json.dumps(rows), "utf-8")
        command = ["java", "-Xmx8G", "-jar", jar.name, str(source), "-out", str(target), "-silent"]
        try:
            done = subprocess.run(
                command,
                cwd=jar.parent,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            raise UsageError(f"{jar.name} gave no answer within {limit:g} seconds and was stopped") from None
        if done.returncode != 0 or not target.is_file():
            raise UsageError(f"{jar.name} failed: {_reason(done.stderr)}")
        try:
            answers = json.loads(target.read_text("utf-8"))
            scores = {row["image_id"]: row["scores"]["All"] for row in answers}
            every = [scores[row["image_id"]] for row in rows]
            return [SpiceValue(*(float(one[key]) for key in ("f", "pr", "re"))) for one in every]
        except (ValueError, KeyError, TypeError) as fault:
            raise UsageError(f"{jar.name} gave an answer that cannot be read ({fault!r})") from None


def _reason(said: str) -> str:
    """The line of Java's message that names the error, not the stack below it."""
    lines = [
        line.strip() for line in said.splitlines() if line.strip() and not line.strip().startswith("at ")
    ]
    return next(
        (line for line in lines if "Exception" in line or "Error" in line), (lines or ["no message"])[-1]
    )


@metric("spice")
@dataclass(frozen=True)
class Spice(Metric):
    """Scene graph F-score by SPICE's own jar, where it is given."""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (SpiceGraphs(),)

    def score(self, got: Features, fitted: Fitted) -> Scored:
        found = got[SpiceGraphs()]
        return found.f, Evidence(parts={"precision": found.precision, "recall": found.recall})
