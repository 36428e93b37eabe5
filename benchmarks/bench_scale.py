"""What `sightline score` costs beside the bare functions, and what several processes and Ray cost beside one.

    python benchmarks/bench_scale.py [--captions N] [--items N] [--ray]

Wall-clock seconds tell something on a machine that nobody else uses. Beside them stand CPU seconds (user and system):
of one process all there are, with workers those of the process that was started.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench_reference import captions

BARE = """
import json, sys, time
from sightline.functional import coco_scores
rows = [json.loads(line) for line in open(sys.argv[1])]
start = time.process_time()
coco_scores([row["text"] for row in rows], [row["references"] for row in rows])
print(time.process_time() - start)
"""

SCORE = """
import resource, sys
RAY = "ray" in sys.argv
if RAY:
    import ray
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
sys.argv[0] = "sightline"
from sightline.cli import main
try:
    main()
except SystemExit as ended:
    assert ended.code in (0, None), ended.code
own = resource.getrusage(resource.RUSAGE_SELF)
print(own.ru_utime + own.ru_stime, own.ru_maxrss / 1024)
"""


def scored(file: Path, metrics: str, *more: str) -> dict[str, float]:
    """Wall-clock seconds of a command, CPU seconds and peak memory of its first process."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["score", str(file), "-m", metrics, "-q", "-o", f"{folder}/out", "--json", *more]
        start = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", SCORE, *words], capture_output=True, text=True)
        wall = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(done.stderr)
    own, memory = map(float, done.stdout.splitlines()[-1].split())
    return {"wall": wall, "own": own, "mib": memory}


def written(folder: Path, count: int) -> Path:
    mine, theirs = captions(count)
    file = folder / f"{count}.jsonl"
    with file.open("w") as out:
        for number, (text, references) in enumerate(zip(mine, theirs, strict=True)):
            out.write(json.dumps({"id": f"c{number}", "text": text, "references": references}) + "\n")
    return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--captions", type=int, default=25_000)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--ray", action="store_true", help="also on Ray Data, with two workers")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder), given.captions)
        bare = float(
            subprocess.run(
                [sys.executable, "-c", BARE, str(file)], check=True, capture_output=True, text=True
            ).stdout
        )
        ours = scored(file, "bleu-4,rouge-l,cider")
        print(f"{given.captions:,} captions x 5 references, BLEU-4 + ROUGE-L + CIDEr")
        print(f"  bare functions     {bare:8.1f} s CPU")
        print(f"  sightline score    {ours['own']:8.1f} s CPU   {ours['own'] / bare:.2f} x the functions")
        file = written(Path(folder), given.items)
        print(f"{given.items:,} items, rovist-nr,bleu-4")
        one = scored(file, "rovist-nr,bleu-4")
        sides = {"one process": one, "two processes": scored(file, "rovist-nr,bleu-4", "--workers", "2")}
        if given.ray:
            sides["Ray, two workers"] = scored(file, "rovist-nr,bleu-4", "--engine", "ray", "--workers", "2")
        for name, found in sides.items():
            print(
                f"  {name:18} {found['wall']:8.1f} s   {one['wall'] / found['wall']:.2f} x as fast   "
                f"{found['own']:8.1f} s CPU and {found['mib']:.0f} MiB in the first process"
            )


if __name__ == "__main__":
    main()
