"""The form of a study in the browser: settings as fields of text, and fields as settings."""

from collections.abc import Mapping
from typing import Any

import msgspec

from sightline.errors import UsageError
from sightline.people import scales
from sightline.people.assignment import Hard, Until
from sightline.people.descriptions import RULES
from sightline.people.settings import settings_of
from sightline.people.study import CONSENT, PARAMETERS, SINGLE, UNLEVELLED, Kind, Qualification, Study
from sightline.people.training import Checks, Training

Fields = Mapping[str, str]
OWN = "own"
LEVEL_PARTS = 3
MOST_LETTERS = 20_000


def offered(kind: Kind) -> dict[str, bool]:
    """Which parts of the form a kind of study has."""
    levelled = kind not in UNLEVELLED
    return {
        "scale": levelled,
        "criteria": kind == "story survey",
        "rule": kind in SINGLE,
        "game": kind == "rating game",
        "rules": kind == "description",
        "training": kind != "description",
        "qualification": levelled,
    }


def fields_of(study: Study, public: bool = False) -> dict[str, str]:
    """A study as its form shows it."""
    own = None if isinstance(study.scale, str) or study.scale is None else study.levels
    until = study.ratings_per_item if isinstance(study.ratings_per_item, Until) else None
    lessons, platform = study.lessons, study.platform
    fields = {
        "title": study.title,
        "instructions": study.instructions,
        "language": study.language,
        "consent": study.consent_text or "",
        "texts": "\n".join(f"{text} = {own}" for text, own in study.texts.items()),
        "public": _yes(public),
        "scale": OWN if own else str(study.scale or ""),
        "own_title": own.title if own else "",
        "own_question": own.question if own else "",
        "own_levels": "\n".join(
            " | ".join(filter(None, (str(level.value), level.label, level.meaning)))
            for level in (own.levels if own else ())
        ),
        "criteria": "\n".join(f"{name}: {text}" for name, text in study.criteria.items()),
        "how_many": "until" if until else "fixed",
        "ratings_per_item": str(3 if until else study.ratings_per_item),
        "until": _number(until.until if until else 0.5),
        "most": str(until.most if until else 7),
        "hard_more": str(study.hard.more),
        "hard_above": _number(study.hard.above),
        "items_per_person": _number(study.items_per_person),
        "places": _number(study.places),
        "lease_minutes": _number(study.lease_minutes),
        "tutorial": str(lessons.tutorial),
        "probation": str(lessons.probation),
        "accuracy": _number(lessons.accuracy * 100),
        "gold": _number(study.checks.gold * 100),
        "attention": _number(study.checks.attention * 100),
        "qualification_items": str(study.qualification.items if study.qualification else 0),
        "qualification_threshold": _number((study.qualification or Qualification()).threshold),
        "leaderboard": _yes(study.leaderboard),
        "seeds": _yes(study.seeds == "rater"),
        "platform": platform.name if platform else "",
        "parameters": ", ".join(platform.names) if platform else "",
        "completed": platform.completed if platform else "",
        "screened_out": platform.screened_out if platform else "",
        "no_consent": platform.no_consent if platform else "",
        "full": platform.full if platform else "",
    }
    return fields | {f"rule-{rule}": _yes(rule in study.kept_rules) for rule in RULES}


def _yes(value: bool) -> str:
    return "yes" if value else ""


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:g}"


def study_from(kind: str, fields: Fields, before: Study | None = None) -> Study:
    """The study that a form describes; what a form cannot say stays as it was `before`."""
    if long := next((name for name, text in fields.items() if len(text) > MOST_LETTERS), None):
        raise UsageError(f"{long}: more than {MOST_LETTERS} characters")
    settings: dict[str, Any] = settings_of(before) if before else {}
    asked = {**_asked(fields), **_how_many(kind, fields), **_lessons(kind, fields)}
    asked |= {"platform": _platform(fields), "consent": _consent(kind, fields.get("consent", ""))}
    if kind == "rating game":
        asked |= {
            "leaderboard": bool(fields.get("leaderboard")),
            "seeds": "rater" if fields.get("seeds") else "given",
        }
    settings |= {"kind": kind, **{name: _within(settings.get(name), value) for name, value in asked.items()}}
    if kind == "description":
        settings["rules"] = [rule for rule in RULES if fields.get(f"rule-{rule}")]
    if kind == "story survey":
        settings["criteria"] = _criteria(fields.get("criteria", ""))
    if kind not in UNLEVELLED:
        settings["scale"] = _scale(fields, settings.get("title", ""))
    try:
        study = msgspec.convert(settings, Study, strict=False)
        study.levels  # noqa: B018 - a wrong scale is told here
    except msgspec.ValidationError as fault:
        raise UsageError(str(fault).replace(" - at `$`", "")) from None
    return study


def _within(before: Any, asked: Any) -> Any:
    """A table's settings with those that the form does not ask for as they were."""
    tables = isinstance(before, dict) and isinstance(asked, dict)
    return {**before, **asked} if tables and before.get("name") == asked.get("name") else asked


def _asked(fields: Fields) -> dict[str, Any]:
    """What raters read, and how many of them."""
    return {
        "title": " ".join(fields.get("title", "").split()),
        "instructions": fields.get("instructions", "").strip(),
        "language": fields.get("language") or "en",
        "texts": _own_words(fields.get("texts", "")),
        "items_per_person": _whole(fields, "items_per_person", "Items per person"),
        "places": _whole(fields, "places", "Places"),
        "lease_minutes": _real(fields, "lease_minutes", "Minutes for an item", 10.0),
    }


