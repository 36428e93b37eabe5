"""The lexicon that Sightline learned, as it is shipped."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sightline.text.concreteness import Concreteness
from sightline.train.concreteness import is_held_out, read_ratings

EMBEDDED = Concreteness.embedded()


def test_concrete_words_are_concrete() -> None:
    of_word = EMBEDDED.of_word
    concrete = [of_word(word).value for word in ("dog", "table", "church", "bouquet", "bicycle", "beach")]
    abstract = [of_word(word).value for word in ("idea", "joy", "hope", "although", "justice", "the")]
    assert min(concrete) > 4 > 3 > max(abstract)


def test_an_unknown_word_is_rated_by_its_pieces_and_says_so() -> None:
    known, unknown = (
        EMBEDDED.of_word("dog"),
        EMBEDDED.of_word("dogtreehouseboat"),
    )
    assert unknown.uncertainty > known.uncertainty > 0


@given(st.text(min_size=1, max_size=20))
def test_every_word_has_a_value_and_an_uncertainty(word) -> None:
    found = EMBEDDED.of_word(word)
    if any(character.isalpha() for character in word):
        assert 1 <= found.value <= 5
        assert 0 < found.uncertainty <= 2
    else:
        assert found is None


def test_held_out_ratings_are_predicted(data) -> None:
    held = {
        word: rating for word, rating in read_ratings(data).items() if is_held_out(word) and " " not in word
    }
    assert len(held) > 3000
    predicted = [EMBEDDED.of_word(word).value for word in held]
    assert np.corrcoef(predicted, list(held.values()))[0, 1] >= 0.86
