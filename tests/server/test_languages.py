"""Every text of the interface is in the catalogue of every language, with the same blanks to fill in."""

import ast
import re
import string
import tomllib
from pathlib import Path
from typing import get_args

import pytest
from fastapi.testclient import TestClient
from jinja2 import nodes
from server_studies import set_up

import sightline
from sightline.people import descriptions, forms, study, wording, words
from sightline.people.scales import scale
from sightline.people.training import Phase
from sightline.server.app import MALFORMED, NO_WAY, SORRY, TITLES, create_app
from sightline.server.context import Server
from sightline.server.form_page import ABOUT, RULES
from sightline.server.pages import HERE, environment
from sightline.server.trust import ONLY_BUSIEST

SOURCE = Path(sightline.__file__).parent
OTHERS = [language for language in words.languages() if language != "en"]
TEMPLATES = sorted((HERE / "templates").rglob("*.html"))
CODE = sorted([*(SOURCE / "server").rglob("*.py"), *(SOURCE / "people").glob("*.py")])
FOR_TEAMS = (
    "chosen.py",
    "study_form.py",
    "uploads.py",
    "rework.py",
    "assemble.py",
    "setup.py",
    "start.py",
    "database.py",
    "known.py",
    "seeding.py",
    "archive.py",
    "backup.py",
    "private.py",
    "exchange",
    "sample",
)
"""What is wrong with a team's own files and commands is told in English, as the commands do."""


