"""What a thousand judgements cost in tokens: the words of each prompt, and a picture by the rules of its model.

Words are counted with the embedded word pieces; a model's own tokeniser counts a little otherwise.

python benchmarks/measure_judge_tokens.py DATA     DATA: the folder with Flickr8k's captions and VIST's test stories
"""

import gzip
import json
import math
import statistics
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from sightline.encoders.pieces import pieces
from sightline.features.judgement import ALONE, EXPLAINED
from sightline.judges.prompts import prompt

MANY = 500
PHOTO = (640, 480)


def by_tiles(width: int, height: int) -> int:
    """GPT-4o: 85, and 170 for each tile of 512 pixels, the short side brought down to 768."""
    shrunk = min(1.0, 768 / min(width, height))
    return 85 + 170 * math.ceil(width * shrunk / 512) * math.ceil(height * shrunk / 512)


def by_patches(width: int, height: int) -> int:
    """Qwen2-VL: one for every 28 x 28 pixels, and two around them."""
    return round(width / 28) * round(height / 28) + 2


RULES = {"LLaVA-1.5": lambda width, height: 576, "Qwen2-VL": by_patches, "GPT-4o": by_tiles}


def of_prompt(name: str, texts: Sequence[dict[str, str | list[str]]]) -> float:
    asked, count = prompt(name), pieces().tokeniser.ids
    return statistics.fmean(len(count(asked.system)) + len(count(asked.filled(text))) for text in texts)


def main() -> None:
    data = Path(sys.argv[1])
    with gzip.open(data / "flickr8k_captions.tsv.gz", "rt", encoding="utf-8") as lines:
        captions = [line.rstrip("\n").partition("\t")[2] for line, _ in zip(lines, range(MANY), strict=False)]
    with gzip.open(data / "vist_test_stories.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line, _ in zip(lines, range(MANY), strict=False)]
    stories: list[list[str]] = [row["sentences"] for row in rows]
    one, five = [{"text": text} for text in captions], [{"text": story} for story in stories]
    two = [{"first": a, "second": b} for a, b in pairwise(captions)]
    print(
        f"a picture of {PHOTO[0]} x {PHOTO[1]}: "
        + ", ".join(f"{n} {rule(*PHOTO)}" for n, rule in RULES.items())
    )
    for name, texts, pictures, times in (
        ("caption", one, 1, 1), ("vicr", one, 1, 1), ("vqa", one, 1, 1), ("pair", two, 1, 2),
        ("grounding", five, 5, 1), ("coherence", five, 0, 1), ("repetition", five, 0, 1),
    ):  # fmt: skip
        words = of_prompt(name, texts)
        told = [f"{n} {1000 * times * (words + pictures * rule(*PHOTO)):>9,.0f}" for n, rule in RULES.items()]
        print(f"{name:<11} {words:5.0f} words' tokens a question; a thousand items: {', '.join(told)}")
    print(f"an answer has at most {ALONE} tokens, with its reason at most {EXPLAINED}")


if __name__ == "__main__":
    main()
