"""What a run leaves in its folder, for tests that hold runs against each other."""

import json
from pathlib import Path
from typing import Any


def results(folder: Path) -> dict[str, Any]:
    """Everything but what was typed and when."""
    summary = json.loads((folder / "summary.json").read_text())
    told = {name: value for name, value in summary.items() if name not in ("command", "date")}
    return {"summary": told} | {
        name: (folder / name).read_bytes() for name in ("scores.jsonl", "failures.jsonl")
    }
