"""Bradley-Terry with ties, held against an independent program; marked words against counting by hand."""

import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.errors import UsageError
from sightline.psychometrics.agreement.marking import MarkedText, check_phrases, phrase_words, word_agreement
from sightline.psychometrics.model.preferences import PairedChoice, fit_preferences


def games(pairs):
    return [PairedChoice(str(winner), str(loser), 1.0) for winner, loser in pairs]


def drawn(rng, strength, count):
    """Pairs (winner, loser) from the model."""
    found = []
    for _ in range(count):
        a, b = rng.choice(len(strength), 2, replace=False)
        first = rng.random() < 1 / (1 + np.exp(strength[b] - strength[a]))
        found.append((int(a), int(b)) if first else (int(b), int(a)))
    return found


@pytest.mark.parametrize("seed", range(5))
def test_strengths_are_those_of_choix(seed):
    rng = np.random.default_rng(seed)
    pairs = drawn(rng, rng.normal(size=6), 400)
    ours = fit_preferences(games(pairs))
    assert not ours.prior
    theirs = choix.opt_pairwise(6, pairs, alpha=0, tol=1e-12)
    assert ours.strength == pytest.approx(theirs - theirs.mean(), abs=1e-5)
    also = choix.ilsr_pairwise(6, pairs, alpha=0)
    assert ours.strength == pytest.approx(also - also.mean(), abs=1e-5)


@pytest.mark.parametrize("sd", [0.5, 2.0])
def test_with_a_prior_they_are_those_of_choix_too(sd):
    pairs = [(0, 1), (0, 2), (1, 2), (0, 1), (2, 1)]  # 0 always wins
    theirs = choix.opt_pairwise(
        3, pairs, alpha=0.5 / sd**2, tol=1e-12
    )  # its penalty is alpha times the square
    assert fit_preferences(games(pairs), prior_sd=sd).strength == pytest.approx(theirs, abs=1e-6)


def test_two_texts_by_hand():
    """Won 30, lost 10: the log odds are log 3, their standard error sqrt(1/30 + 1/10)."""
    found = fit_preferences(games([(0, 1)] * 30 + [(1, 0)] * 10))
    difference, error = found.difference("0", "1")
    assert difference == pytest.approx(np.log(3))
    assert error == pytest.approx(np.sqrt(1 / 30 + 1 / 10), rel=0.02)
    assert (found.wins.tolist(), found.losses.tolist()) == ([30, 10], [10, 30])


def test_ties_by_hand():
    """Davidson's model of one pair is saturated: shares are fitted as they are."""
    given_ = [PairedChoice("a", "b", o) for o in [1.0] * 50 + [0.0] * 20 + [0.5] * 30]
    found = fit_preferences(given_)
    difference = found.difference("a", "b")[0]
    assert difference == pytest.approx(np.log(50 / 20))
    assert found.tie == pytest.approx(np.log(30 / np.sqrt(50 * 20)))
    assert found.ties.tolist() == [30, 30]


def test_who_always_wins_gets_a_finite_strength_and_it_is_said():
    found = fit_preferences(games([(0, 1)] * 5 + [(1, 2), (2, 1)]))
    assert found.prior
    assert np.isfinite(found.strength).all()
    assert found.strength[0] == found.strength.max()


def test_things_never_compared_are_named():
    with pytest.raises(UsageError, match=r"never compared with the others.*: 2, 3"):
        fit_preferences(games([(0, 1), (1, 0), (2, 3), (3, 2)]))
    with pytest.raises(UsageError, match="two things"):
        fit_preferences([])


