"""What a summary says of its run besides the scores: the input, the command, the date, the versions."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import blake2b
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from platform import python_version
from typing import Any, Final

from sightline.items import Item
from sightline.metrics.base import package_version
from sightline.pipeline.journal import encode

PACKAGES: Final = ("numpy", "scipy", "onnxruntime", "pillow", "spacy", "torch", "transformers")
"""What scores are computed with, where it is installed."""


@dataclass
class InputDigest:
    """Tells one input from another by content: items in any order, pictures by name and size."""

    total: int = 0

    def add(self, item: Item) -> None:
        sizes = [_size(path) for path in item.images]
        content = encode((replace(item, source="", images=()), [path.name for path in item.images], sizes))
        self.total += int.from_bytes(blake2b(content, digest_size=16).digest())

    def __str__(self) -> str:
        return f"{self.total % (1 << 128):032x}"


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except (OSError, ValueError):
        return -1


def versions() -> dict[str, str]:
    found = {"sightline": package_version(), "python": python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def about(command: str | None, digest: InputDigest, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a summary that says how the run came about; `date` is in UTC."""
    return {
        "command": command,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "versions": versions(),
        "input": {"digest": str(digest)},
        "settings": dict(settings),
    }
