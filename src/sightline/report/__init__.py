"""The HTML report: scores, their distributions, and the evidence for each.

Knows nothing of how scores came about.
"""

from sightline.report.write import write_report

__all__ = ["write_report"]
