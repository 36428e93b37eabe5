"""What a rater is asked about an item, and whether the answers given are answers to it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sightline.errors import UsageError
from sightline.people.descriptions import QUESTIONS, check_description
from sightline.people.study import Study


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
    return ("value",)


def check_given(study: Study, content: Mapping[str, Any], given: Mapping[str, Any]) -> Given:
    """The answers, complete and on the scale; or the first thing that is wrong with them."""
    names = names_of(study, content)
    if missing := next((name for name in names if given.get(name) in (None, "")), None):
        raise UsageError("choose a level" if missing == "value" else f"'{missing}' is not answered yet")
    if too_much := next((name for name in given if name not in names), None):
        raise UsageError(f"nothing called '{too_much}' was asked")
    if study.kind == "description":
        texts = {name: " ".join(str(given[name]).split()) for name in names}
        if complaints := check_description(texts):
            raise UsageError(f"{QUESTIONS[complaints[0].axis]} {complaints[0].message}")
        return Given(answers=texts)
    levels = {name: study.levels.check(_whole(given[name])) for name in names if name != "best"}
    if names == ("value",):
        return Given(value=levels["value"])
    answers: dict[str, Any] = dict(levels)
    if "best" in names:
        best = _whole(given["best"])
        if best not in range(len(content["stories"])):
            raise UsageError("choose one of the stories as the best")
        answers["best"] = best
    return Given(answers=answers)


def _whole(value: object) -> object:
    """A number out of a form's text; anything else is left for the scale to refuse."""
    return (
        int(value)
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 4
        else value
    )
