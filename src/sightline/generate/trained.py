"""What `sightline train captioner` leaves beside a model: which axes it tells of, and how it was made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from sightline.errors import UsageError
from sightline.generate.base import AXES, Axis

FILE = "sightline.json"


@dataclass(frozen=True)
class About:
    """Of a captioner in a folder; empty where nothing says so."""

    axes: tuple[Axis, ...] = ()
    """What it was trained to tell."""
    ends: tuple[str, ...] = ()
    """Tokens that end its texts, where the tokeniser's own end does not: ClipCap's full stop."""
    recipe: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "About":
        try:
            found = msgspec.json.decode((folder / FILE).read_bytes(), type=cls)
        except (FileNotFoundError, NotADirectoryError):
            return cls()
        except (OSError, msgspec.DecodeError) as fault:
            raise UsageError(f"{folder / FILE}: cannot be read ({fault})") from None
        if unknown := set(found.axes) - set(AXES):
            raise UsageError(f"{folder / FILE}: unknown axes {', '.join(sorted(unknown))}")
        return found
