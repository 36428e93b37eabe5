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
from sightline.items import Evidence
from sightline.metrics.base import Metric, Scored, metric


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
        able = [got for got in batch if any(text.strip() for text in got.item.references)]
        rows = [
            {"image_id": n, "test": got.item.whole_text, "refs": list(got.item.references)}
            for n, got in enumerate(able)
        ]
        found = iter(_run(_jar(tools), rows)) if rows else iter(())
        return [next(found) if got in able else Unscorable("there are no references") for got in batch]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"jar": _jar(tools).name}


def _jar(tools: Tools) -> Path:
    given = tools.option("spice_jar")
    if not given or not Path(given).is_file():
        raise UsageError("spice runs only through its jar: give --option spice_jar=PATH, or use scenegraph")
    if shutil.which("java") is None:
        raise UsageError("spice needs a Java runtime; without one, use scenegraph")
    return Path(given)


def _run(jar: Path, rows: Sequence[Mapping[str, Any]]) -> list[SpiceValue]:
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.json", Path(folder) / "out.json"
        source.write_text(json.dumps(rows), "utf-8")
        command = ["java", "-Xmx8G", "-jar", jar.name, str(source), "-out", str(target), "-silent"]
        done = subprocess.run(command, cwd=jar.parent, capture_output=True, text=True, check=False)
        if done.returncode != 0 or not target.is_file():
            last = (done.stderr.strip().splitlines() or ["no message"])[-1]
            raise UsageError(f"{jar.name} failed: {last}")
        scores = {row["image_id"]: row["scores"]["All"] for row in json.loads(target.read_text("utf-8"))}
    every = [scores[row["image_id"]] for row in rows]
    return [SpiceValue(float(s["f"]), float(s["pr"]), float(s["re"])) for s in every]


@metric("spice")
@dataclass(frozen=True)
class Spice(Metric):
    """Scene graph F-score by SPICE's own jar, where it is given."""

    def needs(self) -> tuple[Feature[Any], ...]:
        return (SpiceGraphs(),)

    def score(self, got: Features, fitted: Fitted) -> Scored:
        found = got[SpiceGraphs()]
        return found.f, Evidence(parts={"precision": found.precision, "recall": found.recall})
