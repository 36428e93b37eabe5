"""How well pictures and words are read together: prints every number of the card that is not a protocol's.

    python benchmarks/measure_together.py DATA [PART …]

DATA is the folder with flickr8k_eval.parquet, flickr8k_captions.tsv.gz and the rest; PARTs are exchanged, maps,
calibration, speed (all by default). `exchanged` makes captions of the Flickr8k test pictures false by one exchange, as
many more usual than the truth as less usual by a language model of training captions, and asks how often the truth is
higher; intervals resample pictures. `blind` is the network with an empty picture, which has learned from such. `maps`
holds pictures that were learned from against pictures that were not.
"""

import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from PIL import Image

from sightline.encoders.pocket import Pocket
from sightline.encoders.together import Maps, Together
from sightline.text.spacy_language import load_language
from sightline.train.texts import COCO_CAPTIONS, FLICKR8K_CAPTIONS, coco_captions, flickr8k_captions
from sightline.train.together.exchange import KINDS, Exchanged, Exchanger
from sightline.vision import Pictures
from sightline.vision.pocket_network import pocket_network

SAMPLES = 2000
PARSED = 12_000
"""Training captions of each source that teach what stands where, and what is usual."""


def interval(values: np.ndarray, group: np.ndarray) -> str:
    """A mean with its 95 % interval; whole pictures are drawn again."""
    names, places = np.unique(group, return_inverse=True)
    sums, counts = np.bincount(places, values), np.bincount(places)
    drawn = np.random.default_rng(0).integers(len(names), size=(SAMPLES, len(names)))
    means = sums[drawn].sum(1) / counts[drawn].sum(1)
    low, high = np.percentile(means, [2.5, 97.5])
    return f"{100 * values.mean():.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def opened(images: Sequence[bytes], folder: Path) -> list[Maps]:
    """Maps of pictures."""
    loader, reader = Pictures(), Together()
    pictures = []
    for number, image in enumerate(images):
        path = folder / f"{number}.webp"
        path.write_bytes(image)
        pictures.append(loader.load(path))
    return [
        maps for start in range(0, len(pictures), 64) for maps in reader.maps(pictures[start : start + 64])
    ]


def balanced(
    made: list[tuple[int, str, Exchanged]], rng: np.random.Generator
) -> list[tuple[int, str, Exchanged]]:
    """Of each kind as many that are more usual than the truth as less usual."""
    kept = []
    for kind in KINDS:
        sides = [
            [one for one in made if one[2].kind == kind and (one[2].gain > 0) is more]
            for more in (True, False)
        ]
        enough = min(map(len, sides))
        kept += [side[n] for side in sides for n in rng.permutation(len(side))[:enough]]
    return kept


