"""Sentence splitting and Penn Treebank words, against NLTK's Punkt and word tokeniser as oracles."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer
from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from sightline.text.sentences import ABBREVIATIONS, split_sentences
from sightline.text.words import treebank_words

WRITTEN = {
    "One. Two.": ["One.", "Two."],
    "the end . then we left .": ["the end .", "then we left ."],
    "Dr. Smith met Mrs. Jones in St. Louis. They ate.": [
        "Dr. Smith met Mrs. Jones in St. Louis.",
        "They ate.",
    ],
    "it was great!!! we left": ["it was great!!!", "we left"],
    "it was great ! ! ! we left": ["it was great ! ! !", "we left"],
    "what?! no.": ["what?!", "no."],
    "we waited ... and waited .": ["we waited ... and waited ."],
    '"Stop!" he said. "Why?" I asked.': ['"Stop!"', "he said.", '"Why?"', "I asked."],
    "`` wait ! '' he shouted .": ["`` wait ! ''", "he shouted ."],
    "[male] met [female] . they went to [location] .": ["[male] met [female] .", "they went to [location] ."],
    "J. Bach wrote it. I heard no. 5 today.": ["J. Bach wrote it.", "I heard no.", "5 today."],
    "It cost 3.50 dollars (about 3 euros). Fine.": ["It cost 3.50 dollars (about 3 euros).", "Fine."],
    "A title\n\nThe story begins. It ends.": ["A title", "The story begins.", "It ends."],
    "no mark at all": ["no mark at all"],
    "": [],
    " \n\t ": [],
    "!": ["!"],
    "😀 🎉": ["😀 🎉"],
    "我们去了海边。": ["我们去了海边。"],
}


@pytest.mark.parametrize("text", WRITTEN)
def test_splits_as_a_reader_would(text: str) -> None:
    assert split_sentences(text) == WRITTEN[text]


@given(st.text(alphabet="ab A.!?\"')( \n[]1,-", max_size=60))
def test_nothing_is_lost_and_no_sentence_is_empty(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join("".join(sentences).split()) == "".join(text.split())
    assert all(sentence == sentence.strip() and sentence for sentence in sentences)


def punkt() -> PunktSentenceTokenizer:
    parameters = PunktParameters()
    parameters.abbrev_types = set(ABBREVIATIONS)
    return PunktSentenceTokenizer(parameters)


def test_published_stories_split_as_punkt_splits_them(data) -> None:
    with gzip.open(data / "vist_published_scores.jsonl.gz", "rt") as lines:
        texts = [json.loads(line)["text"] for line in lines][::7]
    oracle = punkt()
    marks = {".", "!", "?", "''", '"'}
    same = [split_sentences(text) == _with_lone_marks(oracle.tokenize(text), marks) for text in texts]
    assert sum(same) / len(same) > 0.998


def _with_lone_marks(sentences: list[str], marks: set[str]) -> list[str]:
    """Punkt makes '! ! !' three sentences; we keep repeated marks with the sentence they close."""
    joined: list[str] = []
    for sentence in sentences:
        if joined and all(piece in marks for piece in sentence.split()):
            joined[-1] += " " + sentence
        else:
            joined.append(sentence)
    return joined


@given(st.text(alphabet="abnt'sd .,!?\"()[]:;-`$%&*2", max_size=50))
def test_words_are_those_of_nltk(sentence: str) -> None:
    assert treebank_words(sentence) == NLTKWordTokenizer().tokenize(sentence)


@pytest.mark.parametrize(
    "sentence", ["I cannot; won't you?", "gonna 'tis 'twas wanna go", "«oui» she said… “no”", "it's 3,000.50"]
)
def test_contractions_and_quotes_are_those_of_nltk(sentence: str) -> None:
    assert treebank_words(sentence) == NLTKWordTokenizer().tokenize(sentence)
