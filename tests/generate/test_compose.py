"""Scene, action and rationale in one sentence, by grammar."""

import gzip
import json
import random
from pathlib import Path

import pytest

from sightline.generate.compose import Composer
from sightline.generate.compose.grammar import faults
from sightline.generate.kept import Sources, lost
from sightline.text.spacy_language import SpacyLanguage, load_language


@pytest.fixture(scope="module")
def language() -> SpacyLanguage:
    return load_language("embedded")


JOINED = [
    ("in a car", "posing for a photo", "to have a picture of himself",
     "The person is posing for a photo in a car to have a picture of himself."),
    ("the picture is taken in a car", "the person is posing for a photo", "he wants to share it with his friends",
     "The person is posing for a photo in a car because he wants to share it with his friends."),
    ("in an office.", "he's sitting in an armchair.", "he's working and took a professional photo.",
     "He is sitting in an armchair in an office because he is working and took a professional photo."),
    ("a beach", "holding an umbrella", "so they won't get a sunburn",
     "They are holding an umbrella on a beach so that they won't get a sunburn."),
    ("tennis court", "she plays tennis", "just for fun", "She plays tennis on a tennis court just for fun."),
    ("this is a kitchen", "they are cooking", "hungry", "They are cooking in a kitchen because they are hungry."),
    ("in the restaurant", "he is standing inside the restaurant", "he want to have his evening snack",
     "He is standing inside the restaurant because he wants to have his evening snack."),
    ("on the road", "the policemen are driving bikes", "they loves to ride",
     "The policemen are driving bikes on the road because they love to ride."),
    ("they are at the bus stop.", "getting off the bus.", "he has arrived at his destination.",
     "He is getting off the bus at the bus stop because he has arrived at his destination."),
    ("at the zoo", "a woman eating ice cream", "doing it because she is hot",
     "A woman is eating ice cream at the zoo because she is hot."),
    ("in a town", "there are four cows in the street", "they are tired",
     "There are four cows in the street in a town because they are tired."),
    ("outside", "the subject is singing", "the subject is doing it for her birthday",
     "The subject is singing outside for her birthday."),
]  # fmt: skip


@pytest.mark.parametrize(("scene", "action", "rationale", "wanted"), JOINED)
def test_three_captions_become_one_sentence(
    language: SpacyLanguage, scene: str, action: str, rationale: str, wanted: str
) -> None:
    (found,) = Composer(language).compose([Sources(scene, action, rationale)])
    assert (found.text, found.lost, found.faults) == (wanted, (), ())


def test_the_same_three_give_the_same_sentence_whatever_stands_beside_them(language: SpacyLanguage) -> None:
    threes = [Sources(*row[:3]) for row in JOINED]
    together = Composer(language).compose(threes)
    assert [Composer(language).compose([one])[0] for one in threes[::-1]] == together[::-1]


@pytest.mark.parametrize(
    ("sentence", "wrong"),
    [
        ("They is playing in the park.", "'They is' do not agree"),
        ("The dog have a ball.", "'dog have' do not agree"),
        ("A man playing football in the garden.", "no finite verb"),
        ("He plays football. She eats.", "roots"),
        ("They are playing because the man wants to win.", None),
        ("There are two dogs in a park.", None),
        ("There is two dogs in a park.", "'dogs is' do not agree"),
        ("A person is skiing as two are waiting.", None),
        ("The people who play are happy.", None),
    ],
)
def test_what_is_ungrammatical_is_found(language: SpacyLanguage, sentence: str, wrong: str | None) -> None:
    found = faults(language.trees([sentence])[0])
    assert (not found) if wrong is None else any(wrong in fault for fault in found), found


def test_a_narrative_that_lost_a_source_is_marked(language: SpacyLanguage) -> None:
    sources = Sources("the picture is taken in a kitchen", "he is cutting onions", "he is hungry")
    texts = [
        "He is cutting onions in a kitchen because he is hungry.",
        "He is cutting onions because he is hungry.",
        "A hungry man stands in a kitchen.",
        "A dog runs.",
        "He cut an onion in the kitchens, hungry.",
    ]
    assert list(lost([sources] * 5, texts, language)) == [
        (), ("scene",), ("action",), ("scene", "action", "rationale"), (),
    ]  # fmt: skip


@pytest.mark.data
def test_hl_s_captions_are_joined_and_kept(data: Path) -> None:
    """The issue's measure on a smaller draw; benchmarks/measure_compose.py takes 300."""
    with gzip.open(data / "hl_test.jsonl.gz", "rt") as file:
        rows = [json.loads(line)["captions"] for line in file]
    drawn = random.Random(5).sample([Sources(*(row[axis][k] for axis in ("scene", "action", "rationale")))
        for row in rows for k in range(3)], 120)  # fmt: skip
    found = Composer().compose(drawn)
    assert sum(not one.lost for one in found) >= 0.95 * len(found)
    assert sum(not one.faults for one in found) >= 0.95 * len(found)
