"""Study files, assembled studies, rater quality and the consensus that listens to it."""

import random
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import UsageError
from sightline.items import Item
from sightline.people.assemble import Assembly, assemble
from sightline.people.likely_levels import habits, likely_levels
from sightline.people.quality import (
    as_most_others,
    common_words,
    near_the_others,
    quality,
    quality_consensus,
    weights,
)
from sightline.people.scales import scales
from sightline.people.study import parse_study, read_study

VICR = scales()["vicr"]
GAME = 'kind = "rating game"\ntitle = "Captions"\n'


def test_defaults_suit_the_kind():
    game = parse_study(GAME, "toml")
    assert (game.levels.high, game.lessons.tutorial, game.lessons.probation, game.consent_text) == (
        5,
        10,
        20,
        None,
    )
    survey = parse_study("kind: grounding survey\ntitle: Stories\n", "yaml")
    assert survey.levels.high == 4
    assert survey.consent_text
    assert survey.lessons.first_phase() == "play"
    assert list(parse_study("kind: story survey\ntitle: S", "yaml").questions) == [
        "grounding", "coherence", "no_repetition",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "form", "why"),
    [
        ('title = "x"', "toml", "kind"),
        ('kind = "quiz"\ntitle = "x"', "toml", "kind"),
        (GAME + "colour = 1", "toml", "colour"),
        (GAME + "ratings_per_item = 0", "toml", "ratings_per_item"),
        (GAME + 'scale = "vcr"', "toml", "did you mean 'vicr'"),
        (GAME + "checks = {gold = 0.9}", "toml", "at most 0.5"),
        (GAME + "[scale]\ntitle='t'\nquestion='q'\nlevels=[{value=1,label='a'}]", "toml", "2 to 9 levels"),
        ("kind = ", "toml", "TOML"),
        ("kind: [", "yaml", "YAML"),
        ("!!python/object/apply:os.system ['true']", "yaml", "YAML"),
        (
            'kind = "rating game"\ntitle = "x"\nitems = "i"\n[assemble]\noriginals="o"\nsystem=0',
            "toml",
            "not both",
        ),
    ],
)
def test_a_wrong_study_file_is_told_in_one_line(text, form, why):
    with pytest.raises(UsageError, match=why) as told:
        parse_study(text, form, "my.toml")
    assert str(told.value).startswith(("my.toml", "unknown scale", "the study's scale"))
    assert "\n" not in str(told.value)


def test_a_study_file_must_be_there_and_of_a_known_kind(tmp_path):
    with pytest.raises(UsageError, match="no such file"):
        read_study(tmp_path / "s.toml")
    with pytest.raises(UsageError, match=r"\.toml or \.yaml"):
        read_study(tmp_path / "s.ini")


def pictures(count, system=None):
    return [
        Item(f"i{n}", (Path(f"{n}.jpg"),), text=f"caption {n} {system}", system=system) for n in range(count)
    ]


@given(st.integers(2, 40), st.integers(0, 2**32))
def test_an_assembled_study_keeps_its_proportions(count, seed):
    plan = Assembly("o", ("s",), original=1, system=2, mismatched=1, seed=seed)
    items = assemble(plan, pictures(count), [pictures(count, "arel"), pictures(count, "glac")])
    sources = Counter("system" if item.system in {"arel", "glac"} else item.system for item in items)
    assert abs(sources["system"] - 2 * sources["original"]) <= 2
    assert abs(sources["mismatched"] - sources["original"]) <= 1
    assert len({item.id for item in items}) == len(items)
    for item in items:
        own = item.text.split()[1] == item.images[0].stem
        assert own == (item.system != "mismatched")
    assert assemble(plan, pictures(count), [pictures(count, "arel"), pictures(count, "glac")]) == items


def test_an_assembly_that_cannot_be_made_says_why():
    with pytest.raises(UsageError, match="original captions"):
        assemble(Assembly("o", system=0), [], [])
    with pytest.raises(UsageError, match="only 3 are there"):
        assemble(Assembly("o", system=0, items=100), pictures(3), [])
    with pytest.raises(UsageError, match="no captions"):
        assemble(Assembly("o", ("s",)), pictures(3), [[]])
    with pytest.raises(ValueError, match="no file of a system"):
        Assembly("o")


def test_quality_sees_straight_lining_haste_and_disagreement():
    lazy = quality([3] * 20, [3] * 20, 5, [0.0] * 20, [0.4] * 20, [False])
    assert lazy.straight_lining
    assert (lazy.agreement, lazy.exact_gold, lazy.longest_run, lazy.evenness) == (0.0, 0.0, 20, 0.0)
    each = [1, 2, 3, 4, 5] * 4
    keen = quality(each, each, 5, [1.0] * 20, [9.0] * 20, [True])
    assert not keen.straight_lining
    assert (keen.agreement, keen.exact_gold, keen.seconds) == (1.0, 1.0, 9.0)
    assert keen.evenness == pytest.approx(1)
    nobody = quality([], [], 5, [], [])
    assert (nobody.rated, nobody.agreement, nobody.seconds, nobody.evenness) == (0, None, None, None)
    pasted = quality([("in a hall", "He sits.")] * 12, [], 5, [], [])  # the same text again and again
    assert pasted.straight_lining


