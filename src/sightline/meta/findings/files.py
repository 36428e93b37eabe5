"""What `sightline meta` leaves of a study: meta.json, meta.md, a report, and failures.jsonl."""

from collections.abc import Sequence

from sightline.io.results import ResultFolder
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


def write_findings(study: Findings, out: ResultFolder) -> None:
    """meta.json, meta.md, report.html and failures.jsonl."""
    out.json("meta.json", study.to_json())
    out.text("meta.md", markdown(study))
    out.text("report.html", findings_page(study))
    out.failures(study.failures)


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
