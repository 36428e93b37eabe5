"""The report's section on what could not be used."""

from collections.abc import Sequence

from sightline.items import Failure
from sightline.report import page, parts
from sightline.report.page import Markup, Section

REASONS = 100
"""Reasons that are listed, the most frequent ones."""
EXAMPLES = 5
LONGEST = 80
"""Characters of an example."""


def failures_section(found: Sequence[Failure]) -> Section | None:
    """Reasons with how often each holds and for what, the most frequent first."""
    if not found:
        return None
    by_reason: dict[tuple[str, str], list[Failure]] = {}
    for failure in found:
        by_reason.setdefault((failure.reason, failure.metric), []).append(failure)
    listed = sorted(by_reason.items(), key=lambda pair: -len(pair[1]))
    rows = [[reason, kind, len(own), _examples(own)] for (reason, kind), own in listed[:REASONS]]
    body = page.table(["reason", "of what", "times", "such as"], rows)
    if len(listed) > REASONS:
        body += Markup('<p class="quiet">and {:,} more reasons</p>').format(len(listed) - REASONS)
    intro = (
        "What could not be used; all the rest is in the numbers above. A picture that cannot be shown keeps its "
        "captions and their measures. failures.jsonl has each one with its file and line."
    )
    return Section("Failures", parts.card(body), intro)


def _examples(found: Sequence[Failure]) -> str:
    names = list(dict.fromkeys(_name(failure) for failure in found))
    return ", ".join(names[:EXAMPLES]) + (", …" if len(names) > EXAMPLES else "")


def _name(failure: Failure) -> str:
    """The picture's id, or file and line where there is none; no whole path."""
    name = failure.id or failure.source.replace("\\", "/").rpartition("/")[2]
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}…"
