"""`sightline corpus` on a corpus of HL's size, beside a bare spaCy pass over the same captions. Needs the real data.

    python benchmarks/bench_corpus.py [--captions N] [--processes N]

The HL test split is repeated under new ids until there are so many captions. Nothing is remembered from one caption to
an equal one, so repeating changes neither side. Memory is that of all processes together, a shared page counted once.
"""

import argparse
import gzip
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import spacy
from rich.console import Console
from rich.table import Table

from sightline.text.spacy_language import BATCH, EMBEDDED

DATA = Path(os.environ.get("SIGHTLINE_DATA", Path(__file__).parents[2] / "shared" / "data"))


def repeated(count: int, path: Path) -> list[str]:
    """Write an HL file of so many captions, and return them."""
    with gzip.open(DATA / "hl_test.jsonl.gz") as file:
        lines = [json.loads(line) for line in file]
    captions: list[str] = []
    with path.open("w") as out:
        for number, line in enumerate(itertools.cycle(lines)):
            if len(captions) >= count:
                return captions
            out.write(json.dumps({**line, "file_name": f"{number}_{line['file_name']}"}) + "\n")
            captions += [caption for axis in line["captions"].values() for caption in axis]
    return captions


def memory(pid: int) -> int:
    """Bytes of a process and of those it started; a page that several share counts in parts."""
    try:
        rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
        children = [
            int(child)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for child in (task / "children").read_text().split()
        ]
    except (OSError, ValueError):
        return 0
    own = next((int(line.split()[1]) << 10 for line in rollup.splitlines() if line.startswith("Pss:")), 0)
    return own + sum(map(memory, children))


def run(command: list[str]) -> tuple[float, int]:
    """Seconds and peak bytes."""
    begun, peak = time.perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, memory(process.pid))
            time.sleep(0.3)
    if process.returncode:
        raise SystemExit(f"sightline corpus ended with status {process.returncode}")
    return time.perf_counter() - begun, peak


def bare(captions: list[str], left_out: list[str]) -> float:
    """Seconds of a pass with nothing but the pipeline, in one process."""
    nlp = spacy.load(EMBEDDED, exclude=left_out)
    begun = time.perf_counter()
    for _ in nlp.pipe(captions, batch_size=BATCH):
        pass
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captions", type=int, default=150_000)
    parser.add_argument("--processes", type=int, default=2)
    given = parser.parse_args()
    if not DATA.is_dir():
        print(f"the real data is not at {DATA}; set SIGHTLINE_DATA")
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "hl.jsonl"
        captions = repeated(given.captions, file)
        command = [sys.executable, "-m", "sightline", "corpus", str(file), "-o", f"{folder}/out"]
        seconds, peak = run([*command, "--processes", str(given.processes)])
    whole, tagging = bare(captions, []), bare(captions, ["parser"])
    table = Table(title=f"{len(captions):,} captions; corpus in {given.processes} processes, spaCy in one")
    for column in ("what", "seconds", "captions/s", "time to the whole spaCy pass", "peak MB"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for name, value, top in (
        ("sightline corpus, everything", seconds, f"{peak / 1e6:,.0f}"),
        ("bare spaCy pass, whole pipeline", whole, ""),
        ("bare spaCy pass, tags and lemmas", tagging, ""),
    ):
        table.add_row(name, f"{value:.1f}", f"{len(captions) / value:,.0f}", f"{value / whole:.2f}", top)
    Console().print(table)


if __name__ == "__main__":
    main()