def _consent(kind: str, text: str) -> str | None:
    """None is what the kind does of itself: a page of consent before a grounding survey, none before others."""
    text = text.replace("\r\n", "\n").strip()
    usual = CONSENT if kind == "grounding survey" else ""
    return None if text == usual else text


def _own_words(lines: str) -> dict[str, str]:
    """A text of the interface a line: its English wording, an equals sign, the study's own."""
    found = {}
    for line in filter(None, (line.strip() for line in lines.splitlines())):
        text, sign, own = line.partition(" = ")
        if not sign or not own.strip():
            raise UsageError(f"texts: write '{line[:40]}' as the English text = your own")
        found[text.strip()] = own.strip()
    return found


def _how_many(kind: str, fields: Fields) -> dict[str, Any]:
    fixed = _whole(fields, "ratings_per_item", "Ratings per item") or 3
    if fields.get("how_many") != "until":
        return {"ratings_per_item": fixed, **({"hard": _hard(fields)} if kind == "rating game" else {})}
    width, most = _real(fields, "until", "Width", 0.5), _whole(fields, "most", "At most") or 7
    return {"ratings_per_item": {"until": width, "most": most}}


def _hard(fields: Fields) -> dict[str, Any]:
    usual = Hard()
    return {
        "more": _whole(fields, "hard_more", "More ratings") or 0,
        "above": _real(fields, "hard_above", "Confidence", usual.above),
    }


def _lessons(kind: str, fields: Fields) -> dict[str, Any]:
    """Training, checks and qualification."""
    usual, checks = Training() if kind == "rating game" else Training(tutorial=0, probation=0), Checks()
    tutorial = _whole(fields, "tutorial", "Tutorial") or 0
    probation = _whole(fields, "probation", "Probation") or 0
    asked = _whole(fields, "qualification_items", "Qualification") or 0
    found: dict[str, Any] = {
        "checks": {
            "gold": _real(fields, "gold", "Gold items", checks.gold * 100) / 100,
            "attention": _real(fields, "attention", "Attention items", checks.attention * 100) / 100,
        },
        "qualification": None,
    }
    lessons = {"tutorial": tutorial, "probation": probation}
    lessons["accuracy"] = _real(fields, "accuracy", "Right answers", usual.accuracy * 100) / 100  # type: ignore[assignment]
    if any(value != getattr(usual, name) for name, value in lessons.items()):
        found["training"] = lessons
    if asked and kind not in UNLEVELLED:
        threshold = _real(fields, "qualification_threshold", "Threshold", 0.5)
        found["qualification"] = {"items": asked, "threshold": threshold}
    return found


def _platform(fields: Fields) -> dict[str, Any] | None:
    name = fields.get("platform", "")
    if not name:
        return None
    named = [one for one in fields.get("parameters", "").replace(",", " ").split() if one]
    ways = {way: fields.get(way, "").strip() for way in ("completed", "screened_out", "no_consent", "full")}
    own = named if tuple(named) != PARAMETERS.get(name) else []
    return {"name": name, "parameters": own, **ways}


def _criteria(text: str) -> dict[str, str]:
    """A question a line: a name, a colon, its wording."""
    found: dict[str, str] = {}
    for line in filter(None, (line.strip() for line in text.splitlines())):
        name, _, wording = line.partition(":")
        name = name.strip().lower().replace(" ", "_")
        if not wording.strip() or "." in name or name == "best":
            raise UsageError(f"questions: write '{line[:40]}' as a name, a colon and what is asked")
        found[name] = wording.strip()
    return found


def _scale(fields: Fields, title: str) -> str | dict[str, Any] | None:
    if fields.get("scale") != OWN:
        return fields.get("scale") or None
    levels: list[dict[str, Any]] = []
    for line in filter(None, (line.strip() for line in fields.get("own_levels", "").splitlines())):
        parts = [part.strip() for part in line.split("|", LEVEL_PARTS - 1)]
        if len(parts) < 2 or not parts[0].lstrip("-").isdigit():
            raise UsageError(f"scale: write the level '{line[:40]}' as a number | its name | what it means")
        levels.append(dict(zip(("value", "label", "meaning"), (int(parts[0]), *parts[1:]), strict=False)))
    levels.sort(key=lambda level: level["value"])
    made = {
        "title": fields.get("own_title") or title or "Own scale",
        "question": fields.get("own_question", "").strip(),
        "levels": levels,
    }
    if not made["question"]:
        raise UsageError("scale: write the question that its levels answer")
    scales.scale(made)
    return made


def _whole(fields: Fields, name: str, label: str) -> int | None:
    text = fields.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 8):
        raise UsageError(f"{label}: '{text[:20]}' is no whole number")
    return int(text)


def _real(fields: Fields, name: str, label: str, usual: float) -> float:
    text = fields.get(name, "").strip().replace(",", ".")
    if not text:
        return usual
    try:
        found = float(text)
    except ValueError:
        raise UsageError(f"{label}: '{text[:20]}' is no number") from None
    if not abs(found) < 1e6:
        raise UsageError(f"{label}: '{text[:20]}' is no number that can be meant")
    return found


EMPTY = dict.fromkeys(fields_of(Study(kind="rating game", title="-")), "")
"""Every field of the form."""
