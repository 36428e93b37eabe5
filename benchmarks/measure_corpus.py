"""How near `sightline corpus` comes to HL's published numbers on its test split. Needs the folder of real data.

    python benchmarks/measure_corpus.py

Prints the statistics of the paper's Table 2, the published diversities that are reproduced, confidences, correlations,
and how each embedded purity scorer goes with the published BLEURT scores.
"""

import os
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from sightline.corpus.analysis import CorpusAnalysis, CorpusSettings, analyse
from sightline.corpus.measures import column
from sightline.corpus.purity import load_scorer
from sightline.corpus.summary import summary
from sightline.meta.correlation import correlate

DATA = Path(os.environ.get("SIGHTLINE_DATA", Path(__file__).parents[2] / "shared" / "data"))
SCORERS = ("embedded", "sentence", "pocket")


def main() -> None:
    console = Console()
    found = analyse(DATA / "hl_test.jsonl.gz", CorpusSettings(), progress=lambda stage, done, total: None)
    told = summary(found)
    table = Table(title="Table 2's columns, and confidence")
    for name in ("axis", "tokens", "length", "unique", "captions", "confidence"):
        table.add_column(name, justify="left" if name == "axis" else "right")
    for axis, row in {
        **told["axes"],
        "together": {**told["total"], "confidence": told["confidence"]},
    }.items():
        sure = f"{row['confidence']['mean']:.3f}" if row["confidence"] else "–"
        table.add_row(
            axis,
            f"{row['tokens']:,}",
            f"{row['length']:.2f}",
            f"{row['unique']:,}",
            f"{row['captions']:,}",
            sure,
        )
    console.print(table)
    same = told["published"]["self_bleu"]
    console.print(f"published diversities reproduced to 1e-6: {same['equal']:,} of {same['n']:,}")
    for kind, links in (
        ("published", told["published"]["correlations"]),
        ("ours", told["correlations"]["axes"]),
    ):
        for one in links:
            console.print(f"{kind}: {one['x']} ~ {one['y']}: r = {one['pearson']:.3f} (n = {one['n']:,})")
    _scorers(found, console)


def _scorers(found: CorpusAnalysis, console: Console) -> None:
    """Each scorer's purity of every axis with the published one."""
    entries = [entry for chunk in found.entries.chunks(256) for entry in chunk]
    groups = [[c.text for c in entries[row.place].axes[row.axis]] for row in found.rows]
    published = column(found.rows, "published_purity")
    axes = np.array([row.axis for row in found.rows])
    table = Table(title="Purity with the published BLEURT scores, axis by axis")
    for name in ("scorer", "Pearson", "Spearman", *dict.fromkeys(axes.tolist())):
        table.add_column(name, justify="left" if name == "scorer" else "right")
    for name in SCORERS:
        purity = np.array([scores.mean() for scores in load_scorer(name).score(groups)])
        every = correlate(purity, published).values
        own = [
            correlate(purity[axes == axis], published[axes == axis]).values["pearson"]
            for axis in dict.fromkeys(axes)
        ]
        table.add_row(name, *(f"{value:.3f}" for value in (every["pearson"], every["spearman"], *own)))
    console.print(table)


if __name__ == "__main__":
    main()
