"""An analysis as people read it: files, plots, verdicts in words, and the report."""
