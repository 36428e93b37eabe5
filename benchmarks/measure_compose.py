"""How well `compose` joins HL's test captions: kept sources, grammar, and sentences drawn at random for reading.

python benchmarks/measure_compose.py DATA [--count 300] [--shown 30] [--seed 0]

DATA is the folder of the shared data (hl_test.jsonl.gz). Prints two shares and a Markdown table.
"""

import argparse
import gzip
import json
import random
from collections import Counter
from pathlib import Path

from sightline.generate.compose import Composer
from sightline.generate.kept import Sources

AXES = ("scene", "action", "rationale")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("data", type=Path)
    asked.add_argument("--count", type=int, default=300)
    asked.add_argument("--shown", type=int, default=30)
    asked.add_argument("--seed", type=int, default=0)
    given = asked.parse_args()
    with gzip.open(given.data / "hl_test.jsonl.gz", "rt") as file:
        rows = [json.loads(line)["captions"] for line in file]
    threes = [Sources(*(row[axis][k] for axis in AXES)) for row in rows for k in range(3)]
    lot = random.Random(given.seed)
    drawn = lot.sample(threes, given.count)
    found = Composer().compose(drawn)
    kept = sum(not one.lost for one in found)
    right = sum(not one.faults for one in found)
    gone = Counter(axis for one in found for axis in one.lost)
    print(f"{len(found)} threes: {kept} kept all three sources ({kept / len(found):.1%}), lost {dict(gone)}")
    print(f"{right} grammatical by the embedded pipeline ({right / len(found):.1%})")
    for one in found:
        if one.faults:
            print(f"  {'; '.join(one.faults)}: {one.text}")
    print("\n| scene | action | rationale | sentence |\n| --- | --- | --- | --- |")
    for place in lot.sample(range(len(found)), given.shown):
        cells = (*drawn[place].told().values(), found[place].text)
        print("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")


if __name__ == "__main__":
    main()
