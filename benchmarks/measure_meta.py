"""Every reference-based metric against people: prints the tables of docs/reference-metrics.md.

    python benchmarks/measure_meta.py DATA [--bert MODEL] [--paraphrases TABLE.gz] [--metric ROW …] [PROTOCOL …]

DATA is the folder with the protocols' files. MODEL is any transformers encoder for bertscore (a folder or a cached
name), TABLE METEOR's paraphrases (data/paraphrase-en.gz beside its jar). PROTOCOLs are flickr8k-expert, flickr8k-cf
and composite (all by default). In brackets, 95 % intervals from 1,000 bootstrap samples of the images.
"""

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from sightline.errors import UsageError
from sightline.meta.evaluate import evaluate
from sightline.meta.findings.words import TITLES, with_interval
from sightline.meta.protocols import make_protocol
from sightline.meta.scoring import score_items
from sightline.pipeline.settings import Settings

METRICS = (
    "bleu-1",
    "bleu-2",
    "bleu-3",
    "bleu-4",
    "rouge-l",
    "cider",
    "meteor",
    "scenegraph",
    "wmd",
    "sacrebleu",
    "spice",
)
PROTOCOLS = {"flickr8k-expert": "kendall_c", "flickr8k-cf": "kendall_b", "composite": "kendall_c"}


def measure(
    name: str, data: Path, bert: str | None, paraphrases: str | None, only: Sequence[str] | None
) -> None:
    protocol, coefficient = make_protocol(name), PROTOCOLS[name]
    items = protocol.items(data, pictures=False)
    runs = [(metric, metric, Settings()) for metric in METRICS]
    if paraphrases:
        given = Settings().with_options(paraphrases=paraphrases)
        runs.insert(METRICS.index("meteor") + 1, ("meteor", "meteor, with paraphrases", given))
    if bert:
        for options in ("", ",idf=on"):
            said = f"bertscore, {Path(bert).name}{' with idf' if options else ''}"
            runs.append((f"bertscore:model={bert}{options}", said, Settings()))
    print(f"\n{name}, {TITLES[coefficient]}", flush=True)
    for metric, said, settings in runs:
        if only and said not in only:
            continue
        start = time.perf_counter()
        try:
            scored = score_items(items, [metric], settings)
        except UsageError as fault:
            print(f"| {said} | not runnable here: {fault} |", flush=True)
            continue
        found = evaluate(items, scored.scores, observations=protocol.observations)
        cells = [
            f"{row.criterion} {with_interval(row, coefficient)} n={row.correlation.n}" for row in found.rows
        ]
        failed = f"; {len(scored.failures)} not scored" if scored.failures else ""
        seconds = time.perf_counter() - start
        print(f"| {said} | {' | '.join(cells)} | ({seconds:.0f} s{failed})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("protocols", nargs="*")
    parser.add_argument("--bert")
    parser.add_argument("--paraphrases")
    parser.add_argument("--metric", action="append", help="only this row, as it is printed; may repeat")
    given = parser.parse_intermixed_args()
    for name in given.protocols or PROTOCOLS:
        measure(name, given.data, given.bert, given.paraphrases, given.metric)


if __name__ == "__main__":
    main()
