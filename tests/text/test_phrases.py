"""Mentions of stories: the embedded pipeline on real and on hostile text, and other pipelines by name."""

import gzip
import json
import re

import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import UsageError
from sightline.text.english import doubt
from sightline.text.phrases import Unbracketed, find_mentions
from sightline.text.sentences import split_sentences
from sightline.text.spacy_language import LONGEST, load_language

# facts published with GROOViST (en_core_web_trf, before pronouns are dropped)
FESTIVAL = """
there was lots to see and do at the festival , including listening to unusual instruments . many stalls
had handmade clothing and one even had dresses specifically for little girls . as part of the festival
grounds , there were also numerous sculptures that one could touch . many stalls were adorned with
handmade glass bottles . by midday thousands were in attendance , the biggest turn out yet !
"""
WEDDING = """
this is the church where the wedding was held . the bridesmaids took a quick pic together . the bride and
groom leaned forward for a quick kiss . the guests were overwhelmed with joy . the bouquet was beautiful
.
"""
PUBLISHED = {
    FESTIVAL: """lots, the festival, unusual instruments, many stalls, handmade clothing, dresses, little
    girls, part, the festival grounds, numerous sculptures, that, one, many stalls, handmade glass bottles,
    midday, thousands, attendance""",
    WEDDING: """this, the church, the wedding, the bridesmaids, a quick pic, the bride, groom, a quick kiss,
    the guests, joy, the bouquet""",
}


@pytest.fixture(scope="module")
def language():
    return load_language("embedded")


def mentions(language, *sentences: str, units: str = "phrases"):
    return find_mentions([sentences], language, units)[0]


def test_phrases_of_the_published_stories(language) -> None:
    for text, published in PUBLISHED.items():
        parsed = language.parse(split_sentences(" ".join(text.split())))
        found = [phrase.text for sentence in parsed for phrase in sentence.phrases]
        expected = " ".join(published.split()).split(", ")
        shared = sum(min(found.count(phrase), expected.count(phrase)) for phrase in set(found))
        assert 2 * shared / (len(found) + len(expected)) >= 0.85, found


def test_bare_pronouns_go_and_repeated_phrases_stay(language) -> None:
    found = mentions(language, "she saw the dog .", "the dog saw her .")
    assert [(mention.text, mention.sentence) for mention in found.mentions] == [
        ("the dog", 0),
        ("the dog", 1),
    ]
    assert found.words == 8


def test_nouns(language) -> None:
    found = mentions(language, "The old bride kissed a groom in Paris .", units="nouns")
    assert [mention.text for mention in found.mentions] == ["bride", "groom", "paris"]


def test_brackets_go_and_places_are_those_of_the_original(language) -> None:
    sentences = ["[male] and [female] went to [location] .", "He kissed [female] 's hand ."]
    found = mentions(language, *sentences)
    assert [mention.text for mention in found.mentions] == ["male", "female", "location", "female 's hand"]
    shown = [sentences[mention.sentence][mention.start : mention.end] for mention in found.mentions]
    assert shown == ["[male]", "[female]", "[location]", "[female] 's hand"]


def test_numbered_placeholders_of_vwp(language) -> None:
    """Visual Writing Prompts numbers its people: they are phrases without bracket and number, like VIST's."""
    sentences = [
        "[male0] and [female12] went to [location2] .",
        "[organization1][male0] saw [person3] [sic] .",
    ]
    (found,) = find_mentions([sentences], language)
    assert [m.text for m in found.mentions[:3]] == ["male", "female", "location"]
    shown = [sentences[m.sentence][m.start : m.end] for m in found.mentions]
    assert shown[:3] == ["[male0]", "[female12]", "[location2]"]
    assert "[person3]" in " ".join(shown)


@given(
    st.lists(
        st.sampled_from(["[male0]", "[Female21]", "[location]", "dog", " ", "'s", "[1]", "[sic]"]), max_size=8
    )
)
def test_places_lead_back_to_the_original(pieces: list[str]) -> None:
    sentence = "".join(pieces)
    bare = Unbracketed.of(sentence)
    for found in re.finditer(r"male|Female|location|dog", bare.text):
        original = sentence[bare.place(found.start()) : bare.place(found.end())]
        assert found.group() == re.sub(r"[\[\]\d]", "", original)
        assert (original[0] == "[") == (original != "dog")


