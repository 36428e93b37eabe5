"""Shared options are the same wherever they are taken."""

import dataclasses
import inspect
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.cli.options import settings_of
from sightline.errors import UsageError
from sightline.pipeline.settings import Settings

MEASURING = ("score", "meta", "compare", "corpus", "demo")


@pytest.mark.parametrize("name", MEASURING)
def test_every_measuring_command_takes_all_shared_options(name: str) -> None:
    commands = typer.main.get_command(load_commands()).commands  # type: ignore[attr-defined]
    shared = {option.name: option for option in commands["score"].params}
    taken = {option.name: option for option in commands[name].params}
    for option in (*inspect.signature(settings_of).parameters, "format", "on_error"):
        assert row(taken[option]) == row(shared[option])


def row(option: Any) -> tuple[Any, ...]:
    """What a user sees of an option."""
    return (
        option.opts,
        option.secondary_opts,
        option.help,
        option.default,
        option.multiple,
        option.rich_help_panel,
    )


def test_the_same_name_means_the_same_everywhere() -> None:
    """An option that two measuring commands have in common is one option, but for what it stands for in each."""
    commands = typer.main.get_command(load_commands()).commands  # type: ignore[attr-defined]
    alike = ("engine", "resume", "overwrite", "out", "quiet")
    for name in alike:
        rows = {
            (tuple(option.opts), option.help)
            for command in MEASURING
            for option in commands[command].params
            if option.name == name
        }
        assert len(rows) <= 1, rows


@pytest.mark.parametrize("command", ["score", "meta", "corpus"])
def test_a_bad_line_is_put_aside_or_ends_the_run(command: str, tmp_path: Path) -> None:
    file = tmp_path / "items.jsonl"
    good = '{{"id": "{}", "text": "A dog runs. A {} sits.", "ratings": {{"quality": [{}]}}}}'
    lines = [good.format(n, animal, n) for n, animal in enumerate(("cat", "fox", "hen", "cow"), 1)]
    file.write_text("\n".join([*lines, "not JSON"]) + "\n")
    out = tmp_path / "out"
    asked = [command, str(file), "-o", str(out), *(() if command == "corpus" else ("-m", "rovist-nr"))]
    if command == "corpus":
        asked += ["--purity", "none", "--objects", "none"]
    run = CliRunner().invoke(load_commands(), asked)
    assert run.exit_code == 3, run.output
    assert '"items.jsonl:5"' in (out / "failures.jsonl").read_text().replace(f"{tmp_path}/", "")
    run = CliRunner().invoke(load_commands(), [*asked, "--on-error", "stop", "-o", str(tmp_path / "again")])
    assert isinstance(run.exception, UsageError) and ":5" in str(run.exception)


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
