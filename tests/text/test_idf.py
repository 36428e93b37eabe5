"""idf = log(N / (1 + df)), fitted, saved, loaded and shipped."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import UsageError
from sightline.features.base import Fit, Fitted
from sightline.features.statistics import WordIdf
from sightline.io.results import ResultFolder
from sightline.pipeline.statistics import stored, write_statistics
from sightline.text.idf import Idf
from sightline.text.language import Word

STORIES = [["the", "Dog"], ["the", "cat", "the"], ["the", "dog"]]


def test_by_hand() -> None:
    idf = Idf.fit(STORIES)
    assert idf.stories == 3
    assert idf.of_word("dog") == pytest.approx(math.log(3 / 3))
    assert idf.of_word("the") == pytest.approx(math.log(3 / 4))  # negative: a word of every story
    assert idf.of_word("never") == pytest.approx(math.log(3 / 1))
    phrase = [Word(text, text, "NOUN", 0, 3) for text in ("the", "cat")]
    assert idf.of_phrase(phrase) == pytest.approx((math.log(3 / 4) + math.log(3 / 2)) / 2)


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=5), min_size=1, max_size=20))
def test_rarer_words_weigh_more(stories) -> None:
    idf = Idf.fit(stories)
    counts = {word: sum(word in story for story in stories) for word in "abcdefgh"}
    ordered = sorted("abcdefgh", key=counts.__getitem__)
    assert [idf.of_word(word) for word in ordered] == sorted(
        (idf.of_word(word) for word in ordered), reverse=True
    )
    assert Idf.fit(reversed(stories)) == idf


def test_saved_and_loaded(tmp_path) -> None:
    path = tmp_path / "idf.json"
    path.write_text(json.dumps(Idf.fit(STORIES).to_json()))
    assert Idf.load(path) == Idf.fit(STORIES)


@pytest.mark.parametrize("units", ["phrases", "nouns"])
def test_loaded_from_the_statistics_of_a_run(tmp_path, units) -> None:
    other = "nouns" if units == "phrases" else "phrases"
    fits = {
        WordIdf(other): Fit(Idf.fit(STORIES[:1]), "corpus"),
        WordIdf(units): Fit(Idf.fit(STORIES), "corpus"),
    }
    with ResultFolder(tmp_path) as out:
        write_statistics(out, Fitted(fits))
    for path in (tmp_path, tmp_path / "statistics.json"):
        assert stored(path, WordIdf(units)) == Fit(Idf.fit(STORIES), "corpus")
        assert stored(path, WordIdf(other)) == Fit(Idf.fit(STORIES[:1]), "corpus")
    assert stored(tmp_path / "other.json", WordIdf(units)) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "3",
        "{}",
        '{"stories": 3}',
        '{"stories": "3", "frequencies": {}}',
        '{"stories": 3, "frequencies": {"a": -1}}',
    ],
)
def test_a_bad_file_is_named(tmp_path, text) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"bad\.json"):
        Idf.load(path)


def test_shipped() -> None:
    idf = Idf.shipped()
    assert idf.stories == 4238
    assert idf.of_word("the") < idf.of_word("dog") < idf.of_word("bouquet") < idf.of_word("zyzzyva")
