"""How the report grows with the number of stories: time, memory and size, each as a ratio within this run.

Stories have five pictures (of 200 different ones) and twenty phrases. Memory should hardly grow with their
number, and a report of 5,000 stories should stay a file that a browser opens at once.
"""

import random
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.table import Table

from sightline.items import Evidence, Item, PhraseEvidence, Score
from sightline.report import write_report

SENTENCE = "The small dog ran over the green field to a red ball near the old house."
SUMMARY = {
    "metrics": {"groovist": {"mean": 0.5, "n": 1, "failed": 0, "signature": "groovist|weights:concreteness"}}
}


def items(count: int, pictures: list[Path]) -> Iterator[Item]:
    for n in range(count):
        chosen = tuple(pictures[(5 * n + k) % len(pictures)] for k in range(5))
        yield Item(f"story-{n}", chosen, sentences=(SENTENCE,) * 5, system=f"system {n % 3}")


def scores(count: int) -> Iterator[Score]:
    draw = random.Random(0)
    for n in range(count):
        phrases = tuple(
            PhraseEvidence(
                "the small dog", k % 5, 0, 13, 0.6, 0.6, 4.0, draw.uniform(-1, 3), k % 5, (10, 10, 90, 90),
                tuple(draw.uniform(0.3, 0.8) for _ in range(5)),
            )
            for k in range(20)
        )  # fmt: skip
        yield Score(
            f"story-{n}", "groovist", draw.gauss(1, 0.4), "groovist", Evidence((SENTENCE,) * 5, phrases, 0.6)
        )


def measure(count: int, pictures: list[Path], out: Path) -> tuple[float, float, float]:
    """Seconds, peak megabytes and megabytes of file."""
    begun = time.perf_counter()
    write_report(out, items(count, pictures), scores(count), [], title="bench", summary=SUMMARY)
    seconds = time.perf_counter() - begun
    tracemalloc.start()
    write_report(out, items(count, pictures), scores(count), [], title="bench", summary=SUMMARY)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak / 1e6, out.stat().st_size / 1e6


def main() -> None:
    table = Table(title="Report")
    for name in ("stories", "seconds", "peak MB", "file MB", "time x", "memory x", "size x"):
        table.add_column(name, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        pictures = [Path(folder) / f"{n}.jpg" for n in range(200)]
        for path in pictures:
            Image.effect_noise((500, 375), 60).convert("RGB").save(path)
        first: tuple[float, float, float] | None = None
        for count in (500, 5_000):
            found = measure(count, pictures, Path(folder) / "report.html")
            first = first or found
            ratios = (f"{now / then:.2f}" for now, then in zip(found, first, strict=True))
            table.add_row(f"{count:,}", *(f"{value:.1f}" for value in found), *ratios)
    Console().print(table)


if __name__ == "__main__":
    main()
