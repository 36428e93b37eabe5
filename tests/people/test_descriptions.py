"""The rules for describing a picture, each broken and kept."""

import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.people.descriptions import QUESTIONS, check_answer, check_description
from sightline.people.study import parse_study

GOOD = {
    "scene": "in a ski resort",
    "action": "They are skiing.",
    "rationale": "They are on a family holiday.",
}


def rules(axis, text):
    return {fault.rule for fault in check_answer(axis, text)}


def test_the_papers_own_examples_pass():
    assert check_description(GOOD) == []


@pytest.mark.parametrize(
    ("axis", "text", "rule"),
    [
        ("scene", "", "empty"),
        ("scene", "...", "empty"),
        ("scene", "outdoors", "one word"),
        ("action", "Skiing!", "one word"),
        ("action", "skiing down a hill", "subject"),
        ("action", "is playing in the garden", "subject"),
        ("rationale", "to win the match", "subject"),
        ("rationale", "I think they are late.", "hedge"),
        ("rationale", "They are late, I  suppose." .replace("  ", " "), "hedge"),
        ("scene", "Maybe in a park", "hedge"),
        ("scene", "in a park or a zoo", "or"),
        ("action", "They watch the NBA finals", "acronym"),
        ("action", "THEY ARE SKIING DOWN", "capitals"),
        ("action", "The dude is skating", "slang"),
        ("action", "He is gonna jump", "slang"),
        ("action", "He is " + "very " * 80 + "tired", "long"),
    ],
)  # fmt: skip
def test_a_broken_rule_is_named(axis, text, rule):
    assert rule in rules(axis, text)


@pytest.mark.parametrize(
    "text",
    [
        "He is watching TV.",
        "The girl in the red coat holds an umbrella.",
        "Two skiers are talking.",
        "Because they want to keep warm.",
        "He's working and took a photo.",
        "They care about the patient.",
        "Children play in the sand.",
        "An orchestra performs for Oregon visitors.",  # "or" inside words
    ],
)
def test_honest_sentences_pass(text):
    assert rules("action", text) == set()


def test_what_and_why_must_differ():
    same = {**GOOD, "rationale": "they are skiing"}
    assert [(c.axis, c.rule) for c in check_description(same)] == [("rationale", "same")]


@given(st.dictionaries(st.sampled_from([*QUESTIONS, "other"]), st.text(max_size=400)))
def test_any_text_gets_an_answer(answers):
    for fault in check_description(answers):
        assert fault.axis in QUESTIONS
        assert fault.message


@pytest.mark.data
def test_few_published_captions_are_refused_and_fragments_are_advised_against(data):
    """At most 3 % of what HL itself published: those that begin with "to" lack a subject, and are only advised."""
    with gzip.open(data / "hl_test.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line)["captions"] for line in lines]
    for axis in QUESTIONS:
        texts = [text for row in rows for text in row[axis]]
        refused = [text for text in texts if refusals({**GOOD, axis: text})]
        assert len(texts) > 4000
        assert len(refused) / len(texts) <= 0.03
    fragments = [text for row in rows for text in row["rationale"] if text.lower().startswith("to ")]
    assert len(fragments) > 100
    assert all(check_answer("rationale", text) for text in fragments)


def refusals(answers, **rules):
    return [fault.rule for fault in check_description(answers, **rules) if fault.refused]


def test_the_rules_can_be_changed_and_switched_off():
    odd = {**GOOD, "action": "I think skiing or so"}
    assert refusals(odd) == ["hedge", "or"]
    assert refusals(odd, rules=("or",)) == ["or"]
    assert refusals({**GOOD, "rationale": "to win the match"}, rules=("subject",)) == ["subject"]
    assert check_description(odd, rules=()) == []
    assert refusals({**GOOD, "scene": ""}, rules=()) == ["empty"]


def test_rules_that_know_english_words_hold_in_english_alone():
    german = {"scene": "in einem Zoo", "action": "Der Tor or Ball fliegt.", "rationale": "Man mag das gern."}
    for language, broken in (("en", ["or"]), ("de", [])):
        study = parse_study(f'kind = "description"\ntitle = "t"\nlanguage = "{language}"\n', "toml")
        faults = check_description(german, study.kept_rules, advise=language == "en")
        assert [fault.rule for fault in faults if fault.refused] == broken
        assert language == "en" or faults == []
    named = parse_study('kind = "description"\ntitle = "t"\nlanguage = "de"\nrules = ["or"]\n', "toml")
    assert [fault.rule for fault in check_description(german, named.kept_rules, advise=False)] == ["or"]
