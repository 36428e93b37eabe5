"""What raters read before they judge: instructions and questions by kind, and the whole wording for the record."""

import tomllib
from pathlib import Path
from typing import Any

from sightline.people import descriptions
from sightline.people.study import MARKING, PREFERENCE, Study

INSTRUCTIONS: dict[str, tuple[str, ...]] = {
    "description": descriptions.INSTRUCTIONS,
    **{
        kind: tuple(lines)
        for kind, lines in tomllib.loads(
            Path(__file__).with_name("instructions.toml").read_text("utf-8")
        ).items()
    },
}
"""The lines of each kind's instructions."""


def lines_of(study: Study) -> tuple[str, ...]:
    """The instructions' lines: the study's own, else the kind's in English."""
    asked = () if study.is_game else (study.levels.question,)
    return study.guidance or INSTRUCTIONS.get(study.kind, asked)


def questions_of(study: Study) -> dict[str, str]:
    """What is asked about an item, by the name that its answers have."""
    if study.kind == "description":
        return descriptions.QUESTIONS
    if study.kind == "pairwise preference":
        return {"better": PREFERENCE}
    if study.kind == "error marking":
        return {"errors": MARKING}
    if study.kind == "story survey":
        return study.questions
    return {"value": study.levels.question}


def wording(study: Study) -> dict[str, Any]:
    """Consent, instructions, questions, and the scale's levels with their meanings, as raters see them."""
    say, scale = study.say, study.levels
    levels = [
        {
            "value": level.value,
            "label": say(level.label),
            "meaning": say(level.meaning) if level.meaning else "",
        }
        for level in scale.levels
    ]
    return {
        "study": study.title,
        "kind": study.kind,
        "language": study.language,
        "consent": say(study.consent_text) if study.consent_text else None,
        "instructions": [*filter(None, [study.instructions]), *map(say, lines_of(study))],
        "questions": {name: say(text) for name, text in questions_of(study).items()},
        "scale": {"title": say(scale.title), "levels": levels, "source": scale.source},
        "own_words": dict(study.texts),
    }
