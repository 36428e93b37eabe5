"""From answers to numbers: FLEUR's formula digit by digit, other tokenisers, and answers that are none."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.chat import Token
from sightline.errors import Unscorable
from sightline.judges.base import Reply
from sightline.judges.readout import Scale, expectation, plain_number, said_yes, yes

TENTHS, FIVE, TWO = Scale.of("0.0-1.0"), Scale.of("1-5"), Scale.of("1-2")


def token(text: str, **likely: float) -> Token:
    """A token with the probabilities of what might stand there; keyword `d7` is the digit 7."""
    found = {name.removeprefix("d"): math.log(p) for name, p in likely.items()}
    return Token(text, found.pop(text.strip(), math.log(1e-9)), found)


def reply(*tokens: Token) -> Reply:
    return Reply("".join(one.text for one in tokens), tokens)


def fleur(tenths: dict[int, float], hundredths: dict[int, float] | None = None) -> float:
    """FLEUR's program, on the probabilities of its digits."""
    score = sum(p * rate * 0.1 for rate, p in tenths.items())
    return score + sum(p * rate * 0.01 for rate, p in (hundredths or {}).items())


def test_fleur_one_digit() -> None:
    tenths = {6: 0.05, 7: 0.3, 8: 0.5, 9: 0.1}  # the rest is no digit
    given = reply(
        token("0", d0=0.99, d1=0.01),
        token(".", **{".": 1.0}),
        token("8", **{f"d{d}": p for d, p in tenths.items()}),
    )
    assert expectation(given, TENTHS, raw=True) == pytest.approx(fleur(tenths), abs=1e-6)
    assert expectation(given, TENTHS) == pytest.approx(fleur(tenths) / 0.95, abs=1e-6)
    assert plain_number(given, TENTHS) == 0.8


digits = st.lists(st.floats(1e-6, 1), min_size=10, max_size=10).map(
    lambda found: [p / sum(found) for p in found]
)


@given(tenths=digits, hundredths=digits, d1=st.integers(0, 9), d2=st.integers(0, 9))
def test_fleur_two_digits(tenths: list[float], hundredths: list[float], d1: int, d2: int) -> None:
    given = reply(
        token("0", d0=0.9, d1=0.1),
        token(".", **{".": 1.0}),
        token(str(d1), **{f"d{d}": p for d, p in enumerate(tenths)}),
        token(str(d2), **{f"d{d}": p for d, p in enumerate(hundredths)}),
    )
    wanted = fleur(dict(enumerate(tenths)), dict(enumerate(hundredths)))
    assert expectation(given, TENTHS) == pytest.approx(wanted, abs=1e-6)
    assert expectation(given, TENTHS, raw=True) == pytest.approx(wanted, abs=1e-6)


def test_fleur_where_1_was_written() -> None:
    given = reply(token(" 1", d0=0.2, d1=0.7), token(".", **{".": 1.0}), token("0", d0=1.0))
    assert expectation(given, TENTHS, raw=True) == pytest.approx(0.9 * 0.2 + 0.7, abs=1e-6)
    assert expectation(given, TENTHS) == pytest.approx((0.9 * 0.2 + 0.7) / 0.9, abs=1e-6)


def test_a_token_may_hold_several_digits_or_the_whole_number() -> None:
    both = reply(token("0", d0=1.0), token(".", **{".": 1.0}), token("85", d85=0.5, d90=0.25, d8=0.25))
    assert expectation(both, TENTHS) == pytest.approx(0.5 * 0.85 + 0.25 * 0.9 + 0.25 * 0.8, abs=1e-6)
    behind = reply(token("0", d0=1.0), token(".8", **{".8": 0.75, ".7": 0.25}))
    assert expectation(behind, TENTHS) == pytest.approx(0.775, abs=1e-6)
    whole = reply(token("0.8", **{"0.8": 0.5, "0.6": 0.5}))
    assert expectation(whole, TENTHS) == pytest.approx(0.7, abs=1e-6)
    assert expectation(reply(token("0", d0=0.75, d1=0.25)), TENTHS) == pytest.approx(0.25, abs=1e-6)


def test_a_rating_from_1_to_5() -> None:
    given = reply(
        token("Rating", Rating=1.0),
        token(":", **{":": 1.0}),
        token(" 4", d3=0.2, d4=0.5, d5=0.1, d9=0.1, The=0.1),
    )
    assert expectation(given, FIVE) == pytest.approx((0.6 + 2.0 + 0.5) / 0.8, abs=1e-6)
    blanks = Reply(
        "4", (Token("4", math.log(0.4), {"4": math.log(0.4), " 4": math.log(0.2), "2": math.log(0.4)}),)
    )
    assert expectation(blanks, FIVE) == pytest.approx(0.6 * 4 + 0.4 * 2, abs=1e-6)


def test_the_reason_behind_a_number_is_left_alone() -> None:
    given = reply(token("2", d1=0.5, d2=0.5), token("\n", **{"\n": 1.0}), token("5 dogs, not 3", d5=1.0))
    assert expectation(given, FIVE) == pytest.approx(1.5)
    assert plain_number(given, FIVE) == 2


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("4", 4), (" **4**", 4), ("Rating: 4/5", 4), ("4 out of 5", 4), ("I would give it a 4 out of 5.", 4),
        ("My final rating: 2.", 2), ("On a scale of 1 to 5, I rate this a 3.", 3), ("Score = 5\nBecause of 3 dogs", 5),
        ("The text is true: 4", 4), ("4.5", 4.5),
    ],
)  # fmt: skip
def test_the_number_of_an_answer_is_found(text: str, number: float) -> None:
    assert plain_number(Reply(text), FIVE) == number


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (Reply("I cannot judge pictures of people."), "has no number: 'I cannot judge pictures of people.'"),
        (Reply("", refusal="I am sorry."), "refused: 'I am sorry.'"),
        (Reply(" \n"), "is empty"),
        (Reply("100"), "100 is not between 1 and 5"),
        (Reply("Between dog and cat: 3 of them, so 4"), "several numbers"),
        (Reply("x" * 500), "…'"),
        (Reply("٣"), "no number"),
    ],
)
def test_what_is_no_rating_says_so_with_its_first_words(given: Reply, told: str) -> None:
    with pytest.raises(Unscorable) as caught:
        plain_number(given, FIVE)
    assert told in str(caught.value)
    assert len(str(caught.value)) < 200


def test_probabilities_that_are_missing_are_no_zero() -> None:
    for bare in (Reply("4"), Reply("the rating is 4", (token("the rating", x=1.0),))):
        with pytest.raises(Unscorable, match="without the probabilities"):
            expectation(bare, FIVE)
    with pytest.raises(Unscorable, match="without the probabilities"):
        yes(Reply("Yes"))


def test_yes_is_summed_over_its_spellings() -> None:
    given = reply(token("Yes", Yes=0.5, yes=0.2, No=0.2, **{" Yes": 0.05, "Yesterday": 0.05}))
    assert yes(given) == pytest.approx(0.75)
    assert said_yes(Reply("Yes, it does.")) == 1 and said_yes(Reply("**No**")) == 0
    with pytest.raises(Unscorable, match="neither Yes nor No: 'Perhaps'"):
        said_yes(Reply("Perhaps"))


def test_a_choice_between_two() -> None:
    assert expectation(reply(token("1", d1=0.75, d2=0.25)), TWO) == pytest.approx(1.25)
