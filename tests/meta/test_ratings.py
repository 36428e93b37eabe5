"""What people said: which groups are resampled, votes beside ratings, when criteria are summed, when people agree."""

from typing import Any

import numpy as np
import pytest

from sightline.errors import UsageError
from sightline.items import Item, Key
from sightline.meta.correlation import NAMES
from sightline.meta.evaluate import ONE_GROUP, RARE, SELECTED, evaluate
from sightline.meta.protocols import make_protocol
from sightline.meta.raters import leave_one_out
from sightline.meta.ratings import mean, votes_of


def rated(n: int = 12, **extra: Any) -> list[Item]:
    rng = np.random.default_rng(0)
    return [Item(f"i{k}", ratings={"g": (float(rng.integers(1, 6)),)}, extra=extra) for k in range(n)]


def scores(items: list[Item], spread: float = 2.0) -> dict[Key, float]:
    rng = np.random.default_rng(1)
    return {item.key: item.ratings["g"][0] + float(rng.normal()) * spread for item in items}


def test_one_group_has_no_interval_and_no_p() -> None:
    items = rated(group="a")
    found = evaluate(items, {"m": scores(items), "k": scores(items, 3)}, samples=100)
    assert found.groups == 1
    for part in (*found.rows, *found.comparisons):
        assert set(part.ci.values()) == {None} and part.ci_why == ONE_GROUP
    assert found.rows[0].correlation.values["pearson"] is not None
    assert set(found.comparisons[0].p.values()) == {None}
    assert found.to_json()["rows"][0]["ci_why"] == ONE_GROUP
    assert evaluate(items, {"m": scores(items)}, samples=0).rows[0].ci_why is None


def test_groups_without_an_observation_are_not_drawn() -> None:
    items = rated()
    given = {"m": scores(items)}
    alone = evaluate(items, given, samples=200)
    crowded = evaluate([*items, *(Item(f"u{k}") for k in range(50))], given, samples=200)
    assert crowded.to_json() == alone.to_json()
    assert (alone.groups, alone.rows[0].groups) == (12, 12)
    half = {"m": {key: score for key, score in given["m"].items() if int(key[0][1:]) % 2}}
    found = evaluate(items, half, samples=20)
    assert found.rows[0].groups == 6 and found.to_json()["bootstrap"]["groups"] == 6


def test_an_interval_that_most_resamples_leave_undefined_has_a_reason() -> None:
    """Scores differ in one group only and ratings in another: a resample needs both, and 4 of 10 have them."""
    items = [
        Item(f"{g}{k}", ratings={"g": (1.0 + (g == "b") * k,)}, extra={"group": g})
        for g in "abcdefgh"
        for k in range(2)
    ]
    row = evaluate(items, {"m": {item.key: float(item.id == "a1") for item in items}}, samples=300).rows[0]
    assert row.correlation.why is None and row.ci_why == RARE
    assert {row.ci[name] for name in NAMES} == {None}


@pytest.mark.parametrize("given", [3, 3.0, "3", " 3 ", "3.0"])
def test_votes_are_read(given: Any) -> None:
    assert votes_of(Item("a", extra={"votes": given})) == 3.0


@pytest.mark.parametrize("given", ["many", "nan", float("nan"), True, "inf", [1]])
def test_votes_that_are_no_number_are_refused(given: Any) -> None:
    with pytest.raises(UsageError, match=r"items\.csv:4: the votes of 'a' are no number"):
        votes_of(Item("a", extra={"votes": given}, source="items.csv:4"))


def test_no_votes() -> None:
    assert votes_of(Item("a")) is votes_of(Item("a", extra={"votes": ""})) is None


def test_votes_stand_beside_the_ratings() -> None:
    def made(votes: dict[int, Any]) -> list[Item]:
        return [
            Item(f"i{k}", ratings={"up": (float(k),), "down": (float(5 - k),)},
                 extra={"group": "a", **({"votes": votes[k]} if k in votes else {})})
            for k in range(1, 5)
        ]  # fmt: skip

    score = {"m": {(f"i{k}", None): float(k) for k in range(1, 5)}}
    for votes, pairs in (({}, 0), ({1: 3}, 0), ({k: k for k in range(1, 5)}, 6), ({1: "1", 2: "0"}, 1)):
        up, down, _ = evaluate(made(votes), score, samples=0).rows
        assert (up.preferences.accuracy, up.preferences.pairs) == (1.0, 6)
        assert (down.preferences.accuracy, down.preferences.pairs) == (0.0, 6)
        assert up.votes == down.votes and up.votes.pairs == pairs
    assert up.votes.accuracy == 0.0 and up.to_json()["votes_accuracy"] == 0.0


SCALES = [
    (5, 5, None, True, None),
    (5, 2, (1, 5), True, None),
    (5, 2, None, False, "different scales"),
    (7, 5, None, True, "on one scale, though"),
    (7, 5, (1, 7), True, None),
]


@pytest.mark.parametrize(("one", "other", "scale", "summed", "note"), SCALES)
def test_overall(
    one: int, other: int, scale: tuple[float, float] | None, summed: bool, note: str | None
) -> None:
    items = [Item(str(n), ratings={"a": (n % one + 1.0,), "b": (n % other + 1.0,)}) for n in range(40)]
    found = evaluate(items, {"m": {item.key: float(item.id) for item in items}}, scale=scale, samples=0)
    assert ("overall" in {row.criterion for row in found.rows}) is summed
    assert note in found.notes[0] if note else not found.notes


def test_protocols_declare_their_scales() -> None:
    assert make_protocol("vist-rovist").rules()["scale"] == (1, 5)
    assert make_protocol("likert").rules()["scale"] is None
    assert make_protocol("likert:scale=-1-1").rules()["scale"] == (-1, 1)
    assert make_protocol("likert:scale=-2.5--1").rules()["scale"] == (-2.5, -1)
    assert make_protocol("composite").rules()["overall"] is False
    assert make_protocol("flickr8k-expert-unanimous").rules()["agreement"] is False


def test_agreement_is_left_out_of_rows_selected_for_it() -> None:
    items = [Item(str(n), ratings={"g": (n % 4 + 1.0,) * 3}) for n in range(8)]
    found = evaluate(items, {"m": {item.key: float(item.id) for item in items}}, agreement=False, samples=0)
    assert not found.agreement and found.notes == (SELECTED,)


@pytest.mark.parametrize(
    ("ratings", "why"),
    [
        ([(3, 3), (3, 3)], "all ratings are equal"),
        ([(1, 5, 4)], "only one item has several ratings"),
        ([(1, 2), (2, 1), (4,)], None),
    ],
)
def test_people_who_cannot_be_compared(ratings: list[tuple[float, ...]], why: str | None) -> None:
    found = leave_one_out(ratings)
    assert found is not None and found.why == why
    assert (found.values["pearson"] is None) is (why is not None)


def test_numbers_at_the_ends_of_what_can_be_written() -> None:
    assert mean([1e308, 1.5e308]) == pytest.approx(1.25e308)
    items = [Item(str(n), ratings={"g": (1e308 if n else 1.0, 1e308)}) for n in range(4)]
    tiny = {item.key: n * 1e-170 for n, item in enumerate(items)}
    found = evaluate(items, {"m": tiny, "k": dict(zip(tiny, (1.0, 0.0), strict=False))}, samples=20)
    value = found.row("m", "g").correlation.values["pearson"]
    assert value is not None and 0 < value < 1
