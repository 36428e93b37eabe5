"""How fast the embedded captioner is, beside its own image network alone: pictures a second, files decoded on the way.

    python benchmarks/bench_caption.py [--pictures 200] [--beams 3]

Pictures are the photos of the demo, written anew in so many sizes that no two files are equal. `ratio` is the
captioner's time over that of the encoder that `clipscore` uses, on the same files in the same run.
"""

import argparse
import tempfile
import time
from pathlib import Path

from PIL import Image

import sightline
from sightline.demo import STORIES
from sightline.encoders import load_encoder
from sightline.vision.pictures import Pictures


def photos(folder: Path, count: int) -> list[Path]:
    """So many files, none like another."""
    known = sorted((STORIES.parent / "pictures").glob("*.jpg"))
    found = []
    for number in range(count):
        with Image.open(known[number % len(known)]) as picture:
            side = 320 + number // len(known)
            path = folder / f"{number}.jpg"
            picture.convert("RGB").resize((side, side * 3 // 4)).save(path, quality=90)
            found.append(path)
    return found


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--pictures", type=int, default=200)
    asked.add_argument("--beams", type=int, default=3)
    asked.add_argument("--captioner", default="pocket")
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        files = photos(Path(folder), given.pictures)
        sightline.caption(files[:4], given.captioner, beams=given.beams)  # loaded once, before the clock runs
        encoder, pictures = load_encoder("pocket"), Pictures()
        encoder.encode_images([pictures.load(files[0]).crop()])

        start = time.perf_counter()
        pictures.prefetch(files)
        for first in range(0, len(files), 32):
            encoder.encode_images([pictures.load(path).crop() for path in files[first : first + 32]])
        bare = time.perf_counter() - start

        start, used = time.perf_counter(), time.process_time()
        found = sightline.caption(files, given.captioner, beams=given.beams)
        told, used = time.perf_counter() - start, time.process_time() - used
    print(f"image network alone: {len(files) / bare:6.1f} pictures a second")
    print(
        f"captions, beam {given.beams}: {len(found.items) / told:8.1f} pictures a second; ratio {told / bare:.2f}"
    )
    print(f"processor time: {1000 * used / len(files):.1f} ms a picture, whatever else the machine does")


if __name__ == "__main__":
    main()
