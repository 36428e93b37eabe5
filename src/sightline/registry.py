"""Metrics, encoders and readers by name. Built-in ones register exactly as a third party's do.

A package adds its own through the entry point group `sightline`: each entry names a module, and importing the module
registers what it defines.

    [project.entry-points.sightline]
    my-metrics = "my_package.metrics"
"""

import dataclasses
import importlib
import importlib.metadata
import math
import pkgutil
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar

import msgspec

from sightline.errors import UsageError, unknown

T = TypeVar("T")
GROUP = "sightline"
BUILT_IN = (
    "sightline.metrics",
    "sightline.encoders",
    "sightline.judges",
    "sightline.io",
    "sightline.vision",
    "sightline.meta.protocols",
    "sightline.corpus.purity",
    "sightline.generate.captioners",
)


@cache
def load_plugins() -> None:
    """Import every module that registers something: the built-in rooms first, then installed plugins."""
    for room in BUILT_IN:
        package = importlib.import_module(room)
        for module in pkgutil.iter_modules(getattr(package, "__path__", [])):
            importlib.import_module(f"{room}.{module.name}")
    for entry in importlib.metadata.entry_points(group=GROUP):
        try:
            entry.load()
        except Exception as fault:
            raise UsageError(f"plugin '{entry.name}' ({entry.value}) does not load: {fault}") from fault


class Registry(Generic[T]):
    """Things of one kind by name, with a one-line description each."""

    every: ClassVar["list[Registry[Any]]"] = []
    """All registries there are, for the documentation that is made from them."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._entries: dict[str, T] = {}
        self.every.append(self)

    def add(self, name: str) -> Callable[[T], T]:
        """Decorator that registers a thing under a name."""

        def register(thing: T) -> T:
            if self._entries.get(name, thing) is not thing:
                raise UsageError(f"two {self.kind}s are called '{name}'")
            self._entries[name] = thing
            return thing

        return register

    def get(self, name: str) -> T:
        load_plugins()
        if name not in self._entries:
            raise unknown(self.kind, name, self._entries)
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        load_plugins()
        return iter(sorted(self._entries))

    def describe(self, name: str) -> str:
        """First line of the thing's docstring."""
        return (self.get(name).__doc__ or "").strip().split("\n")[0]


def parse_spec(spec: str) -> tuple[str, dict[str, str]]:
    """`name:key=value,key=value` as a name and its options."""
    name, colon, rest = spec.partition(":")
    options: dict[str, str] = {}
    for part in rest.split(",") if colon else ():
        key, equals, value = part.partition("=")
        if not equals or not key.strip() or not value.strip():
            raise UsageError(f"cannot read '{spec}': write it as {name}:key=value,key=value")
        if key.strip() in options:
            raise UsageError(f"'{spec}' gives {key.strip()} twice")
        options[key.strip()] = value.strip()
    return name.strip(), options


def parse_specs(given: Iterable[str]) -> list[str]:
    """The specs in texts that may hold several: `a,b` is two; in `a:x=1,y=2,b` a has two options."""
    found: list[str] = []
    for text in given:
        own: list[str] = []
        for part in map(str.strip, text.split(",")):
            name, equals, _ = part.partition("=")
            if own and equals and ":" not in name:
                own[-1] += f",{part}"
            elif not part:
                raise UsageError(f"cannot read '{text}': a name is missing")
            else:
                own.append(part)
        found += own
    return list(dict.fromkeys(found))


def build(cls: type[T], name: str, options: dict[str, str]) -> T:
    """Make a thing from text options, each checked against the type of the dataclass field of that name."""
    fields = {f.name: f for f in dataclasses.fields(cls) if f.init}  # type: ignore[arg-type]
    hints = typing.get_type_hints(cls)
    values: dict[str, Any] = {}
    for key, text in options.items():
        if key not in fields:
            raise (
                unknown(f"option of {name}", key, fields)
                if fields
                else UsageError(f"{name} takes no options")
            )
        values[key] = _convert(text, hints[key], f"{name}:{key}")
    return cls(**values)


KINDS = {bool: "true or false", int: "a whole number", float: "a finite number"}


def _convert(text: str, hint: Any, where: str) -> Any:
    """The value that a text stands for where this type is wanted: `false` is False for a bool."""
    try:
        found = msgspec.convert(text, hint, strict=False, dec_hook=lambda kind, given: kind(given))
        if not isinstance(found, float) or math.isfinite(found):
            return found
    except (msgspec.ValidationError, OverflowError):
        pass
    kinds = [kind for kind in typing.get_args(hint) or (hint,) if kind is not types.NoneType]
    names = [KINDS.get(kind, getattr(kind, "__name__", str(kind))) for kind in kinds]
    among = "one of " if typing.get_origin(hint) is typing.Literal else ""
    raise UsageError(f"{where}={text} is not {among}{', '.join(names)}")
