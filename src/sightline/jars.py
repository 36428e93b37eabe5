"""The Java programs of published metrics, METEOR 1.5 and SPICE: each asked in its own protocol, none left running."""

import importlib.util
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sightline.errors import UsageError, install_command
from sightline.resources import Resource

LIMIT = 3600.0
"""Seconds that a jar may take for a batch."""


def installed_meteor() -> Path | None:
    """METEOR 1.5's jar, where pycocoevalcap is installed."""
    found = importlib.util.find_spec("pycocoevalcap")
    for folder in (found.submodule_search_locations or ()) if found else ():
        jar = Path(folder) / "meteor" / "meteor-1.5.jar"
        if jar.is_file():
            return jar
    return None


def meteor_jar(given: str | None) -> Path:
    """The jar that the user gave, or one that is installed; raises UsageError where it cannot run."""
    jar = Path(given) if given else installed_meteor()
    _need_java("meteor:engine=java", "meteor")
    if jar is None or not jar.is_file():
        raise UsageError(f"meteor:engine=java needs meteor-1.5.jar: {install_command('pycocoevalcap')}")
    return jar


def spice_jar(given: str | None) -> Path:
    """The jar that the user gave; raises UsageError where it cannot run."""
    if not given or not Path(given).is_file():
        raise UsageError("spice runs only through its jar: give --option spice_jar=PATH, or use scenegraph")
    _need_java("spice", "scenegraph")
    return Path(given)


def _need_java(metric: str, instead: str) -> None:
    if shutil.which("java") is None:
        raise UsageError(f"{metric} needs a Java runtime; without one, use {instead}")


def ask_meteor(jar: Path, lines: Sequence[str], *, norm: bool = True, limit: float = LIMIT) -> list[str]:
    """One answer for each line of METEOR's protocol; `norm` has the jar cut words anew.

    Raises UsageError where the jar fails or does not answer every line.
    """
    arguments = ["-", "-", "-stdio", "-l", "en", *(["-norm"] if norm else [])]
    done = _run(jar, "-Xmx2G", arguments, limit, "\n".join(lines) + "\n")
    answers = done.stdout.splitlines()
    if done.returncode != 0 or len(answers) != len(lines):
        raise _failed(jar, done.stderr or f"{len(answers)} answers to {len(lines)} lines")
    return answers


def ask_spice(
    jar: Path, rows: Sequence[Mapping[str, Any]], limit: float = LIMIT
) -> list[tuple[float, float, float]]:
    """F, precision and recall of each row of `image_id`, `test` and `refs`.

    Raises UsageError where the jar fails or its answer is not whole.
    """
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "in.json", Path(folder) / "out.json"
        source.write_text(json.dumps(rows), "utf-8")
        done = _run(jar, "-Xmx8G", [str(source), "-out", str(target), "-silent"], limit)
        if done.returncode != 0 or not target.is_file():
            raise _failed(jar, done.stderr)
        try:
            scores = {row["image_id"]: row["scores"]["All"] for row in json.loads(target.read_text("utf-8"))}
            every = [scores[row["image_id"]] for row in rows]
            return [(float(one["f"]), float(one["pr"]), float(one["re"])) for one in every]
        except (ValueError, KeyError, TypeError) as fault:
            raise UsageError(f"{jar.name} gave an answer that cannot be read ({fault!r})") from None


def jar_files(jar: Path) -> Resource:
    """A Java program with the data and libraries that lie beside it."""
    beside = [one for folder in ("data", "lib") for one in (jar.parent / folder).rglob("*") if one.is_file()]
    return Resource.folder(jar.parent, [jar, *beside])


def _run(
    jar: Path, memory: str, arguments: Sequence[str], limit: float, given: str = ""
) -> subprocess.CompletedProcess[str]:
    """All input in, all output out, so that neither side waits for the other's buffer."""
    try:
        return subprocess.run(
            ["java", memory, "-jar", jar.name, *arguments],
            cwd=jar.parent,
            input=given,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        raise UsageError(f"{jar.name} gave no answer within {limit:g} seconds and was stopped") from None


def _failed(jar: Path, said: str) -> UsageError:
    """With the line of Java's message that names the error, not the stack below it."""
    stripped = map(str.strip, said.splitlines())
    lines = [line for line in stripped if line and not line.startswith("at ")] or ["no message"]
    named = next((line for line in lines if "Exception" in line or "Error" in line), lines[-1])
    return UsageError(f"{jar.name} failed: {named}")
