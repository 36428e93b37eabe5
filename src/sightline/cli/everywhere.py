"""What every command takes: `-q`, and its options from `sightline.toml`."""

from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from sightline.cli.config import defaults_from
from sightline.cli.consoles import be_quiet


def _begun(ctx: typer.Context, quiet: bool) -> None:
    """Before a command's other options are read: what they are where they are not typed."""
    if ctx.resilient_parsing:
        return
    root, words = ctx.find_root(), list(_words(ctx))
    defaults = defaults_from(root.params.get("config"), words, ctx, lambda: _every(root.command))
    ctx.default_map = {**(ctx.default_map or {}), **defaults}
    be_quiet(quiet or bool(defaults.get("quiet")))


QuietOption = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="Say nothing but errors, and results that no file keeps.",
        is_eager=True,
        expose_value=False,
        callback=_begun,
    ),
]


def with_shared_options(commands: Iterable[Any]) -> None:
    """Give every command, and every command below a group, what all take."""
    for command in commands:
        if isinstance(command, TyperGroup):
            with_shared_options(command.commands.values())
        if _does_something(command) and not any(param.name == "quiet" for param in command.params):
            command.params.append(_option())


def _does_something(command: Any) -> bool:
    """Not a mere name for the commands below it."""
    return not isinstance(command, TyperGroup) or command.invoke_without_command


def _option() -> Any:
    made = typer.Typer(add_completion=False)

    @made.command()
    def takes_it(quiet: QuietOption = False) -> None: ...

    return next(param for param in typer.main.get_command(made).params if param.name == "quiet")


def _words(ctx: Any) -> Iterator[str]:
    """The names that lead to a command, without the program's."""
    if ctx.parent is not None:
        yield from _words(ctx.parent)
        yield str(ctx.info_name)


def _every(command: Any) -> set[str]:
    """The options of all commands, by name."""
    if isinstance(command, TyperGroup):
        below = getattr(command, "loaded", command).commands.values()
        own = _every_own(command) if command.invoke_without_command else set()
        return own | {name for one in below for name in _every(one)}
    return _every_own(command)


def _every_own(command: Any) -> set[str]:
    return {str(param.name) for param in command.params if param.param_type_name == "option"}
