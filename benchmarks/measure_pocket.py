"""How good the embedded eyes are: prints every number of the pocket encoder's card.

    python benchmarks/measure_pocket.py DATA [PART …]

DATA is the folder with flickr8k_eval.parquet, composite.jsonl.gz and the rest; PARTs are expert, cf, composite,
grounding, unanimous, retrieval, random, proposer, speed, memory (all by default).
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from flickr_stories import made_stories
from sightline.encoders.pocket import Pocket
from sightline.meta.evaluate import evaluate
from sightline.meta.experiments import ExperimentTask, experiments
from sightline.meta.protocols.base import make_protocol
from sightline.meta.scoring import score_items
from sightline.pipeline.settings import Settings
from sightline.train.texts import FLICKR8K_CAPTIONS, flickr8k_captions
from sightline.vision import Pictures, load_regions
from sightline.vision.overlap import overlap


def correlations(
    name: str, data: Path, metrics: Sequence[str], regions: str = "proposer", limit: int = 0
) -> None:
    protocol = make_protocol(name)
    items = protocol.items(data)
    if limit:
        chosen = np.random.default_rng(0).permutation(len(items))[:limit]
        items = [items[n] for n in sorted(chosen)]
    scored = score_items(items, metrics, Settings(regions=regions))
    found = evaluate(items, scored.scores, observations=protocol.observations)
    for row in found.rows:
        values, ends = row.correlation.values, row.ci
        for key in ("kendall_c", "kendall_b"):
            low, high = ends[key] or (float("nan"),) * 2
            said = f"{100 * (values[key] or float('nan')):6.2f}  [{100 * low:.2f}, {100 * high:.2f}]"
            print(
                f"{name:28} {row.metric:18} {regions:9} {key} {said}  n={row.correlation.n} failed={row.missing}",
                flush=True,
            )


def test_pictures(data: Path) -> tuple[list[str], list[bytes]]:
    rows = pq.read_table(data / "flickr8k_eval.parquet").to_pylist()
    return [row["file"] for row in rows], [row["image"] for row in rows]


def retrieval(data: Path) -> None:
    files, pictures = test_pictures(data)
    captions, pocket = flickr8k_captions(data / FLICKR8K_CAPTIONS), Pocket()
    v = pocket.encode_images([Image.open(BytesIO(picture)) for picture in pictures])
    texts = [(n, caption) for n, file in enumerate(files) for caption in captions[file][:5]]
    t = pocket.encode_texts([caption for _, caption in texts])
    similarity = t @ v.T
    own = np.array([n for n, _ in texts])
    rank = (similarity > similarity[np.arange(len(own)), own][:, None]).sum(1)
    shares = ", ".join(f"@{k} {100 * np.mean(rank < k):.1f}" for k in (1, 5, 10))
    print(f"Flickr8k test, text to image, 1,000 pictures, {len(texts)} captions: recall {shares}", flush=True)


def original_against_random(data: Path) -> None:
    """The papers' first criterion: a sequence's own story against the best of five foreign ones."""
    with tempfile.TemporaryDirectory() as folder:
        stories = made_stories(data, Path(folder))
        found = experiments.get("random")(ExperimentTask(stories, ["groovist", "rovist-vg"], score_items))
    for row in found.rows:
        metric, difference, low, high, wins, n = row
        print(
            f"original - best of 5 random, {metric}: {difference:.3f} [{low:.3f}, {high:.3f}],"
            f" wins {100 * float(wins or 0):.1f} % of {n}",
            flush=True,
        )


def proposer(data: Path) -> None:
    rows = pq.read_table(data / "coco_regions_dev.parquet").to_pylist()
    loader = Pictures()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "p.webp"
        found: dict[str, list[bool]] = {"proposer": [], "windows": []}
        sources = {name: load_regions(name, 10) for name in found}
        for number, row in enumerate(rows):
            path = Path(folder) / f"{number}.webp"
            path.write_bytes(row["image"])
            picture = loader.load(path)
            cx, cy, w, h = (np.reshape(row["box"], (-1, 4)) * np.tile(picture.size, 2)).T
            wanted = np.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 1)
            for name, source in sources.items():
                boxes = np.array(source.propose([picture])[0])
                found[name] += list(overlap(wanted, boxes).max(1) >= 0.5) if len(wanted) else []
    for name, hits in found.items():
        print(
            f"recall@10 at IoU 0.5 on coco_regions_dev, {name}: {np.mean(hits):.4f} of {len(hits)} boxes",
            flush=True,
        )


SPEED = """
import os, time, json, sys
os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[0]})
import numpy as np
from PIL import Image
from sightline.encoders.pocket import Pocket
pocket = Pocket()
rng = np.random.default_rng(0)
images = [Image.fromarray(rng.integers(0, 255, (120, 90, 3), dtype=np.uint8)) for _ in range(100)]
words = "the a red dog bus man girl tree on beach house and cat old green".split()
texts = [" ".join(rng.choice(words, rng.integers(2, 5))) for _ in range(4000)]
def rate(work, count):
    work(); start = time.process_time(); work(); return count / (time.process_time() - start)
