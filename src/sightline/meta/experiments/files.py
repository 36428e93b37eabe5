"""What an experiment leaves: its table as Markdown and JSON, a page that draws it, and failures.jsonl."""

from sightline.io.results import ResultFolder
from sightline.meta.experiments.base import ExperimentTable
from sightline.meta.experiments.page import experiment_page
from sightline.meta.experiments.words import compact
from sightline.meta.findings.files import markdown_table


def write_experiment(found: ExperimentTable, out: ResultFolder, name: str) -> None:
    """A table as Markdown and JSON, a page that draws it, and failures.jsonl."""
    rows = [dict(zip(found.columns, row, strict=True)) for row in found.rows]
    out.json(f"{name}.json", {"title": found.title, "notes": found.notes, "rows": rows})
    notes = "".join(f"{note}.\n\n" for note in found.notes)
    out.text(f"{name}.md", f"# {found.title}\n\n{notes}{markdown_table(*compact(found))}\n")
    out.text(f"{name}.html", experiment_page(found))
    out.failures(found.failures)
