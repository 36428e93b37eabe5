"""What raters are told between two items, and a study's team before it begins."""

from collections.abc import Mapping
from typing import Any

from sightline.people.study import Study
from sightline.people.words import Say, english


def told(notice: Mapping[str, Any] | None, study: Study, say: Say) -> str:
    """A notice in words; nothing where there is none."""
    event = notice["event"] if notice else None
    if notice is None or event is None:
        return ""
    parts = [_known(notice, say)] if "right" in notice and "done" not in notice else []
    if event == "tutorial over":
        goal = say(
            "That was the tutorial. Now some on your own: get enough of them right, and it begins in earnest."
        )
        parts.append(
            goal if study.lessons.probation else say("That was the tutorial. From now on it counts.")
        )
    if "done" in notice:
        parts.append(_score(notice, study, say))
    if event == "passed":
        parts.append(say("Well done: from now on your answers count."))
    elif event == "failed":
        parts.append(say("Not quite yet. Read the instructions once more; the training begins anew."))
    elif event == "retrain":
        parts.append(say("Some of the last ones were off, so here is a short training to get back on track."))
    elif event == "taken back":
        parts.append(say("Your last answer is taken back. Change it and send it again."))
    return " ".join(part for part in parts if part)


def _score(notice: Mapping[str, Any], study: Study, say: Say) -> str:
    right, done = notice["right"], notice["done"]
    score = say("You had {right} of {done} right.", right=right, done=done)
    if notice["opens"] != "points":
        least = -(-notice["needed"] * done // 1)  # rounded up
        return f"{score} " + say("{least} are needed.", least=int(least))
    return f"{score} " + say("You earned {points} points.", points=notice["points"])


def _known(notice: Mapping[str, Any], say: Say) -> str:
    """The known answer of a survey's tutorial item."""
    answer, why = notice["known"], notice.get("why") or ""
    if isinstance(answer, dict):
        answer = ", ".join(f"{name}: {_listed(value)}" for name, value in answer.items())
    right = say("Right.") if notice["right"] else say("The experts say: {answer}.", answer=_listed(answer))
    return f"{right} {why}".strip()


def _listed(value: Any) -> str:
    return " / ".join(map(str, value)) if isinstance(value, list) else str(value)


def notes(study: Study, roles: Mapping[str, int], say: Say = english) -> list[str]:
    """Too few items to train or to check with: training is cut short, or its repeat asks the same again.

    `roles` tells how many items there are of each role.
    """
    there = roles.get("training", 0)
    if study.qualification:
        asked = study.qualification.items
        few = say(
            "The qualification asks {asked} items, {there} are there.",
            asked=asked,
            there=there,
        )
        return [few] if there < asked else []
    asked = study.lessons.tutorial + study.lessons.probation
    found = []
    tutorial, probation = study.lessons.shares(there) if asked else (0, 0)
    if asked and there < asked:
        cut = "Training asks {asked} items, {there} are there: it is cut to {tutorial} and {probation}."
        found.append(say(cut, asked=asked, there=there, tutorial=tutorial, probation=probation))
    if probation and there < 2 * asked:
        again = (
            "A repeated training would need {asked} training items, {there} are there: "
            "those of the probation are asked again, so their answers are not told."
        )
        found.append(say(again, asked=2 * asked, there=there))
    return found
