"""The metric match: its formula, its evidence, texts it cannot read, and whether it tells true from false."""

import gzip
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from PIL import Image

import sightline
from sightline.items import Item
from sightline.metrics.match import match


def test_formula_by_hand() -> None:
    assert match([0.25]) == 0.25
    assert match([0.2, 0.8, 0.5]) == pytest.approx(0.5)


def test_evidence_of_a_story_and_failures_with_reasons(tmp_path: Path) -> None:
    for number in range(2):
        Image.effect_noise((80, 60), 60 + number).convert("RGB").save(tmp_path / f"{number}.png")
    both = (tmp_path / "0.png", tmp_path / "1.png")
    items = [
        Item("story", both, sentences=("A dog runs.", "The boy laughs loudly.")),
        Item("long", both[:1], "a dog and a cat " * 30),
        Item("other", both[:1], "собака бежит по траве"),
        Item("empty", both[:1], " "),
        Item("apart", both, sentences=("One.", "Two.", "Three.")),
        Item("gone", (tmp_path / "none.png",), "A dog."),
    ]
    found = sightline.score(items, ["match"], cache=False)
    by_id = {score.id: score for score in found.scores}
    story = by_id["story"]
    assert story.score == pytest.approx(sum(pair.score for pair in story.evidence.pairs) / 2)
    assert {word.text for word in story.evidence.words} == {"dog", "runs", "boy", "laughs", "loudly"}
    for word in story.evidence.words:
        assert story.evidence.sentences[word.sentence][word.start : word.end] == word.text
        assert -1 < word.change < 1
    assert by_id["long"].evidence.notes == ("sentence 1 was cut to the network's length",)
    assert "no word that the network knows" in by_id["other"].evidence.notes[0]
    reasons = {failure.id: failure.reason for failure in found.failures}
    assert set(reasons) == {"empty", "apart", "gone"}
    assert "empty" in reasons["empty"]
    assert "cannot be paired" in reasons["apart"]


def test_words_can_be_left_out_without_changing_the_score(tmp_path: Path) -> None:
    Image.effect_noise((80, 60), 70).convert("RGB").save(tmp_path / "a.png")
    items = [Item("a", (tmp_path / "a.png",), "Two men ride brown horses.")]
    whole = sightline.score(items, ["match"], cache=False).scores[0]
    plain = sightline.score(items, ["match:words=off"], cache=False).scores[0]
    assert plain.score == pytest.approx(whole.score, abs=1e-6)
    assert plain.evidence.words == ()
    assert whole.evidence.words
    assert "together:" in whole.signature


def test_true_captions_are_above_foreign_ones(data: Path, tmp_path: Path) -> None:
    captions: dict[str, list[str]] = defaultdict(list)
    with gzip.open(data / "flickr8k_captions.tsv.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            name, _, text = line.rstrip("\n").partition("\t")
            captions[name.partition("#")[0]].append(text)
    rows = pq.read_table(data / "flickr8k_eval.parquet").slice(0, 60).to_pylist()
    items = []
    for number, row in enumerate(rows):
        path = tmp_path / f"{number}.webp"
        path.write_bytes(row["image"])
        other = rows[(number + 7) % len(rows)]["file"]
        items.append(Item(str(number), (path,), captions[row["file"]][0], system="own"))
        items.append(Item(str(number), (path,), captions[other][0], system="foreign"))
    found = {score.key: score for score in sightline.score(items, ["match"], cache=False).scores}
    own = [found[str(n), "own"] for n in range(60)]
    foreign = [found[str(n), "foreign"] for n in range(60)]
    assert sum(a.score > b.score for a, b in zip(own, foreign, strict=True)) >= 50


def test_the_word_that_makes_a_caption_false_speaks_against_it_most(tmp_path: Path) -> None:
    pictures = Path(sightline.__file__).parent / "demo" / "pictures"
    items = [
        Item("cat", (pictures / "cat.jpg",), "A close up of a car."),
        Item("man", (pictures / "camera.jpg",), "A horse looks through a camera."),
    ]
    for score, wrong in zip(
        sightline.score(items, ["match"], cache=False).scores, ("car", "horse"), strict=True
    ):
        assert min(score.evidence.words, key=lambda word: word.change).text == wrong
