"""Whether scores that nobody can make again were measured alike: else they are refused, or the difference is named."""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from sightline.errors import UsageError
from sightline.meta.comparison.board import Board
from sightline.pipeline.finished import signature_parts


def measured_alike(
    board: Board, *, as_measured: bool = False, files: Mapping[str, str] | None = None
) -> list[str]:
    """What a reader must know of how the scores on a board were measured.

    Raises UsageError, with the command that mends it, where they were measured in different ways, unless the user takes
    them `as_measured`. `files` tells the texts of a system, for that command.
    """
    notes = []
    for spec in board.metrics:
        by_signature = board.signatures(spec)
        known = [signature for signature in by_signature if signature]
        if unknown := by_signature.get(""):
            notes.append(f"{spec}: how {_and(unknown)} was measured is not told")
        if len(known) > 1:
            told = "; ".join(
                f"{part} is {_values(values)}" for part, values in _apart(known, by_signature).items()
            )
            if not as_measured:
                systems = dict.fromkeys(system for signature in known for system in by_signature[signature])
                named = " ".join(shlex.quote(f"{name}={(files or {}).get(name, 'FILE')}") for name in systems)
                raise UsageError(
                    f"{spec}: the systems were measured in different ways ({told}), so that their scores cannot be held"
                    f" against each other; score their texts as one: sightline compare {named} -m {shlex.quote(spec)}"
                    " -o DIR (or take them as they are, with the difference named: --as-measured)"
                )
            notes.append(f"{spec}: the systems were measured in different ways: {told}")
    return notes


def _apart(
    signatures: Sequence[str], systems: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, list[str]]]:
    """The parts in which signatures differ: each value, and the systems that have it."""
    parts = {one: {"metric": one.split("|")[0]} | signature_parts(one) for one in signatures}
    apart: dict[str, dict[str, list[str]]] = {}
    for key in dict.fromkeys(key for found in parts.values() for key in found):
        values: dict[str, list[str]] = {}
        for signature, found in parts.items():
            values.setdefault(found.get(key, "not told"), []).extend(systems[signature])
        if len(values) > 1:
            apart[key] = values
    return apart


def _values(values: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{value} for {_and(systems)}" for value, systems in values.items())


def _and(names: Iterable[str]) -> str:
    return ", ".join(names)
