"""Who may play, who goes back to training, what can be disputed, and how many ratings an item wants."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.errors import UsageError
from sightline.people.assignment import Hard, draw, role_of_next, wanted
from sightline.people.consensus import Tally
from sightline.people.disputes import check_dispute, returned
from sightline.people.scales import scales
from sightline.people.training import Checks, Training, attention_score, competency

VICR = scales()["vicr"]


@pytest.mark.parametrize(
    ("training", "right", "rated", "points", "opens"),
    [
        (Training(opens="either"), 10, 20, 0, True),  # accuracy .5
        (Training(opens="either"), 9, 20, 24, False),
        (Training(opens="either"), 9, 20, 25, True),  # points
        (Training(tutorial=0), 9, 20, 60, False),  # the paper's form: accuracy alone
        (Training(tutorial=0), 10, 20, -5, True),
        (
            Training(opens="points"),
            1,
            4,
            5,
            True,
        ),  # a small study asks for points in proportion: 25 of 20 is 5 of 4
        (Training(opens="points"), 1, 4, 4, False),
        (Training(), 0, 0, 0, False),
        (Training(probation=0), 0, 0, 0, True),
    ],
)
def test_unlocking(training, right, rated, points, opens):
    assert training.unlocks(right, rated, points) is opens


def test_phases_leave_out_what_is_not_set():
    assert Training().first_phase() == "tutorial"
    assert Training(tutorial=0).first_phase() == "probation"
    assert Training(tutorial=0, probation=0).first_phase() == "play"


def test_competency_scores():
    assert [competency(x, 3) for x in range(1, 6)] == [0, 1, 2, 1, 0]
    assert [attention_score(x, 1) for x in range(1, 6)] == [2, 2, 0, 0, 0]


def test_poor_checks_send_back_only_after_enough_of_them():
    checks = Checks(window=4, minimum=3, floor=0.5)
    assert not checks.falls([0, 0])
    assert checks.falls([0, 0, 0])
    assert not checks.falls([0, 0, 2, 2, 1])  # only the window counts
    assert checks.falls([2, 2, 2, 0, 1, 0, 1])


def test_disputes():
    assert check_dispute(-1, "  the dog   is there ", None) == "the dog is there"
    assert (returned(-1, "accepted"), returned(-1, "rejected")) == (1, 0)
    for points, reason, existing, why in [
        (0, "the dog is there", None, "lost points"),
        (None, "the dog is there", None, "lost points"),
        (-1, "no", None, "characters"),
        (-1, "x" * 2000, None, "characters"),
        (-1, "the dog is there", "open", "already"),
    ]:
        with pytest.raises(UsageError, match=why):
            check_dispute(points, reason, existing)


@given(st.lists(st.integers(1, 5), max_size=12), st.integers(1, 8), st.integers(0, 4))
def test_an_item_wants_between_k_and_k_plus_more(values, k, more):
    tally = Tally.of(VICR, values)
    count = wanted(k, Hard(more=more, above=1.2), tally)
    assert count >= k
    assert count <= max(k + more, len(values))
    if len(values) >= k + more:
        assert count == len(values)


def test_only_disagreement_earns_more_ratings():
    hard = Hard(more=2, above=1.4)
    assert wanted(3, hard, Tally.of(VICR, [1, 5, 3])) == 4
    assert wanted(3, hard, Tally.of(VICR, [1, 5, 3, 5])) == 5
    assert wanted(3, hard, Tally.of(VICR, [1, 5, 3, 5, 1])) == 5
    assert wanted(3, hard, Tally.of(VICR, [3, 3, 3])) == 3
    assert wanted(3, Hard(), Tally.of(VICR, [1, 5, 3])) == 3


def test_checks_come_at_their_rate_and_unforeseeably():
    checks = Checks(gold=0.1, attention=0.05)
    roles = [role_of_next(checks, f"rater {r}", place) for r in range(100) for place in range(100)]
    assert roles.count("gold") / len(roles) == pytest.approx(0.1, abs=0.01)
    assert roles.count("attention") / len(roles) == pytest.approx(0.05, abs=0.01)
    assert roles[:100] != roles[100:200]
    assert draw("a", 1) == draw("a", 1) != draw("a", 2)
