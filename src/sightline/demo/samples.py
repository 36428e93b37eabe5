"""Files to try every command on: stories, and two systems' texts for the same pictures."""

import json
import shutil
from pathlib import Path
from typing import Any

from sightline.demo import STORIES
from sightline.errors import UnwritableError, UsageError

SYSTEMS = {"ours": "mediocre", "theirs": "wrong"}
"""What the two systems tell; the good texts stand as references."""


def leave_samples(folder: Path) -> list[Path]:
    """Write stories.jsonl, ours.jsonl, theirs.jsonl and pictures/; nothing that is there already is touched."""
    rows = [json.loads(line) for line in STORIES.read_text("utf-8").splitlines()]
    stories = [{name: value for name, value in row.items() if name != "system"} for row in rows]
    files = {"stories": [row for row in stories if len(row["images"]) > 1]}
    files |= {name: told_by(version, rows) for name, version in SYSTEMS.items()}
    paths = [*(folder / f"{name}.jsonl" for name in files), folder / "pictures"]
    for path in paths:
        if path.exists():
            raise UsageError(f"{path}: is there already; go to an empty folder, or move it away")
    try:
        shutil.copytree(STORIES.parent / "pictures", folder / "pictures")
        for name, chosen in files.items():
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in chosen)
            (folder / f"{name}.jsonl").write_text(lines, "utf-8")
    except OSError as fault:
        raise UnwritableError(f"{fault.filename or folder}: cannot be written ({fault.strerror})") from None
    return paths


def told_by(version: str, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One version of each set of pictures, with the good text of the same pictures as reference."""
    said = {row["id"]: row.get("text") or " ".join(row["sentences"]) for row in rows}
    found = []
    for row in rows:
        name, _, own = row["id"].rpartition("-")
        if own == version:
            bare = {key: value for key, value in row.items() if key != "system"}
            found.append({**bare, "id": name, "references": [said[f"{name}-good"]]})
    return found
