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
import resource
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


def run(command: list[str]) -> tuple[float, float, int]:
    """Seconds by the clock, seconds of all processes on a core, and peak bytes."""
    begun, peak = time.perf_counter(), 0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            peak = max(peak, memory(process.pid))
            time.sleep(0.3)
    if process.returncode:
        raise SystemExit(f"sightline corpus ended with status {process.returncode}")
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - begun, spent.ru_utime + spent.ru_stime, peak


def bare(captions: list[str], left_out: list[str]) -> tuple[float, float]:
    """Seconds of a pass with nothing but the pipeline, in one process: by the clock, and on a core."""
    nlp = spacy.load(EMBEDDED, exclude=left_out)
    begun, busy = time.perf_counter(), time.process_time()
    for _ in nlp.pipe(captions, batch_size=BATCH):
        pass
    return time.perf_counter() - begun, time.process_time() - busy


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
        seconds, busy, peak = run([*command, "--processes", str(given.processes)])
    whole, tagging = bare(captions, []), bare(captions, ["parser"])
    table = Table(title=f"{len(captions):,} captions; corpus in {given.processes} processes, spaCy in one")
    for column in ("what", "seconds", "captions/s", "to spaCy", "core seconds", "to spaCy", "peak MB"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for name, (clock, own), top in (
        ("sightline corpus", (seconds, busy), f"{peak / 1e6:,.0f}"),
        ("spaCy, whole pipeline", whole, ""),
        ("spaCy, tags and lemmas", tagging, ""),
    ):
        ratios = (f"{clock / whole[0]:.2f}", f"{own:.1f}", f"{own / whole[1]:.2f}")
        table.add_row(name, f"{clock:.1f}", f"{len(captions) / clock:,.0f}", *ratios, top)
    Console().print(table)


if __name__ == "__main__":
    main()
