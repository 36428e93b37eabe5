"""What a rater is asked about an item, and whether the answers given are answers to it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sightline.errors import UsageError
from sightline.people.descriptions import QUESTIONS, check_description
from sightline.people.study import SINGLE, Study

TIE = "tie"
"""The answer of one who finds neither of two texts truer."""
_MARKS = re.compile(r"\d{1,5}(?: \d{1,5})*")


@dataclass(frozen=True, slots=True)
class Given:
    """Checked answers: one level, or several named ones."""

    value: int | None = None
    answers: dict[str, Any] = field(default_factory=dict)


def names_of(study: Study, content: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of the questions asked about an item."""
    if study.kind == "description":
        return tuple(QUESTIONS)
    if study.kind == "confidence":
        return tuple(content["answers"])
    if study.kind == "story survey":
        stories = range(len(content["stories"]))
        rated = [f"{number}.{criterion}" for number in stories for criterion in study.questions]
        return (*rated, "best") if len(stories) > 1 else tuple(rated)
    return {"pairwise preference": ("better",), "error marking": ("errors",)}.get(study.kind, ("value",))


def levels_of(value: int | None, answers: Mapping[str, Any] | None) -> dict[str, int]:
    """Those of an answer's parts that are levels of the study's scale, by question."""
    if value is not None:
        return {"value": value}
    return {
        name: level
        for name, level in (answers or {}).items()
        if isinstance(level, int) and name not in ("best", "better")
    }


def words_of(content: Mapping[str, Any]) -> list[str]:
    """The words of an item's text as they can be marked: what stands between spaces."""
    return str(content.get("text") or " ".join(content.get("sentences") or ())).split()


def check_given(study: Study, content: Mapping[str, Any], given: Mapping[str, Any]) -> Given:
    """The answers, complete and on the scale; or the first thing that is wrong with them."""
    names = names_of(study, content)
    if missing := next((name for name in names if given.get(name) in (None, "")), None):
        say = study.say
        open_one = say("Answer every question: '{name}' is still open", name=missing)
        raise UsageError(say(MISSING[missing]) if missing in MISSING else open_one)
    if too_much := next((name for name in given if name not in names), None):
        raise UsageError(f"nothing called '{too_much}' was asked")
    if study.kind == "description":
        return Given(answers=_description(study, {name: str(given[name]) for name in names}))
    if study.kind == "pairwise preference":
        return Given(answers={"better": _better(given["better"])})
    if study.kind == "error marking":
        return Given(answers={"errors": _errors(given["errors"], len(words_of(content)))})
    levels = {name: study.levels.check(_whole(given[name])) for name in names if name != "best"}
    if study.kind in SINGLE:
        return Given(value=levels["value"])
    answers: dict[str, Any] = dict(levels)
    if "best" in names:
        best = _whole(given["best"])
        if best not in range(len(content["stories"])):
            raise UsageError("choose one of the stories as the best")
        answers["best"] = best
    return Given(answers=answers)


MISSING = {
    "value": "Choose a level",
    "better": "Choose one of the two, or say that neither is truer",
    "errors": "Mark the words that are wrong, or say that all of them are right",
}


def _description(study: Study, given: Mapping[str, str]) -> dict[str, str]:
    texts = {name: " ".join(text.split()) for name, text in given.items()}
    say = study.say
    broken = [fault for fault in check_description(texts, study.kept_rules, say) if fault.refused]
    if broken:
        raise UsageError(f"{say(QUESTIONS[broken[0].axis])} {broken[0].message}")
    return texts


def _better(value: object) -> int | str:
    """0 or 1 for a text in the item's own order, or a tie."""
    choice = _whole(value)
    if choice == TIE or (choice in (0, 1) and not isinstance(choice, bool)):
        return choice
    raise UsageError("choose one of the two, or say that neither is truer")


def _errors(value: object, words: int) -> list[int]:
    """The marked words' places in the text, first word 0; "none" where all of them are right."""
    if value == "none":
        return []
    if isinstance(value, str) and _MARKS.fullmatch(value):
        value = [int(place) for place in value.split(" ")]
    whole = isinstance(value, list) and all(
        isinstance(place, int) and not isinstance(place, bool) and 0 <= place < words for place in value
    )
    if not whole:
        raise UsageError(f"mark words by their places, 0 to {words - 1}")
    return sorted(set(value))  # type: ignore[call-overload]


def _whole(value: object) -> object:
    """A number out of a form's text; anything else is left for the scale to refuse."""
    return (
        int(value)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 4
        else value
    )
