"""Captions in Python: what `sightline.caption` gives back."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.errors import extra
from sightline.generate.files import report
from sightline.generate.run import Described, Describing, told_of
from sightline.generate.subjects import subjects_at, subjects_given
from sightline.io.results import whole
from sightline.items import Failure, Item


@dataclass
class Captions:
    """The captions of pictures as items, which `sightline.score` takes as they are, and the failures."""

    items: tuple[Item, ...]
    failures: list[Failure] = field(default_factory=list)
    described: Sequence[Described] = ()

    @property
    def texts(self) -> dict[str, str]:
        """Each picture's caption by its id."""
        return {item.id: item.whole_text for item in self.items}

    def to_pandas(self) -> Any:
        """One row per caption."""
        pandas = extra("pandas", "pandas")
        names = ("axis", "log_probability", "captioner")
        rows = [
            {"id": item.id, "system": item.system, "text": item.whole_text}
            | {name: item.extra.get(name) for name in names}
            for item in self.items
        ]
        return pandas.DataFrame(rows, columns=["id", "system", "text", *names]).set_index("id")

    def report(self, path: str | Path, title: str = "Captions") -> Path:
        """Write the contact sheet and return where it is."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as file:
            file.writelines(piece.encode() for piece in report(title, self.described, self.failures))
        return path

    def __repr__(self) -> str:
        return f"<Captions: {len(self.items)} captions; {len(self.failures)} failures>"


def captions_of(describing: Describing, pictures: Any, base: Path, format: str | None = None) -> Captions:
    """Of a file or folder by its path, or of pictures at hand."""
    subjects = (
        subjects_at([pictures], format)
        if isinstance(pictures, str | Path)
        else subjects_given(pictures, base)
    )
    described: list[Described] = []
    failures: list[Failure] = []
    for batch in told_of(describing, subjects):
        for one in batch:
            if isinstance(one, Failure):
                failures.append(one)
                continue
            described.append(one)
            if one.failure:
                failures.append(one.failure)
    return Captions(tuple(one.item for one in described if one.item), failures, described)