def test_exchanges(data: Path) -> tuple[list[bytes], list[tuple[int, str, Exchanged]]]:
    """The test pictures, and of their captions those that could be exchanged in."""
    rows = pq.read_table(data / "flickr8k_eval.parquet").to_pylist()
    captions = flickr8k_captions(data / FLICKR8K_CAPTIONS)
    own = {row["file"] for row in rows}
    training = [said for file, said in captions.items() if file not in own][: PARSED // 5]
    training += list(coco_captions(data / COCO_CAPTIONS).values())[: PARSED // 5]
    test = [captions[row["file"]] for row in rows]
    texts = list(dict.fromkeys(text for said in [*training, *test] for text in said))
    trees = dict(zip(texts, load_language("embedded").trees(texts), strict=True))
    pocket = Pocket()
    exchanger = Exchanger(trees, training, lambda words: pocket.encode_texts(list(words)))
    made = [
        (number, text, one)
        for number, said in enumerate(test)
        for text in said
        for one in exchanger.falsified(text, said)
    ]
    return [row["image"] for row in rows], balanced(made, np.random.default_rng(0))


def exchanged(data: Path, folder: Path) -> None:
    images, made = test_exchanges(data)
    reader, pocket = Together(), Pocket()
    maps = opened(images, folder)
    blank = Maps(*(np.zeros_like(part) for part in vars(maps[0]).values()))
    wins: dict[str, list[float]] = defaultdict(list)
    pictures: dict[str, list[int]] = defaultdict(list)
    for number, text, one in made:
        seen = maps[number]
        true, false = reader.read(seen, text, words=False), reader.read(seen, one.text)
        cosine = pocket.encode_texts([text, one.text]) @ pocket.in_space(seen.vector)[0]
        shown = {
            "match": true.probability - false.probability,
            "clipscore": float(cosine[0] - cosine[1]),
            "blind": reader.read(blank, text, False).judged[2]
            - reader.read(blank, one.text, False).judged[2],
            "usual wording": -one.gain,
        }
        for name, gap in shown.items():
            for kind in (one.kind, "all"):
                wins[f"{name}: {kind}"].append(0.5 if gap == 0 else float(gap > 0))
                pictures[f"{name}: {kind}"].append(number)
        if false.words:
            worst = min(false.words, key=lambda word: word.change)
            hit = any(worst.start < end and start < worst.end for start, end in one.places)
            chance = np.mean([any(w.start < e and s < w.end for s, e in one.places) for w in false.words])
            for name, value in (("evidence", float(hit)), ("evidence by chance", float(chance))):
                for kind in (one.kind, "all"):
                    wins[f"{name}: {kind}"].append(value)
                    pictures[f"{name}: {kind}"].append(number)
    for name in ("match", "clipscore", "blind", "usual wording", "evidence", "evidence by chance"):
        kinds = [kind for kind in KINDS if wins[f"{name}: {kind}"]]
        for kind in (*kinds, "all"):
            key = f"{name}: {kind}"
            print(
                f"exchanged, {key:32} {interval(np.array(wins[key]), np.array(pictures[key]))}  n={len(wins[key])}"
            )
        mean = 100 * np.mean([np.mean(wins[f"{name}: {kind}"]) for kind in kinds])
        print(f"exchanged, {name}: mean over kinds {mean:.1f} %", flush=True)


def pairs(data: Path, part: str, count: int) -> tuple[list[bytes], list[list[str]]]:
    captions = flickr8k_captions(data / FLICKR8K_CAPTIONS)
    if part == "test":
        rows = pq.read_table(data / "flickr8k_eval.parquet").to_pylist()
    else:
        table = pq.read_table(data / "flickr8k_train.parquet").to_pylist()
        rows = [row for row in table if row["split"] == part and captions.get(row["file"])]
    rows = rows[:count]
    return [row["image"] for row in rows], [captions[row["file"]] for row in rows]


def against_foreign(
    reader: Together, maps: list[Maps], said: list[list[str]]
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of each picture's first caption, and of another picture's."""
    own = [reader.read(seen, said[n][0], False).probability for n, seen in enumerate(maps)]
    other = [
        reader.read(seen, said[(n + 97) % len(said)][0], False).probability for n, seen in enumerate(maps)
    ]
    return np.array(own), np.array(other)


def learned_and_unseen(data: Path, folder: Path) -> None:
    reader = Together()
    for part in ("train", "dev", "test"):
        images, said = pairs(data, part, 500)
        own, other = against_foreign(reader, opened(images, folder), said)
        print(
            f"Flickr8k {part:5} own {own.mean():.3f}, foreign {other.mean():.3f}, own above foreign"
            f" {interval((own > other).astype(float), np.arange(len(own)))}",
            flush=True,
        )


def calibration(data: Path, folder: Path) -> None:
    """Of test pictures' own and foreign captions, as many of one as of the other: said and found."""
    reader = Together()
    images, said = pairs(data, "test", 1000)
    own, other = against_foreign(reader, opened(images, folder), said)
    chance, true = np.concatenate([own, other]), np.repeat([1.0, 0.0], len(own))
    for low in np.arange(0, 1, 0.2):
        inside = (chance >= low) & (chance < low + 0.2)
        if inside.any():
            print(
                f"match {low:.1f} to {low + 0.2:.1f}: mean {chance[inside].mean():.2f}, true {true[inside].mean():.2f},"
                f" n={inside.sum()}"
            )


def speed(data: Path, folder: Path) -> None:
    """Milliseconds on one core, and the bare network beside it."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    reader = Together()
    images, said = pairs(data, "test", 200)
    pictures = [Image.open(BytesIO(image)).convert("RGB") for image in images]
    network = pocket_network()
    began = time.perf_counter()
    network.run(pictures, ["map16", "map32", "vector"])
    print(f"image network alone: {1000 * (time.perf_counter() - began) / len(pictures):.1f} ms a picture")
    maps = opened(images, folder)
    for name, words in (("without words", False), ("with every word masked out", True)):
        began = time.perf_counter()
        for number, seen in enumerate(maps):
            reader.read(seen, said[number][0], words)
        passed = time.perf_counter() - began
        print(
            f"a pair from kept maps, {name}: {1000 * passed / len(maps):.1f} ms, {len(maps) / passed:.0f} a second"
        )
    ids = np.zeros((1, 12), np.int64)
    inputs = {**vars(maps[0]), "ids": ids}
    began = time.perf_counter()
    for _ in range(200):
        reader.bare(inputs)
    passed = time.perf_counter() - began
    print(f"the bare network, twelve pieces: {1000 * passed / 200:.1f} ms, {200 / passed:.0f} a second")


PARTS = {"exchanged": exchanged, "maps": learned_and_unseen, "calibration": calibration, "speed": speed}


def main() -> None:
    data = Path(sys.argv[1])
    for name in sys.argv[2:] or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            PARTS[name](data, Path(folder))


if __name__ == "__main__":
    main()
