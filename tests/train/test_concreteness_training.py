"""Training of the concreteness lexicon, whole but tiny: what is planted in the ratings is learned."""

import gzip
import json
from itertools import product

import numpy as np
import pytest
import torch

from sightline.text.concreteness import Concreteness
from sightline.text.language import Word
from sightline.text.lexicon import LearnedLexicon
from sightline.train.concreteness import ConcretenessRecipe, is_held_out, is_known, train
from tiny_models import save_bert

STEMS = "dog cat bird tree house boat stone river cup spoon chair lamp road hill coat shoe".split()
THINGS, IDEAS = ("##berry", "##bone", "##box", "##man"), ("##ness", "##ity", "##hood", "##ism")


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def lexicon(tmp_path_factory: pytest.TempPathFactory) -> LearnedLexicon:
    folder = tmp_path_factory.mktemp("concreteness")
    rated = {stem + end[2:]: 4.5 for stem, end in product(STEMS, THINGS)}
    rated |= {stem + end[2:]: 1.5 for stem, end in product(STEMS, IDEAS)}
    (folder / "concreteness.csv").write_text("".join(f"{word};{value}\n" for word, value in rated.items()))
    tree = "1\tDogs\tdog\tNOUN\t_\t_\t0\troot\t_\t_\n\n"
    (folder / "ud_ewt_train.conllu.gz").write_bytes(gzip.compress(tree.encode()))
    told = json.dumps({"sentences": ["geoff saw dogboxes ."]}) + "\n"
    (folder / "vist_val_stories.jsonl.gz").write_bytes(gzip.compress(told.encode()))
    (folder / "coco_captions.jsonl.gz").write_bytes(gzip.compress(b'{"id": 1, "captions": ["a dogbox"]}\n'))
    teacher = save_bert(folder / "teacher", [*STEMS, *THINGS, *IDEAS], layers=2)
    recipe = ConcretenessRecipe(epochs=60, hidden=64, batch=16, ridge=1.0)
    scores = train(folder, teacher, folder / "out", recipe, lambda _: None)
    assert sum(map(is_held_out, rated)) >= 5
    assert scores["held-out"] > 0.9
    assert scores["held-out by pieces"] > 0.6
    return LearnedLexicon.from_bytes((folder / "out" / "lexicon.npz").read_bytes())


def test_what_was_planted_is_learned(lexicon: LearnedLexicon) -> None:
    things, ideas = (
        [lexicon.rate(stem + end[2:]) for stem, end in product(STEMS, ends)] for ends in (THINGS, IDEAS)
    )
    assert np.mean([r.value for r in things]) - np.mean([r.value for r in ideas]) > 2
    assert lexicon.by_pieces("stoneism").value < lexicon.by_pieces("stonebone").value


def test_a_name_has_a_value_and_does_not_weigh(lexicon: LearnedLexicon) -> None:
    concreteness = Concreteness(lexicon, "test")
    geoff, boxes = (Word(text, text, "NOUN", 0, len(text)) for text in ("geoff", "dogboxes"))
    assert concreteness.of_word("geoff") is not None
    assert not lexicon.knows("geoff")
    assert lexicon.knows("dogboxes")  # a form of a word that was asked about
    assert concreteness.of_phrase([geoff]) == 1.0
    assert concreteness.of_phrase([geoff, boxes]) == concreteness.of_phrase([boxes]) > 1


@pytest.mark.parametrize(
    ("word", "known"),
    [
        *(("duck", True), ("ducks", True), ("churches", True), ("parties", True), ("running", True)),
        *(("baking", True), ("wolves", True), ("knives", True), ("marched", True), ("ducking", True)),
        *(("chicago", False), ("s", False), ("ing", False), ("churchs", True), ("ran", False)),
    ],
)
def test_forms_of_listed_words_are_known(word: str, known: bool) -> None:
    listed = {"duck", "church", "party", "run", "bake", "wolf", "knife", "march", "i"}
    assert is_known(word, listed) == known
