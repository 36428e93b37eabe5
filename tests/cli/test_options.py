"""Shared options are the same wherever they are taken."""

import dataclasses
import inspect

import pytest
import typer

from sightline.cli.app import load_commands
from sightline.cli.options import settings_of
from sightline.pipeline.settings import Settings

MEASURING = ("score", "meta", "compare", "corpus", "demo")


@pytest.mark.parametrize("name", MEASURING)
def test_every_measuring_command_takes_all_shared_options(name: str) -> None:
    commands = typer.main.get_command(load_commands()).commands  # type: ignore[attr-defined]
    shared = {option.name: option for option in commands["score"].params}
    taken = {option.name: option for option in commands[name].params}
    for option in inspect.signature(settings_of).parameters:
        assert taken[option].opts == shared[option].opts
        assert taken[option].help == shared[option].help
        assert taken[option].default == shared[option].default


def test_defaults_are_those_of_a_run() -> None:
    defaults = {f.name: f.default for f in dataclasses.fields(Settings)}
    for name, option in inspect.signature(settings_of).parameters.items():
        if name in defaults and name != "cache":
            assert option.default == defaults[name]
    assert settings_of() == Settings()


def test_choices_reach_the_settings() -> None:
    found = settings_of(theta="0.5", option=["wordnet=none"], no_cache=True, regions="boxes")
    assert found.cache is None and found.regions == "boxes"
    assert dict(found.options) == {"theta": "0.5", "wordnet": "none"}