def test_agreement_leaves_the_rater_out():
    assert [near_the_others(own, [1, 2]) for own in (1, 2, 3)] == [1.0, 1.0, 0.0]
    assert as_most_others(1, [1, 0, 1, "tie"]) == 0.5
    assert common_words("in a hall", ["in a big hall", "outside"]) == pytest.approx(6 / 7)
    assert near_the_others(1, []) is as_most_others(1, []) is common_words("a", []) is None


def test_weights_hear_the_careful_over_the_careless():
    lots = random.Random(3)
    truth = {f"i{n}": lots.randint(1, 5) for n in range(200)}
    ratings = []
    for item, level in truth.items():
        for rater in range(4):
            ratings.append((item, f"good {rater}", min(max(level + lots.choice([-1, 0, 0, 0, 1]), 1), 5)))
        ratings += [(item, f"careless {rater}", lots.randint(1, 5)) for rater in range(3)]
    weight = weights(ratings)
    assert min(weight[f"good {r}"] for r in range(4)) > 2 * max(weight[f"careless {r}"] for r in range(3))
    assert sum(weight.values()) / len(weight) == pytest.approx(1)
    weighted = quality_consensus(VICR, ratings, weight)
    plain = quality_consensus(VICR, ratings, {})
    hits = [sum(found[item] == level for item, level in truth.items()) for found in (weighted, plain)]
    assert hits[0] > hits[1]


def played(lots, per_item=4):
    """Four careful raters, one who leans up, three who guess, one who always says 4; a few of them per item."""
    truth = {f"i{n}": lots.randint(1, 5) for n in range(300)}
    people = {
        **{f"good {n}": lambda level: level + lots.choice([-1, 0, 0, 0, 0, 0, 1]) for n in range(4)},
        "high": lambda level: level + lots.choice([0, 1, 1, 1]),
        **{f"guess {n}": lambda level: lots.randint(1, 5) for n in range(3)},
        "lazy": lambda level: 4,
    }
    ratings = [
        (item, name, min(max(people[name](level), 1), 5))
        for item, level in truth.items()
        for name in lots.sample(sorted(people), per_item)
    ]
    return truth, ratings


@pytest.mark.parametrize("seed", range(3))
def test_likely_levels_beat_both_means_without_seeing_the_truth(seed):
    truth, ratings = played(random.Random(seed))
    likely = likely_levels(VICR, ratings)
    weighted = quality_consensus(VICR, ratings, weights(ratings))
    plain = quality_consensus(VICR, ratings, {})
    right = [sum(found[item] == level for item, level in truth.items()) / 300 for found in (weighted, plain)]
    share = sum(likely[item].level == level for item, level in truth.items()) / 300
    assert share > max(right) + 0.05
    sure = [item for item in truth if likely[item].share > 0.95]
    assert len(sure) > 40
    assert sum(likely[item].level == truth[item] for item in sure) / len(sure) > 0.9  # it knows when it knows


def test_known_answers_tell_whom_to_believe():
    """Two raters who never agree: only the known answers can tell which of them is right."""
    lots = random.Random(1)
    truth = {f"i{n}": lots.randint(1, 5) for n in range(60)}
    ratings = [(item, "right", level) for item, level in truth.items()]
    ratings += [(item, "wrong", lots.randint(1, 5)) for item in truth]
    gold = {
        "right": [(n % 5 + 1, n % 5 + 1) for n in range(20)],
        "wrong": [(lots.randint(1, 5), 3) for _ in range(20)],
    }
    found = likely_levels(VICR, ratings, gold)
    assert all(found[item].level == level for item, level in truth.items())


def test_everyone_agreeing_is_believed_and_nobody_is_no_item():
    found = likely_levels(VICR, [(f"i{n}", f"r{r}", 1 + n % 5) for n in range(50) for r in range(3)])
    assert [found[f"i{n}"].level for n in range(50)] == [1 + n % 5 for n in range(50)]
    assert likely_levels(VICR, []) == {}
    with pytest.raises(UsageError, match="not on the scale"):
        likely_levels(VICR, [("i", "r", 6)])


@pytest.mark.parametrize("count", [2, 4, 5, 9])
def test_habits_are_probabilities(count):
    tables = habits(count)
    assert tables.shape[1:] == (count, count)
    assert tables.sum(axis=2) == pytest.approx(1)
    assert tables.min() > 0
