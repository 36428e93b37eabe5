"""The HTML report: scores, their distributions, and the evidence for each. Knows nothing of how scores came about."""