def test_text_and_places_agree_on_real_stories(language, data) -> None:
    with gzip.open(data / "vist_published_scores.jsonl.gz", "rt") as lines:
        stories = [split_sentences(json.loads(line)["text"]) for line in lines][::60]
    for story, found in zip(stories, find_mentions(stories, language), strict=True):
        for mention in found.mentions:
            shown = story[mention.sentence][mention.start : mention.end]
            assert " ".join(shown.lower().replace("[", "").replace("]", "").split()) == mention.text.replace(
                "[", ""
            ).replace("]", "")
        assert found.words <= sum(len(sentence) for sentence in story)


def test_a_sentence_is_parsed_alike_alone_and_among_others(language, data) -> None:
    with gzip.open(data / "vist_test_stories.jsonl.gz", "rt") as lines:
        sentences = [sentence for line in list(lines)[:40] for sentence in json.loads(line)["sentences"]]
    assert [language.parse([sentence])[0] for sentence in sentences] == language.parse(sentences)


def test_empty_and_odd_text(language) -> None:
    assert find_mentions([[]], language)[0].mentions == ()
    for text in ("", "!", "😀 🎉", "...", "\u200b", "Run!", "\t\n"):
        assert mentions(language, text).mentions == ()
    assert [m.text for m in mentions(language, "Dog").mentions] == ["dog"]


def test_blanks_within_a_phrase_are_one(language) -> None:
    (found,) = mentions(language, "We saw the  old\n church .").mentions
    assert found.text == "the old church"


def test_a_very_long_sentence_is_parsed_in_pieces(language) -> None:
    sentence = "the old dog chased a cat and " * 2000
    found = mentions(language, sentence)
    assert found.words == 7 * 2000
    assert len(found.mentions) > 3800
    assert any("pieces" in note for note in found.notes)
    assert all(sentence[m.start : m.end] == m.text for m in found.mentions)


def test_a_word_longer_than_a_piece(language) -> None:
    assert mentions(language, "x" * (2 * LONGEST + 5)).words >= 1


@pytest.mark.parametrize(
    "text",
    [
        "Der Hund läuft über die Wiese und die Kinder spielen am Strand .",
        "un perro corre por la playa con una pelota roja en la boca",
        "le chien court sur la plage avec une balle rouge dans la gueule",
        "de hond rent over het strand met een rode bal in zijn bek",
        "собака бежит по пляжу",
        "我们 去 了 海边",
    ],
)
def test_other_languages_are_said(language, text) -> None:
    assert any("English" in note for note in mentions(language, text).notes)


def test_english_is_not_doubted(data) -> None:
    with gzip.open(data / "vist_test_stories.jsonl.gz", "rt") as lines:
        stories = [" ".join(json.loads(line)["sentences"]).split() for line in lines]
    assert sum(bool(doubt(story)) for story in stories) / len(stories) < 0.002


def test_a_missing_pipeline_says_how_to_get_it() -> None:
    with pytest.raises(UsageError, match="spacy download en_core_web_nowhere"):
        load_language("en_core_web_nowhere")


def test_a_pipeline_without_a_parser_is_refused(tmp_path) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(UsageError, match="no parser"):
        load_language(str(tmp_path / "blank"))


def test_a_folder_that_is_no_pipeline(tmp_path) -> None:
    with pytest.raises(UsageError, match="does not load"):
        load_language(str(tmp_path))


def test_another_pipelines_own_chunks_are_used(tmp_path) -> None:
    """A pipeline with spaCy's own English labels keeps spaCy's own noun chunks."""
    nlp = spacy.blank("en")
    parser = nlp.add_pipe("parser")
    for label in ("nsubj", "dobj", "det"):
        parser.add_label(label)
    nlp.initialize()
    nlp.to_disk(tmp_path / "other")
    other = load_language(str(tmp_path / "other"))
    assert other.parse(["the dog ran"])[0].words[1].text == "dog"
    assert other._chunks.__name__ == "<lambda>"
    assert load_language("embedded")._chunks.__name__ == "noun_phrases"
