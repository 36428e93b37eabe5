"""A study's settings as they are written down: only what differs from the defaults, as TOML."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from sightline.people.study import Study


def settings_of(study: Study) -> dict[str, Any]:
    """Kind, title, and what is not as it would be anyhow."""
    usual = msgspec.to_builtins(Study(kind=study.kind, title=study.title))
    given = msgspec.to_builtins(study)
    return {name: value for name, value in given.items() if name in ("kind", "title") or value != usual[name]}


def toml(settings: Mapping[str, Any]) -> str:
    """Settings as TOML: plain values first, tables after them. None is left out."""
    given = {name: value for name, value in settings.items() if value is not None}
    plain = {name: value for name, value in given.items() if not isinstance(value, Mapping)}
    lines = [f"{_key(name)} = {_value(value)}" for name, value in plain.items()]
    for name, table in given.items():
        if isinstance(table, Mapping):
            lines += ["", f"[{_key(name)}]"]
            lines += [f"{_key(key)} = {_value(value)}" for key, value in table.items() if value is not None]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    bare = name.replace("-", "_").isidentifier() and name.isascii()
    return name if bare else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping):
        inside = (f"{_key(key)} = {_value(one)}" for key, one in value.items() if one is not None)
        return f"{{{', '.join(inside)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    return str(value)