@given(st.permutations(range(4)), st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_names_and_order_do_not_matter(order, seed):
    rng = np.random.default_rng(seed)
    pairs = drawn(rng, [0.0, 0.5, 1.0, -0.5], 60) + [(a, b) for a in range(4) for b in range(4) if a != b]
    found = fit_preferences(games(pairs))
    turned = [
        PairedChoice(str(order[b]), str(order[a]), 0.0) for a, b in reversed(pairs)
    ]  # named the other way round
    again = fit_preferences(turned)
    assert [again.strength[again.names.index(str(order[n]))] for n in range(4)] == pytest.approx(
        found.strength, abs=1e-7
    )
    assert found.strength.sum() == pytest.approx(0, abs=1e-9)


def test_intervals_hold_where_people_agree_on_a_pair():
    """40 pairs judged by 10 people each who lean the same way on a pair: 95 % of the intervals hold the truth."""
    rng = np.random.default_rng(0)
    held = naive = 0
    runs = 200
    for _ in range(runs):
        rows = []
        for item in range(40):
            lean = rng.normal(scale=0.8)
            p = 1 / (1 + np.exp(-(1.0 + lean)))
            rows += [PairedChoice("a", "b", float(rng.random() < p), item) for _ in range(10)]
        found = fit_preferences(rows)
        difference, error = found.difference("a", "b")
        # the truth at the level of the study: the log odds averaged over pairs' leanings
        truth = TRUE_LOG_ODDS
        held += abs(difference - truth) < 1.96 * error
        alone = fit_preferences([PairedChoice(c.first, c.second, c.outcome) for c in rows])
        naive += abs(difference - truth) < 1.96 * alone.difference("a", "b")[1]
    assert 0.90 <= held / runs <= 0.985
    assert naive / runs < held / runs


_LEAN = np.random.default_rng(1).normal(scale=0.8, size=200_000)
_P = (1 / (1 + np.exp(-(1.0 + _LEAN)))).mean()
TRUE_LOG_ODDS = float(np.log(_P / (1 - _P)))


def marked(words, *marks):
    return MarkedText(tuple(words.split()), np.array(marks, float))


def test_agreement_on_words_by_hand():
    same = {"a": marked("a red dog", [0, 1, 0], [0, 1, 0]), "b": marked("two men", [0, 0], [0, 0])}
    assert word_agreement(same).value == pytest.approx(1)
    # 5 words, 2 raters; counts: one word 1/1, one 1/0, three 0/0. o01 = 2, n1 = 3, n0 = 7, n = 10
    mixed = {"a": marked("a red dog", [0, 1, 0], [0, 1, 1]), "b": marked("two men", [0, 0], [0, 0])}
    found = word_agreement(mixed)
    assert found.value == pytest.approx(1 - 9 * 2 / (2 * 3 * 7))
    with pytest.raises(UsageError, match="two raters"):
        word_agreement({"a": marked("x", [0])})


@pytest.mark.parametrize(
    ("sentence", "phrase", "words"),
    [
        (0, "A dog", [0, 1]),
        (0, "the park.", [3, 4]),
        (1, "red ball", [7, 8]),
        (1, "ball", [8]),
        (0, "og", [1]),
    ],
)
def test_a_phrase_finds_its_words(sentence, phrase, words):
    sentences = ["A dog in the park.", "It has red ball, not blue."]
    start = sentences[sentence].index(phrase)
    assert list(phrase_words(sentences, sentence, start, start + len(phrase))) == words


def test_precision_and_recall_of_phrases_by_hand():
    texts = {
        "a": marked("a red dog sits there", [0, 1, 1, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 0]),
        "b": marked("two men run", [0, 0, 0], [0, 0, 0]),
    }
    phrases = {
        "a": [(range(3), True), (range(4, 5), False)],  # marked by two of three; called
        "b": [(range(2), True)],  # called, marked by nobody
        "c": [(range(1), True)],  # not judged
    }
    found = check_phrases(texts, phrases)
    assert (found.called, found.marked, found.both, found.phrases, found.texts) == (2, 1, 1, 3, 2)
    assert (found.precision.value, found.recall.value) == (0.5, 1.0)
    with pytest.raises(UsageError, match="are the ids the same"):
        check_phrases(texts, {"c": []})
