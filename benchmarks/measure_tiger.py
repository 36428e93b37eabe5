"""How far TIGEr with the embedded eyes agrees with people. Needs the folder of real data.

    python benchmarks/measure_tiger.py DATA [--captions 1200]

Prints Kendall tau_c with the single ratings of so many captions of Flickr8k-Expert, evenly taken, with 95 % intervals
over the photos, for both ways in which words meet regions, beside clipscore on the same captions.
"""

import argparse
from pathlib import Path

from sightline.meta.evaluate import evaluate
from sightline.meta.findings.words import with_interval
from sightline.meta.protocols import make_protocol
from sightline.meta.scoring import score_items
from sightline.pipeline.settings import Settings

METRICS = ("tiger", "tiger:words=attended", "clipscore")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--captions", type=int, default=1200)
    given = parser.parse_args()
    protocol = make_protocol("flickr8k-expert")
    every = protocol.items(given.data)
    items = [every[len(every) * n // given.captions] for n in range(given.captions)]
    print("| metric | tau_c | ratings |\n|---|---|---|")
    for name in METRICS:
        scored = score_items(items, [name], Settings())
        row = evaluate(items, scored.scores, **protocol.rules()).row(name, "match")
        print(f"| {name} | {with_interval(row, 'kendall_c')} | {row.correlation.n:,} |", flush=True)


if __name__ == "__main__":
    main()
