"""What README and docs tell to type: README's blocks are run; every `sightline` line is one that the command takes.

Lines of the guides are read by the commands' own parsers but not run: they name data that may not be passed on,
models of a hub, or servers. The tutorials do what they say on data made on the spot (test_site.py); two pages run in
tests/demo.
"""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.cli.consoles import be_quiet

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELL = ("sh", "")
ELSEWHERE = {
    "captions.md": "captioners of the hub",
    "connections.md": "other libraries' own loops; tests/integrations runs each against its library",
    "coherence.md": "files of the reader's; tests/train trains such a model",
    "compare.md": "files of the reader's; tests/journeys compares such files",
    "together.md": "a picture of the reader's; tests/encoders/test_together.py reads such evidence",
}
"""Pages whose Python is not run, and why. python.md and report.md run in tests/demo."""


def blocks(page: Path, kinds: tuple[str, ...]) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    return [text for kind, text in found if kind in kinds]


def typed(text: str) -> Iterator[list[str]]:
    """The calls of `sightline` in a block: continued lines joined, comments and what a pipe hands on left out."""
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        for part in re.split(r"&&|\||;", re.sub(r"\s#.*$", "", line)):
            try:
                words = shlex.split(part)
            except ValueError:
                continue
            if words and words[0] == "sightline" and "…" not in part:
                yield words[1:]


LINES = [(page.name, words) for page in PAGES for block in blocks(page, SHELL) for words in typed(block)]


@pytest.mark.parametrize(
    ("page", "words"), LINES, ids=lambda value: value if isinstance(value, str) else " ".join(value)
)
def test_a_line_is_one_that_the_command_takes(page: str, words: list[str]) -> None:
    """Names of commands and options, and the kinds of their values; files need not be there."""
    read(words, f"{page}: sightline {' '.join(words)}")


def read(words: list[str], told: str) -> None:
    """Raises where there is no such command or option, a value is of no such kind, or what is required is missing."""
    command: Any = typer.main.get_command(load_commands())
    context = command.make_context("sightline", [], resilient_parsing=True)
    name = ""
    while hasattr(command, "commands"):
        while words and words[0] == "--config":
            words = words[2:]
        if not words or (words[0].startswith("-") and not command.invoke_without_command):
            return
        if words[0] not in command.commands:
            assert words[0].startswith("-"), f"{told}: there is no command {words[0]}"
            break
        name, words = words[0], words[1:]
        command = command.commands[name]
    given = [word for word in words if word not in ("<", ">")]
    command.make_context(name, given, parent=context)
    be_quiet(False)  # a line with -q has asked for it


def examples(command: Any, name: str) -> Iterator[tuple[str, str]]:
    """Every command that does something, with what its help ends with."""
    below = getattr(command, "commands", {})
    if command.invoke_without_command if below else not command.hidden:
        yield name, command.epilog or ""
    for inner in below:
        yield from examples(below[inner], f"{name} {inner}")


EXAMPLES = dict(examples(typer.main.get_command(load_commands()), "sightline"))


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_command_shows_an_example_that_it_takes(name: str) -> None:
    """The last line of its help, and on the page of the commands."""
    told = EXAMPLES[name]
    assert told.startswith(f"Example: {name} "), f"{name} has no example: give its command an epilog"
    line = told.removeprefix("Example: ")
    read(shlex.split(line)[1:], line)
    page = (ROOT / "docs" / "reference" / "commands.md").read_text("utf-8")
    assert f"```sh\n{line}\n```" in page.split(f"\n## {name}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    "line",
    ["score stories.jsonl -o out", "score a.jsonl -m cider --workers many", "demo --opne", "scroe a.jsonl"],
)
def test_a_wrong_line_is_found(line: str) -> None:
    with pytest.raises((typer.TyperException, AssertionError)):
        read(shlex.split(line), line)


def test_the_lines_are_found() -> None:
    assert len(LINES) > 60
    assert {"README.md", "compare.md", "published.md"} <= {page for page, _ in LINES}


def test_python_runs_or_says_why_not() -> None:
    with_python = {page.name for page in PAGES if blocks(page, ("python",))}
    assert with_python - set(ELSEWHERE) <= {"README.md", "python.md", "report.md"}


def test_the_readme_runs_from_its_first_block_to_its_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the files that `demo --samples` leaves; what installs, fetches models or opens a browser is left out."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIGHTLINE_CACHE", str(tmp_path / "cache"))
    assert CliRunner().invoke(load_commands(), ["demo", "--samples"]).exit_code == 0
    ran = 0
    for block in blocks(ROOT / "README.md", SHELL):
        for words in typed(block):
            if "clip:openai/clip-vit-base-patch32" in words or words[0] in ("demo", "doctor"):
                continue  # needs the hub; tests/demo runs the demo
            done = CliRunner().invoke(load_commands(), words)
            assert done.exit_code == 0, f"{words}: {done.output} {done.exception}"
            ran += 1
    names: dict[str, Any] = {}
    for block in blocks(ROOT / "README.md", ("python",)):
        exec(compile(block, "README.md", "exec"), names)
    assert ran >= 2
    for page in ("out/report.html", "verdict/report.html", "report.html"):
        assert Path(page).read_text("utf-8").startswith("<!doctype html>")