def literals(node: ast.AST, named: dict[str, str]) -> list[str]:
    """The texts that an expression can be: a literal, a name for one, or either branch of a condition."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.Name):
        return [named[node.id]] if node.id in named else []
    if isinstance(node, ast.IfExp):
        return literals(node.body, named) + literals(node.orelse, named)
    return []


def names_of(tree: ast.AST) -> dict[str, str]:
    return {
        target.id: node.value.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and isinstance(node.value.value, str)
    }


def said_in_code() -> dict[str, str]:
    found = {}
    for path in CODE:
        tree = ast.parse(path.read_text("utf-8"))
        named = names_of(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if name == "say":
                texts = literals(node.args[0], named)
            elif name in ("UsageError", "Problem", "NotYours", "Full") and not any(
                part in FOR_TEAMS for part in path.parts
            ):
                texts = [text for argument in node.args for text in literals(argument, named)]
            else:
                continue
            found |= dict.fromkeys(texts, path.name)
    return found


LABELLED = ("act", "text", "area", "number", "tick")
"""Macros of ours that say what they are given: a label, and help."""


def _texts(node: nodes.Node) -> list[nodes.Const]:
    return [node] if isinstance(node, nodes.Const) else list(node.find_all(nodes.Const))


def said_in_templates() -> dict[str, str]:
    found = {}
    for path in TEMPLATES:
        for call in environment().parse(path.read_text("utf-8")).find_all(nodes.Call):
            name = getattr(call.node, "name", "")
            if name == "_":
                texts = [one.value for one in call.args[0].find_all(nodes.Const)]
                texts += [call.args[0].value] if isinstance(call.args[0], nodes.Const) else []
            elif name in LABELLED:
                labels = [*call.args[1:3], *(one.value for one in call.kwargs if one.key == "help")]
                if name == "act":
                    labels = [label for label in call.args[1:] if isinstance(label, nodes.Const)][:1]
                texts = [one.value for label in labels for one in _texts(label)]
            else:
                continue
            found |= dict.fromkeys((text for text in texts if isinstance(text, str)), path.name)
    found.pop("dispute ", None)
    return {text: where for text, where in found.items() if re.search("[A-Za-z]", text)}


def said_by_tables() -> dict[str, str]:
    told = [*descriptions.QUESTIONS.values(), *descriptions.EXAMPLES.values(), *descriptions.INSTRUCTIONS]
    told += [*study.CRITERIA.values(), *study.CRITERIA, study.PREFERENCE, study.MARKING, study.CONSENT]
    told += [
        ONLY_BUSIEST,
        *forms.MISSING.values(),
        *get_args(study.Kind),
        *TITLES.values(),
        *NO_WAY.values(),
        MALFORMED,
        SORRY,
        *descriptions.QUESTIONS,
    ]
    told += [
        *ABOUT.values(),
        *RULES.values(),
        *(line for lines in wording.INSTRUCTIONS.values() for line in lines),
    ]
    told += [word for phase in get_args(Phase) for word in (phase, phase.capitalize())]
    told += ["open", "paused", "closed", "dispute open", "dispute accepted", "dispute rejected"]
    told += [
        "kept",
        "accepted",
        "flagged",
        "excluded",
        "done",
        "begun",
        "untouched",
        "owner",
        "moderator",
        "viewer",
    ]
    for name in ("vicr", "flickr8k", "likert", "likelihood", "grounding", "binary"):
        known = scale(name)
        told += [known.title, known.question]
        told += [text for level in known.levels for text in (level.label, level.meaning) if text]
    return dict.fromkeys(told, "a table")


def everything_said() -> dict[str, str]:
    return said_in_code() | said_in_templates() | said_by_tables()


def blanks(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_says_everything(language):
    known = words.catalogue(language)
    missing = {text: where for text, where in everything_said().items() if text not in known}
    assert not missing


@pytest.mark.parametrize("language", OTHERS)
def test_a_catalogue_fills_in_the_same_blanks_and_holds_nothing_more(language):
    said = everything_said()
    for text, told in words.catalogue(language).items():
        assert text in said, text
        assert blanks(text) == blanks(told), text
        assert told.strip(), text


def test_templates_hold_no_text_of_their_own():
    """Whatever has letters between tags, or in a label, comes from the catalogue."""
    plain = ("Sightline", "VICR · CSV", "HL · JSONL", "· TOML", "· CSV", "asking-body", "playing")
    for path in TEMPLATES:
        text = re.sub(r"<pre.*?</pre>", "", path.read_text("utf-8"), flags=re.S)
        bare = re.sub(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}", "\0", text, flags=re.S)
        between = re.sub(r"<[^>]*>", "\1", bare)
        told = [part.strip(" \n\0") for part in re.split("[\0\1]", between)]
        told += re.findall(r'(?:aria-label|placeholder|title|alt)="([^"]*)"', bare)
        assert [
            part for part in told if re.search("[A-Za-z]{2}", part) and part.strip() not in plain
        ] == [], path


def test_the_catalogues_are_one_german_and_one_from_right_to_left():
    assert set(OTHERS) == {"de", "ar"}
    assert [words.direction(language) for language in ("de", "ar")] == ["ltr", "rtl"]
    for language in OTHERS:
        tomllib.loads((words.FOLDER / f"{language}.toml").read_text("utf-8"))


@pytest.mark.parametrize(("language", "greeting"), [("de", "Beginnen"), ("ar", "ابدأ")])
def test_a_study_speaks_the_language_of_its_file(sqlite, tmp_path, language, greeting):
    set_up(sqlite, tmp_path, "pairwise preference", f'language = "{language}"\n', slug="study")
    with TestClient(create_app(Server(sqlite))) as client:
        page = client.get("/studies/study/join").text
        assert f'<html lang="{language}" dir="{words.direction(language)}"' in page
        assert f">{greeting}<" in page
        told = client.get("/studies/study/leaderboard").text
        assert words.speaker(language)("Not yet") in told


def test_pages_of_no_study_speak_as_the_browser_asks(sqlite):
    with TestClient(create_app(Server(sqlite))) as client:
        for asked, language in (
            ("de-AT,de;q=0.9,en;q=0.8", "de"),
            ("fr,ar;q=0.5,de;q=0.3", "ar"),
            ("fr", "en"),
            ("de;q=x,;;,", "en"),
            ("", "en"),
        ):
            told = client.get("/staff/login", headers={"accept-language": asked}).text
            assert f'<html lang="{language}"' in told, asked
