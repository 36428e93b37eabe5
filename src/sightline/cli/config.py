"""`sightline.toml`: options that need not be typed each time. What is typed counts before what the file says.

encoder = "clip:openai/clip-vit-base-patch32"   # for every command that takes it

[score]                                         # for one command
metric = ["groovist", "cider"]

[train.rater]                                   # for one below another
seed = 7
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperOption

from sightline.errors import UsageError, unknown

NAME = "sightline.toml"
"""The file that is looked for in the current folder."""
NOT_OPTIONS = ("help", "config")


def defaults_from(
    file: Path | None, words: Sequence[str], ctx: Any, every: Callable[[], set[str]]
) -> dict[str, Any]:
    """What the options of a command are where they are not typed: from the top of the file and from its table.

    `file` is the one that is named; without it that of the current folder counts, if there is one. `words` are the
    names that lead to the command, `every` all options there are, which are asked for only to tell a slip from an
    option of another command. Raises UsageError where the file names an option that there is not, or a value that does
    not fit.
    """
    path = file or Path(NAME)
    if file is None and not path.is_file():
        return {}
    said = _read(path)
    options = {
        str(param.name): param
        for param in ctx.command.params
        if isinstance(param, TyperOption) and param.name not in NOT_OPTIONS
    }
    own, called = _table(path, said, words, ctx.find_root()), " ".join(words)
    found: dict[str, Any] = {}
    for key, value in said.items():
        name = key.replace("-", "_")
        if isinstance(value, dict):
            continue
        if name in options:
            found[name] = value
        elif name not in (names := every()):
            raise UsageError(f"{path}: {unknown('option', key, map(_typed, names))}")
    for key, value in own.items():
        name = key.replace("-", "_")
        if isinstance(value, dict) and key in getattr(ctx.command, "commands", ()):
            continue  # of a command below this one
        if name not in options:
            raise UsageError(f"{path}: {unknown(f'option of {called}', key, map(_typed, options))}")
        found[name] = value
    typed = {name: _fitting(path, value, options[name], ctx) for name, value in found.items()}
    if typed:
        from sightline.io.provenance import say_config

        say_config(str(path), typed)
        ctx.call_on_close(say_config)
    return typed


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8-sig"))
    except OSError as fault:
        raise UsageError(f"{path}: cannot be read ({fault.strerror or fault})") from None
    except ValueError as fault:  # not TOML, or not UTF-8
        raise UsageError(f"{path}: not TOML ({fault})") from None


def _typed(name: str) -> str:
    return name.replace("_", "-")


def _table(path: Path, said: Mapping[str, Any], words: Sequence[str], root: Any) -> Mapping[str, Any]:
    """The table of one command."""
    commands: Mapping[str, Any] = getattr(root.command, "commands", {})
    for name, value in said.items():
        if isinstance(value, dict) and name not in commands:
            raise UsageError(f"{path}: {unknown('command', name, commands)}")
        if name in commands and not isinstance(value, dict):
            raise UsageError(f"{path}: {name} is a command: give its options in a table, [{name}]")
    for word in words:
        said = said.get(word, {})
        if not isinstance(said, Mapping):
            raise UsageError(f"{path}: {word} is a command: give its options in a table, [{'.'.join(words)}]")
    return said


def _fitting(path: Path, value: Any, option: TyperOption, ctx: Any) -> Any:
    """A value of TOML as it would have been typed, seen to be one that the option takes."""
    one = f"{path}: {_typed(str(option.name))}"
    if option.is_flag:
        if not isinstance(value, bool):
            raise UsageError(f"{one} is true or false")
        return value
    several = value if isinstance(value, list) else [value]
    if isinstance(value, list) and not option.multiple:
        raise UsageError(f"{one} takes one value, not a list")
    for part in several:
        if isinstance(part, bool) or not isinstance(part, str | int | float):
            raise UsageError(f"{one}: give text or a number, not {part!r}")
    typed = [str(part) for part in several] if option.multiple else str(value)
    try:
        option.process_value(ctx, typed)
    except typer.BadParameter as fault:
        raise UsageError(f"{one}: {fault.message.removeprefix('Value error, ')}") from None
    return typed
