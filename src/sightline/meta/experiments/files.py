"""What an experiment leaves: its table as Markdown and JSON, a page that draws it, and failures.jsonl."""

import json
from pathlib import Path

from sightline.io.results import write_whole
from sightline.meta.experiments.base import Table
from sightline.meta.experiments.page import experiment_page
from sightline.meta.experiments.words import compact
from sightline.meta.findings.files import markdown_table, write_failures


def write_experiment(found: Table, folder: Path, name: str) -> None:
    """A table as Markdown and JSON, a page that draws it, and failures.jsonl."""
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    about = {"title": found.title, "notes": list(found.notes), "rows": rows}
    text = json.dumps(about, indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / f"{name}.json", text + "\n")
    notes = "".join(f"{note}.\n\n" for note in found.notes)
    write_whole(folder / f"{name}.md", f"# {found.title}\n\n{notes}{markdown_table(*compact(found))}\n")
    write_whole(folder / f"{name}.html", experiment_page(found))
    write_failures(found.failures, folder)
