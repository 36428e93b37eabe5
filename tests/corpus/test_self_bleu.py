"""Self-BLEU is sacreBLEU's number, to the last digit, whatever the captions are."""

import gzip
import json
import random
from pathlib import Path

import pytest
from sacrebleu.metrics import BLEU

from sightline.corpus.self_bleu import self_bleu


def by_library(captions: list[str]) -> float:
    """Each caption against the others, as the HL paper's authors call sacreBLEU."""
    others = range(1, len(captions))
    references = [[captions[(n + k) % len(captions)] for n in range(len(captions))] for k in others]
    return float(BLEU().corpus_score(captions, references).score)


def test_the_published_score_of_the_first_test_item() -> None:
    assert self_bleu(["in a car", "the picture is taken in a car", "in an office."]) == pytest.approx(
        25.965358893403383, abs=1e-9
    )


@pytest.mark.parametrize(
    "captions",
    [
        ["a", "a"],
        ["a dog", "a dog", "a dog"],
        ["one", "two three four five six"],
        ["the the the the", "the the", "the the the"],
        ["", "something"],
        ["", ""],
        ["...", "a &amp; b, 1,000.5 - c's  <i>", "a & b"],
        ["Ein Hund läuft.", "狗 在 跑", "a dog — runs …  "],
        ["trailing blanks   ", "trailing blanks", "\ttrailing\nblanks"],
        [f"caption number {n % 7} of many" for n in range(40)],
    ],
)
def test_odd_captions(captions: list[str]) -> None:
    assert self_bleu(captions) == pytest.approx(by_library(captions), abs=1e-9)


def test_random_captions() -> None:
    draw = random.Random(5)
    words = "a the dog cat runs sits on in park , . ' 10 it's (big) red-hot".split()
    for _ in range(400):
        captions = [" ".join(draw.choices(words, k=draw.randint(1, 12))) for _ in range(draw.randint(2, 6))]
        assert self_bleu(captions) == pytest.approx(by_library(captions), abs=1e-9)


def test_real_captions(data: Path) -> None:
    with gzip.open(data / "hl_test.jsonl.gz") as lines:
        items = [json.loads(line)["captions"] for _, line in zip(range(120), lines, strict=False)]
    for captions in items:
        for axis in captions.values():
            assert self_bleu(axis) == pytest.approx(by_library(axis), abs=1e-9)


def test_one_caption_has_none() -> None:
    with pytest.raises(ValueError, match="one caption"):
        self_bleu(["alone"])
