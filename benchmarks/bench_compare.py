"""What comparing costs beside scoring: five systems, their captions of one length, four metrics, 1,000 resamples.

The captions are COCO-like: words of a small vocabulary in random order, five references for each. Prints the CPU
seconds of scoring, of the statistics, and of the whole comparison into a folder with its report, and the ratios:
a busy machine does not change them.

    python benchmarks/bench_compare.py [--items 5000]
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sightline.api import compare_paths
from sightline.io.results import ResultFolder
from sightline.items import Item
from sightline.meta.comparison.board import Board
from sightline.meta.comparison.verdict import compared
from sightline.pipeline.files import scored_into
from sightline.pipeline.memory import silent
from sightline.pipeline.run import Run
from sightline.pipeline.settings import Settings

METRICS = ("bleu-4", "cider", "rouge-l", "rovist-nr")
WORDS = [
    f"{a}{b}" for a in "b c d f g h k l m n p r s t".split() for b in "ar en ig ot um ast elk ind oop".split()
]


def captions(items: int, systems: int = 5) -> Iterator[Item]:
    chance = random.Random(1)
    truth = [[chance.choice(WORDS) for _ in range(chance.randint(8, 14))] for _ in range(items)]

    def said(words: list[str], wrong: float) -> str:
        return " ".join(chance.choice(WORDS) if chance.random() < wrong else word for word in words)

    references = [tuple(said(words, 0.3) for _ in range(5)) for words in truth]
    for system in range(systems):
        for number, words in enumerate(truth):
            text = said(words, 0.3 + 0.02 * system)
            yield Item(str(number), text=text, references=references[number], system=f"system {system + 1}")


def main(items: int) -> None:
    settings = Settings(cache=None)
    given = list(captions(items))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        start = time.process_time()
        with (
            ResultFolder(folder / "scores") as out,
            scored_into(out, given, Run(METRICS, settings), silent) as written,
        ):
            scoring = time.process_time() - start
            board = Board.of(written.scores())
            start = time.process_time()
            compared(board)
            statistics = time.process_time() - start
        file = folder / "captions.jsonl"
        write(file, given)
        start = time.process_time()
        compare_paths([str(file)], folder / "out", metrics=METRICS, settings=settings, progress=silent)
        whole = time.process_time() - start
    print(f"5 systems x {items:,} captions x {', '.join(METRICS)}; 1,000 resamples, 10 pairs each")
    print(f"scoring alone             {scoring:7.1f} s")
    print(f"statistics alone          {statistics:7.1f} s   {statistics / scoring:.2f} of scoring")
    print(f"the whole comparison      {whole:7.1f} s   {whole / scoring:.2f} of scoring (at most 2 asked)")


def write(file: Path, items: list[Item]) -> None:
    import json

    with file.open("w") as out:
        for item in items:
            row = {"id": item.id, "text": item.text, "references": item.references, "system": item.system}
            out.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--items", type=int, default=5000)
    main(asked.parse_args().items)
