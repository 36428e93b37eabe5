"""From an answer to a number: the expectation over what might have been written, or the number as it was written.

A model writes "0.8" where it hesitates between 0.7 and 0.9, and most answers come out as one of a few numbers. The
expectation over the digits' probabilities keeps the hesitation (FLEUR, Lee et al., ACL 2024).
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from sightline.chat import Token
from sightline.errors import Unscorable
from sightline.judges.base import Reply, first_words

NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?")
OPENING = re.compile(
    r"[\s*_#\"'`(\[]*(?:(?:the|my|final|overall)\s+)*(?:rating|score|answer|number|digit)?[\s*_:=\"'`]*", re.I
)
"""What may stand before a number that an answer begins with."""
OF_THE_SCALE = re.compile(
    r"(?:/|out of|scale of|scale from|from|between)\s*[0-9.]+(?:\s*(?:to|and|-|–)\s*[0-9.]+)?", re.I
)
"""Numbers that tell the scale, not the rating."""

Worth = Callable[[str], float | None]
"""What a token stands for where the number is; None where it stands for none."""


@dataclass(frozen=True)
class Scale:
    """What an answer may be: 1-5, 0.0-1.0, or no-yes."""

    low: float
    high: float
    decimals: bool = False
    words: tuple[str, str] | None = None

    @classmethod
    def of(cls, text: str) -> "Scale":
        low, _, high = text.partition("-")
        if not low[0].isdigit():
            return cls(0, 1, words=(low, high))
        return cls(float(low), float(high), "." in low)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def plain_number(answer: Reply, scale: Scale) -> float:
    """The number as the answer has it."""
    start, end = number_in(answer, scale)
    return float(answer.text[start:end])


def number_in(answer: Reply, scale: Scale) -> tuple[int, int]:
    """Where the answer's number begins and ends: the one it begins with, or the only one there is."""
    text = said(answer)
    opening = OPENING.match(text)
    found = NUMBER.match(text, opening.end() if opening else 0)
    if found is None:
        told = [match.span() for match in OF_THE_SCALE.finditer(text)]
        every = [
            match
            for match in NUMBER.finditer(text)
            if not any(start <= match.start() < end for start, end in told)
        ]
        if not every:
            raise Unscorable(f"the judge's answer has no number: {first_words(text)}")
        if len({match[0] for match in every}) > 1:
            raise Unscorable(f"the judge's answer has several numbers: {first_words(text)}")
        found = every[0]
    if not scale.holds(float(found[0])):
        between = f"{scale.low:g} and {scale.high:g}"
        raise Unscorable(f"the judge's number {found[0][:20]} is not between {between}: {first_words(text)}")
    return found.span()


def said(answer: Reply) -> str:
    """The answer's text; raises Unscorable where there is none."""
    if answer.refusal:
        raise Unscorable(f"the judge refused: {first_words(answer.refusal)}")
    if not answer.text.strip():
        raise Unscorable("the judge's answer is empty")
    return answer.text


def expectation(answer: Reply, scale: Scale, raw: bool = False) -> float:
    """The expected number over what the model might have written.

    On a scale of whole numbers: the sum of p(v) v over the ratings v, at the rating's place. On 0.0 to 1.0 FLEUR's
    formula: the sum over the digits d of p(d) d / 10 at the first place after the point, and of p(d) d / 100 at the
    second; where 1.0 was written, .9 p(0) + p(1) at the place before the point. `p` is relative to all that might have
    stood there as a number; with `raw`, as in FLEUR's program, to everything.
    """
    start, end = number_in(answer, scale)
    written, places = answer.text[start:end], _tokens_in(answer, start, end)
    if not scale.decimals:
        return _mean(places[0][1], lambda text: _whole(text, scale), raw)
    if float(written) == 1:
        return _mean(places[0][1], _before_the_point, raw)
    point = written.find(".")
    if point < 0:  # a plain 0, which is followed by nothing
        return _mean(places[0][1], lambda text: {"0": 0.0, "1": 1.0}.get(text.strip()), raw)
    return math.fsum(_mean(token, _after_the_point(place - point), raw) for place, token in places)


def _whole(text: str, scale: Scale) -> float | None:
    value = float(text) if text.strip().isascii() and text.strip().isdigit() else math.nan
    return value if scale.holds(value) else None


def _before_the_point(text: str) -> float | None:
    """Of 1.0, in one token or several: what is not 1 is taken to go on with a 9."""
    number = NUMBER.fullmatch(text.strip().rstrip("."))
    if number is None:
        return None
    value = float(number[0])
    return 0.9 if value == 0 else value if value <= 1 else None


def _after_the_point(place: int) -> Worth:
    """The worth of a token that begins so many places after the point: 1 is the first digit's, 0 the point's own."""

    def worth(text: str) -> float | None:
        before, point, digits = text.strip().rpartition(".")
        if place <= 0:  # the token brings the point, maybe with digits behind it: "0", ".", "0.8", ".85"
            if not point:
                return 0.0 if before + digits == "0" else None
            return float(f"0.{digits or 0}") if before in ("", "0") and _digits(digits or "0") else None
        return int(digits) / 10 ** (place - 1 + len(digits)) if not point and _digits(digits) else None

    return worth


def _digits(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _mean(token: Token, worth: Worth, raw: bool) -> float:
    """The mean worth of what might have stood in a token's place."""
    known = [
        (math.exp(p), value) for text, p in _likeliest(token).items() if (value := worth(text)) is not None
    ]
    mass = math.fsum(p for p, _ in known)
    if mass <= 0:
        raise Unscorable("the judge's answer came without the probabilities of its digits")
    total = math.fsum(p * value for p, value in known)
    return total if raw else total / mass


def _likeliest(token: Token) -> dict[str, float]:
    """Log-probabilities of what might have stood in a token's place, itself among them."""
    return {token.text: token.log_probability, **token.likeliest}


def _tokens_in(answer: Reply, start: int, end: int) -> list[tuple[int, Token]]:
    """The tokens of the number, each with its place from the number's beginning."""
    found, place = [], 0
    for token in answer.tokens:
        following = place + len(token.text)
        blank = len(token.text) - len(token.text.lstrip())
        if following > start and place < end and place + blank < following:
            found.append((max(place + blank, start) - start, token))
        place = following
    if not found or place < end:
        raise Unscorable("the judge's answer came without the probabilities of its digits")
    return found


def yes(answer: Reply) -> float:
    """The probability that the answer begins with Yes: VQAScore (Lin et al., ECCV 2024)."""
    said(answer)
    if not answer.tokens:
        raise Unscorable("the judge's answer came without the probabilities of its words")
    first = next((token for token in answer.tokens if token.text.strip()), answer.tokens[0])
    return min(1.0, math.fsum(math.exp(p) for text, p in _likeliest(first).items() if _word(text) == "yes"))


def said_yes(answer: Reply) -> float:
    """1 where the answer begins with Yes and 0 where it begins with No, of a judge that tells no probabilities."""
    word = _word(re.split(r"[\s,.!;:]", said(answer).strip(" \n*\"'"), maxsplit=1)[0])
    if word not in ("yes", "no"):
        raise Unscorable(f"the judge answered neither Yes nor No: {first_words(answer.text)}")
    return float(word == "yes")


def _word(text: str) -> str:
    return text.strip(" \n\t*\"'.,▁Ġ").lower()
