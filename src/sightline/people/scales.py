"""Rating scales: levels with their meanings, read from data."""

from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from sightline.errors import UsageError, unknown

FILE = Path(__file__).with_name("scales.toml")


class Level(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a scale."""

    value: int
    label: str
    meaning: str = ""


class Scale(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question and its levels, lowest first, one whole number apart."""

    title: str
    question: str
    levels: tuple[Level, ...]
    source: str = ""

    def __post_init__(self) -> None:
        values = self.values
        if not 2 <= len(values) <= 9:
            raise ValueError(f"a scale has 2 to 9 levels, '{self.title}' has {len(values)}")
        if values != tuple(range(values[0], values[0] + len(values))):
            raise ValueError(
                f"the levels of '{self.title}' must rise by one, lowest first; they are {values}"
            )

    @property
    def values(self) -> tuple[int, ...]:
        return tuple(level.value for level in self.levels)

    @property
    def low(self) -> int:
        return self.levels[0].value

    @property
    def high(self) -> int:
        return self.levels[-1].value

    def check(self, value: object) -> int:
        """The value as a level of this scale, or an error that says which levels there are."""
        if isinstance(value, bool) or not isinstance(value, int) or not self.low <= value <= self.high:
            raise UsageError(f"{value!r} is not on the scale {self.low}-{self.high}")
        return value


@cache
def scales() -> dict[str, Scale]:
    """The built-in scales by name."""
    return msgspec.toml.decode(FILE.read_bytes(), type=dict[str, Scale])


def scale(given: str | dict[str, Any]) -> Scale:
    """A built-in scale by name, or one that a study brings along."""
    if isinstance(given, str):
        if given not in scales():
            raise unknown("scale", given, scales())
        return scales()[given]
    try:
        return msgspec.convert(given, Scale)
    except msgspec.ValidationError as fault:
        raise UsageError(f"the study's scale: {fault}") from None
