"""Do two versions of Sightline give the same numbers, to the bit? One row a metric, and one a file of other commands.

    python benchmarks/measure_versions.py OLD/src NEW/src [--data DATA] [--items N]

Both versions score the bundled stories, captions of Flickr8k with pictures and references, and generated and human
VIST stories, and run `psych`, `corpus` and `meta` on the shared data. Each runs in processes of its own.
"""

import argparse
import csv
import gzip
import json
import math
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

GROUNDED = (
    "groovist", "groovist:weights=idf", "groovist:weights=none", "groovist:penalty=off", "groovist:units=nouns",
    "groovist:tanh=on", "rovist", "rovist-vg", "rovist-vg:form=scaled", "clipscore", "vicr",
)  # fmt: skip
SAID = ("rovist-c", "rovist-nr", "rovist-nr:variant=published")
REFERENCED = (
    "bleu-1", "bleu-2", "bleu-3", "bleu-4", "bleu-4:tokens=space", "sacrebleu", "rouge-l", "cider", "meteor",
    "scenegraph", "wmd",
)  # fmt: skip
SETS = {
    "stories": (*GROUNDED, *SAID),
    "captions": ("clipscore", "refclipscore", "vicr", *REFERENCED),
    "vist": (*SAID, *REFERENCED),
}
RUN = """
import json, sys, sightline
from sightline import demo
source, metrics = sys.argv[1], sys.argv[2].split(";")
found = sightline.score(demo.STORIES if source == "demo" else source, metrics, cache=None)
told = ("mean", "n", "failed", "corpus")
summary = {name: {key: row.get(key) for key in told} for name, row in found.summary["metrics"].items()}
rows = [(row.metric, row.id, row.score) for row in found.scores]
print(json.dumps({"summary": summary, "rows": rows}))
"""


def lines(path: Path) -> Iterator[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        yield from map(json.loads, file)


def write_items(data: Path, folder: Path, count: int) -> dict[str, str]:
    """The item files, by set."""
    said = defaultdict(list)
    with gzip.open(data / "flickr8k_captions.tsv.gz", "rt", encoding="utf-8") as file:
        for name, caption in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            said[name.split("#")[0]].append(caption)
    with (folder / "captions.jsonl").open("w") as out:
        for row in pq.read_table(data / "flickr8k_eval.parquet").slice(0, count).to_pylist():
            (folder / f"{row['file']}.webp").write_bytes(row["image"])
            text, *references = said[row["file"]]
            item = {
                "id": row["file"],
                "images": [f"{row['file']}.webp"],
                "text": text,
                "references": references,
            }
            out.write(json.dumps(item) + "\n")
    references = {row["album_id"]: row["references"] for row in lines(data / "vist_test_references.jsonl.gz")}
    with (folder / "vist.jsonl").open("w") as out:
        for row in islice(lines(data / "vist_arel_stories.jsonl.gz"), count):
            known = references[row["album_id"]]
            out.write(json.dumps({"id": row["album_id"], "text": row["story"], "references": known}) + "\n")
        for row in islice(lines(data / "vist_test_stories.jsonl.gz"), count):
            known = [" ".join(row["sentences"][::-1])]
            out.write(
                json.dumps({"id": row["story_id"], "sentences": row["sentences"], "references": known}) + "\n"
            )
    return {"stories": "demo", "captions": str(folder / "captions.jsonl"), "vist": str(folder / "vist.jsonl")}


def run(source: Path, *arguments: str) -> str:
    # one thread of BLAS: versions that left its number to the machine have other last bits on other machines
    path = {**os.environ, "PYTHONPATH": str(source), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, *arguments], env=path, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise SystemExit(f"{source}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def scores(
    source: Path, file: str, metrics: tuple[str, ...]
) -> tuple[dict[str, Any], dict[tuple[str, str], float]]:
    found = json.loads(run(source, "-c", RUN, file, ";".join(metrics)))
    return found["summary"], {(metric, id): score for metric, id, score in found["rows"]}


def tell(*cells: object) -> None:
    print("| " + " | ".join(map(str, cells)) + " |", flush=True)


def files(old: Path, new: Path, data: Path, folder: Path) -> Iterator[tuple[str, bool]]:
    """Other commands' tables, and whether they are equal, byte by byte."""
    pcm, hl = str(data / "pcm_example.csv"), folder / "hl.jsonl"
    commands = {
        "psych mml": (["psych", pcm], ("items.csv", "persons.csv")),
        "psych cml": (["psych", pcm, "--estimator", "cml"], ("items.csv", "persons.csv")),
        "corpus": (["corpus", str(hl), "--format", "hl"], ("pmi.csv", "diversity.csv")),
    }
    hl.write_text("".join(json.dumps(row) + "\n" for row in islice(lines(data / "hl_test.jsonl.gz"), 300)))
    for name, (command, made) in commands.items():
        for side, source in (("old", old), ("new", new)):
            run(source, "-m", "sightline", *command, "-o", str(folder / f"{name}-{side}"))
        for one in made:
            a, b = ((folder / f"{name}-{side}" / one).read_bytes() for side in ("old", "new"))
            yield f"{name}: {one}", a == b


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--items", type=int, default=200)
    given = parser.parse_args()
    tell("set", "metric", "scores", "old mean", "new mean", "different", "largest difference", "summary")
    tell(*["---"] * 8)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, file in write_items(given.data, folder, given.items).items():
            (before, old), (after, new) = (
                scores(source, file, SETS[kind]) for source in (given.old, given.new)
            )
            for metric in SETS[kind]:
                pairs = [(old.get(key), new.get(key)) for key in {**old, **new} if key[0] == metric]
                unequal = [pair for pair in pairs if pair[0] != pair[1]]
                gaps = [math.inf if None in pair else abs(pair[0] - pair[1]) for pair in unequal]
                same = "equal" if before[metric] == after[metric] else "differs"
                tell(
                    kind, metric, len(pairs), before[metric]["mean"], after[metric]["mean"], len(unequal),
                    f"{max(gaps, default=0):.3g}", same,
                )  # fmt: skip
        for name, equal in files(given.old, given.new, given.data, folder):
            tell("file", name, "", "", "", "", "", "equal" if equal else "differs")


if __name__ == "__main__":
    main()
