"""Groups of commands that are imported when they are called. Until then a command is its name and one line of help."""

import importlib
from collections.abc import Mapping
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from sightline.cli.everywhere import with_shared_options


class LazyGroup(TyperGroup):
    """A group that knows its commands by `lines`; the module of each is `place` with the command's name behind it."""

    lines: ClassVar[Mapping[str, str]] = {}
    place: ClassVar[str]
    owner: ClassVar[typer.Typer]
    """What a command's module adds the command to."""

    def __init__(self, *, commands: Mapping[str, Any] | None = None, **given: Any) -> None:
        named = {name: TyperCommand(name, help=line) for name, line in self.lines.items()}
        with_shared_options((commands or {}).values())
        super().__init__(commands={**named, **(commands or {})}, **given)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """The command that the first word names, imported now."""
        if args[0] in self.lines:
            self.load(args[0])
        return super().resolve_command(ctx, args)

    def load(self, name: str) -> None:
        self.import_module(name)
        self.commands[name] = get_group(self.owner).commands[name]

    @property
    def loaded(self) -> TyperGroup:
        """The group with all its commands imported."""
        self.load_all()
        return get_group(self.owner)

    @classmethod
    def import_module(cls, name: str) -> None:
        importlib.import_module(cls.place + name.replace("-", "_"))

    @classmethod
    def load_all(cls) -> None:
        """Import the commands of this group and of the groups below it."""
        for name in cls.lines:
            cls.import_module(name)
        for below in LazyGroup.__subclasses__():
            if below is not cls and below.place.startswith(cls.place):
                below.load_all()
