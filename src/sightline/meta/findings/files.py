"""What `sightline meta` leaves of a study: meta.json, meta.md, a report, and failures.jsonl."""

import json
from collections.abc import Sequence
from pathlib import Path

from sightline.io.results import write_whole
from sightline.items import Failure
from sightline.meta.findings.page import findings_page
from sightline.meta.findings.words import (
    Findings,
    Value,
    comparison_table,
    criteria,
    joined,
    method,
    reasons,
    table_of,
)


def write_findings(study: Findings, folder: Path) -> None:
    """meta.json, meta.md, report.html and, where items failed, failures.jsonl."""
    text = json.dumps(study.to_json(), indent=2, ensure_ascii=False, allow_nan=False)
    write_whole(folder / "meta.json", text + "\n")
    write_whole(folder / "meta.md", markdown(study))
    write_whole(folder / "report.html", findings_page(study))
    write_failures(study.failures, folder)


def write_failures(failures: Sequence[Failure], folder: Path) -> None:
    """failures.jsonl, empty where everything could be scored."""
    rows = [{"id": f.id, "metric": f.metric, "reason": f.reason, "source": f.source} for f in failures]
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    write_whole(folder / "failures.jsonl", text)


def markdown(study: Findings) -> str:
    """The tables as Markdown."""
    found = study.evaluation
    parts = [f"# Metrics against people: {study.protocol.name}", study.protocol.keeps + ".", method(study)]
    for criterion in criteria(found):
        parts.append(f"## {criterion}")
        parts.append(markdown_table(*table_of(study, criterion)))
        parts.extend(reasons(found, criterion))
        heads, pairs = comparison_table(study, criterion)
        if pairs:
            parts.append(markdown_table(heads, pairs))
    parts.extend(found.notes)
    parts.append("Signatures: " + ", ".join(f"`{signature}`" for signature in study.signatures.values()))
    return "\n\n".join(parts) + "\n"


def markdown_table(heads: Sequence[str], rows: Sequence[Sequence[Value]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    lines += ["| " + " | ".join(joined(value).replace("|", "\\|") for value in row) + " |" for row in rows]
    return "\n".join(lines)
