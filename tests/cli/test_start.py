"""What starting Sightline imports: told by lists of modules, which do not depend on how busy the machine is."""

import re
import subprocess
import sys

import pytest

import sightline
from sightline.cli.app import Commands, load_commands
from sightline.cli.lazy import LazyGroup

HEAVY = (
    "numpy",
    "scipy",
    "pyarrow",
    "PIL",
    "spacy",
    "onnxruntime",
    "torch",
    "pandas",
    "matplotlib",
    "sqlalchemy",
)


CALL = """
import contextlib, runpy, sys
with contextlib.suppress(SystemExit):
    runpy.run_module("sightline", run_name="__main__", alter_sys=True)
"""


def imported(environment: dict[str, str], code: str, *arguments: str) -> set[str]:
    """All modules that are there when a Python process has run some code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys\nprint(*sys.modules, file=sys.stderr)", *arguments],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return set(done.stderr.splitlines()[-1].split())


def rooms(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("sightline.")}


def test_the_package_alone_loads_nothing(environment: dict[str, str]) -> None:
    found = imported(environment, "import sightline; dir(sightline); sightline.__version__")
    assert rooms(found) == {"sightline.version"}
    assert not found & {*HEAVY, "typer", "rich"}


@pytest.mark.parametrize("arguments", [("--help",), ("-h",), (), ("train", "--help"), ("--version",)])
def test_help_imports_no_command(environment: dict[str, str], arguments: tuple[str, ...]) -> None:
    found = imported(environment, CALL, *arguments)
    assert "sightline.cli.app" in found
    commands = {f"sightline.cli.{name}" for name in Commands.lines} - {"sightline.cli.train"}
    assert not found & commands
    assert not any(name.startswith("sightline.cli.train_") for name in found)
    assert not found & set(HEAVY)


def test_the_help_of_scoring_loads_no_model_and_no_numbers(environment: dict[str, str]) -> None:
    found = imported(environment, CALL, "score", "--help")
    assert "sightline.cli.score" in found and "sightline.cli.meta" not in found
    assert not found & set(HEAVY)


def test_every_command_is_listed_with_its_own_first_line() -> None:
    """A command that is called is the one that the help promised."""
    import typer

    def below(group: LazyGroup) -> None:
        assert set(group.lines) == set(group.commands)
        for name, line in group.lines.items():
            command = group.commands[name]
            assert command.callback is not None or isinstance(command, typer.core.TyperGroup), name
            own = re.split(r"\n\s*\n", (command.help or "").strip())[0]
            assert " ".join(own.split()) == line, name
            if isinstance(command, LazyGroup):
                below(command)

    group = typer.main.get_command(load_commands())
    assert isinstance(group, LazyGroup)
    below(group)


def test_wrong_words_are_told_in_one_line(environment: dict[str, str]) -> None:
    for arguments, says in (
        (("scor",), "Did you mean 'score'"),
        (("train", "vgg"), "Did you mean 'vg'"),
        (("score",), "Missing argument"),
        (("--nonsense",), "--nonsense"),
        (("score", "--thetta", "1", "x"), "--theta"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "sightline", *arguments],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 2, arguments
        assert says in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_version_is_the_package_s(environment: dict[str, str]) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "sightline", "--version"],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == f"sightline {sightline.__version__}\n"


@pytest.mark.parametrize(
    ("words", "offers"),
    [("sightline co", "corpus"), ("sightline train v", "vg"), ("sightline score --th", "--theta")],
)
def test_shells_complete_commands_and_options(environment: dict[str, str], words: str, offers: str) -> None:
    asked = {"_SIGHTLINE_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    done = subprocess.run(
        [sys.executable, "-c", "import sys; sys.argv[0] = 'sightline'; from sightline.cli import main; main()"],
        env={**environment, **asked}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert offers in done.stdout.split()