print(json.dumps({"regions": rate(lambda: pocket.encode_images(images), 100),
                  "phrases": rate(lambda: pocket.encode_texts(texts), 4000)}))
"""


def speed(data: Path) -> None:
    """On one core, in processor seconds: a busy machine then does not change the answer much."""
    ran = subprocess.run([sys.executable, "-c", SPEED], capture_output=True, text=True, check=True)
    rates = json.loads(ran.stdout)
    print(
        f"one core: {rates['regions']:.0f} regions a second, {rates['phrases']:.0f} phrases a second",
        flush=True,
    )


def memory(data: Path, stories: int = 1000, shared: int = 200) -> None:
    """Peak memory of a whole run of `sightline score`: five-picture stories over `shared` pictures."""
    files, pictures = test_pictures(data)
    captions = flickr8k_captions(data / FLICKR8K_CAPTIONS)
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(shared):
            (Path(folder) / f"{number}.webp").write_bytes(pictures[number])
        with (Path(folder) / "stories.jsonl").open("w") as out:
            for number in range(stories):
                some = rng.choice(shared, 5, replace=False)
                told = [captions[files[n]][int(rng.integers(5))] for n in some]
                item = {"id": str(number), "images": [f"{n}.webp" for n in some], "sentences": told}
                out.write(json.dumps(item) + "\n")
        command = [
            sys.executable,
            "-m",
            "sightline",
            "score",
            f"{folder}/stories.jsonl",
            "-o",
            f"{folder}/out",
        ]
        chosen = ["-m", "groovist", "-m", "rovist-vg", "-m", "clipscore", "--cache", f"{folder}/cache"]
        subprocess.run([*command, *chosen], check=True, capture_output=True)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{stories} stories, groovist, rovist-vg and clipscore: peak memory {peak:.0f} MB", flush=True)


PARTS: dict[str, Callable[[Path], None]] = {
    "expert": lambda data: correlations("flickr8k-expert", data, ["clipscore"]),
    "cf": lambda data: correlations("flickr8k-cf", data, ["clipscore"]),
    "composite": lambda data: correlations("composite", data, ["clipscore"]),
    "retrieval": retrieval,
    "proposer": proposer,
    "speed": speed,
    "memory": memory,
    "grounding": lambda data: [
        correlations("flickr8k-expert", data, ["groovist"], r) for r in ("proposer", "windows")
    ],
    "unanimous": lambda data: [
        correlations("flickr8k-expert-unanimous", data, ["groovist"], r) for r in ("proposer", "windows")
    ],
    "random": original_against_random,
}

if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    for part in sys.argv[2:] or PARTS:
        start = time.time()
        PARTS[part](Path(sys.argv[1]))
        print(f"  ({part}: {time.time() - start:.0f} s)", flush=True)
