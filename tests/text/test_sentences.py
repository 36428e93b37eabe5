"""Sentence splitting and Penn Treebank words, against NLTK's Punkt and word tokeniser."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.tokenize.destructive import NLTKWordTokenizer

from sightline.text.sentences import punkt_sentences, split_sentences
from sightline.text.words import published_words, treebank_words

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


def rows() -> list[dict]:  # type: ignore[type-arg]
    """Odd texts with the sentences and words of NLTK 3.8.1 and its English Punkt parameters."""
    lines = Path(__file__).with_name("punkt.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_published_sentences_and_words_are_those_of_nltk() -> None:
    other = [
        row["text"]
        for row in rows()
        if punkt_sentences(row["text"]) != row["sentences"] or published_words(row["text"]) != row["words"]
    ]
    assert len(rows()) == 52
    assert other == []


@given(st.text(alphabet="abnt'sd .,!?\"()[]:;-`$%&*2", max_size=50))
def test_words_are_those_of_nltk(sentence: str) -> None:
    assert treebank_words(sentence) == NLTKWordTokenizer().tokenize(sentence)


@pytest.mark.parametrize(
    "sentence", ["I cannot; won't you?", "gonna 'tis 'twas wanna go", "«oui» she said… “no”", "it's 3,000.50"]
)
def test_contractions_and_quotes_are_those_of_nltk(sentence: str) -> None:
    assert treebank_words(sentence) == NLTKWordTokenizer().tokenize(sentence)
