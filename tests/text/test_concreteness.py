"""Concreteness by the published rule, from rating files, and as learned."""

import pytest

from sightline.errors import UsageError
from sightline.resources import MODELS
from sightline.text.concreteness import Concreteness
from sightline.text.language import Word


def words(*pairs: tuple[str, str]) -> tuple[Word, ...]:
    return tuple(Word(text, lemma, "NOUN", 0, len(text)) for text, lemma in pairs)


@pytest.fixture
def ratings(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("﻿Word;Conc.M\ndog;4.85\nthe;1.43\nred;4.24\n", "utf-8")
    return Concreteness.from_file(path)


def test_a_phrase_is_the_mean_of_its_rated_words(ratings) -> None:
    assert ratings.of_phrase(words(("the", "the"), ("Red", "red"), ("zzz", "zzz"))) == pytest.approx(
        (1.43 + 4.24) / 2
    )


def test_a_word_without_a_rating_is_tried_as_its_lemma(ratings) -> None:
    assert ratings.of_phrase(words(("dogs", "dog"))) == 4.85
    assert ratings.of_word("dogs") is None


def test_a_phrase_without_any_rating_weighs_one(ratings) -> None:
    assert ratings.of_phrase(words(("zzz", "zzz"))) == 1.0
    assert ratings.of_phrase(()) == 1.0


def test_the_file_is_in_the_signature(ratings, tmp_path) -> None:
    other = tmp_path / "other" / "ratings.csv"
    other.parent.mkdir()
    other.write_text("dog;1.0\n")
    assert Concreteness.from_file(other).signature != ratings.signature


def test_the_embedded_lexicon_may_be_given_by_path() -> None:
    shipped = Concreteness.embedded()
    given = Concreteness.from_file(MODELS / "concreteness" / "lexicon.npz")
    assert given.signature == shipped.signature
    assert given.of_word("dog") == shipped.of_word("dog")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("word;rating\n", "no ratings"),
        ("", "the file is empty"),
        ("a;1.5\nb;x\n", ":2: "),
        ("a;1.5\nb;7\n", ":2: a rating of 7"),
        ("a;1.5\nb;nan\n", ":2: "),
        ("a;1.5\nb\n", ":2: "),
    ],
)
def test_a_bad_file_is_named(tmp_path, text, said) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    with pytest.raises(UsageError, match=said):
        Concreteness.from_file(path)


@pytest.mark.parametrize("mark", [";", ",", "\t"])
def test_other_separators(tmp_path, mark) -> None:
    path = tmp_path / "r.txt"
    path.write_text(f"word{mark}rating\ndog{mark}4.85\n")
    assert Concreteness.from_file(path).of_word("dog") == (4.85, 0.0)


def test_published_weights_of_the_papers_figure(data) -> None:
    """GROOViST, Figure 4: phrase weights from the original ratings."""
    original = Concreteness.from_file(data / "concreteness.csv")
    figure = {
        "the church": 3.165,
        "the wedding": 2.92,
        "a quick pic": 2.943,
        "groom": 4.54,
        "a quick kiss": 2.943,
        "joy": 2.37,
    }
    published = {2.675, 3.165, 2.920, 2.175, 2.943, 4.540, 3.030, 2.630, 2.370, 3.085}
    for phrase in figure:
        weight = original.of_phrase(words(*((word, word) for word in phrase.split())))
        assert min(abs(weight - value) for value in published) < 6e-4, (phrase, weight)


def test_brysbaerts_own_table_is_read_as_published(tmp_path) -> None:
    """Its header and two of its rows: means in the third column, words of two parts marked in the second."""
    path = tmp_path / "Concreteness_ratings_Brysbaert_et_al_BRM.txt"
    path.write_text(
        "Word\tBigram\tConc.M\tConc.SD\tUnknown\tTotal\tPercent_known\tSUBTLEX\tDom_Pos\n"
        "roadsweeper\t0\t4.85\t0.37\t1\t27\t0.96\t0\t0\n"
        "baking soda\t1\t4.96\t0.2\t0\t25\t1\t25\t#N/A\n"
    )
    found = Concreteness.from_file(path)
    assert found.of_word("roadsweeper").value == 4.85 and found.of_word("baking soda").value == 4.96
    path.write_text(path.read_text() + "torn\t0\n")
    with pytest.raises(UsageError, match=r":4: 'torn.*' is not word;rating"):
        Concreteness.from_file(path)
