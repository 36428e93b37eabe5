"""What a command says where scores could not be made: how many, the usual reason, and what mends it."""

from collections import Counter
from pathlib import Path

from sightline.charts import counted
from sightline.cli.consoles import remark
from sightline.io.scores import FAILURES, read_failures

MENDS = {
    "there are no references": "give them with each item, or in a file: --format coco-results:references=FILE",
    "there is no picture": "give each item its images; paths are relative to the file",
}
"""What mends failures of every item, by how their reason begins."""


def tell_failed(folder: Path, out: Path | None) -> None:
    """`folder` has the results; `out` is where the user finds them, if anywhere."""
    reasons = Counter(failure.reason for failure in read_failures(folder / FAILURES))
    usual = reasons.most_common(1)[0][0]
    why = usual if len(reasons) == 1 else f"most often: {usual}"
    where = f"; {out / FAILURES} tells each" if out else ""
    remark(f"{counted(reasons.total(), 'score')} could not be made ({why}){where}.")
    mends = next((how for start, how in MENDS.items() if usual.startswith(start)), None)
    if mends:
        remark(f"To mend it: {mends}")
