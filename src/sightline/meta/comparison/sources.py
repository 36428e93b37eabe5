"""What a user names to be compared: files of texts, runs' folders, files of scores; with a system's name or not."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.errors import BadLine, UsageError
from sightline.io.counting import STDIN
from sightline.io.scores import FAILURES, read_failures
from sightline.items import Failure, Item, Score
from sightline.meta.comparison.score_tables import holds_scores, scores_in
from sightline.pipeline.finished import Finished

Reading = Callable[[Path], Iterator[Item | BadLine]]
"""How a file of texts is read: `read_items` with its format, and what a bad line does."""


@dataclass(frozen=True)
class SystemSource:
    """A path, and the name its texts or scores are compared under where it is not theirs."""

    path: Path
    name: str | None = None
    only: str | None = None
    """The one system to take, where the path holds several."""

    @property
    def holds_scores(self) -> bool:
        return not self.is_stdin and holds_scores(self.path)

    @property
    def is_stdin(self) -> bool:
        return str(self.path) == STDIN

    @property
    def finished(self) -> Finished | None:
        """The run whose folder this is; None where it is a file, or a folder with scores alone."""
        if not (self.path / "summary.json").is_file() or self.only is not None:
            return None
        return Finished.open(self.path)

    def items(self, reading: Reading) -> Iterator[Item | BadLine]:
        for item in reading(self.path):
            if self.only is None or item.system == self.only:
                yield named(item, self.name or item.system)
            elif isinstance(item, BadLine) and item.system is None:
                yield item  # whose it is, nobody knows

    def scores(self) -> Iterator[Score]:
        systems: set[str | None] = set()
        for score in scores_in(self.path):
            if self.only is not None and score.system != self.only:
                systems.add(score.system)
                continue
            if self.name is not None and self.only is None:
                systems.add(score.system)
                if len(systems) > 1:
                    names = ", ".join(sorted(map(str, systems)))
                    raise UsageError(
                        f"{self.path} holds the systems {names}: give it without a name, as {self.path}"
                    )
            yield score if self.name is None else replace(score, system=self.name)

    def failures(self) -> Iterator[Failure]:
        path = self.path / FAILURES
        if self.path.is_dir() and path.is_file():
            for failure in read_failures(path):
                if self.only is None or failure.system == self.only:
                    yield failure if self.name is None else replace(failure, system=self.name)


def named(item: Item | BadLine, system: str | None) -> Item | BadLine:
    """The item, or line that is none, of this system."""
    return item.of(system) if isinstance(item, BadLine) else replace(item, system=system)


def named_sources(
    given: Sequence[str], *, sides: tuple[str | None, str | None] = (None, None)
) -> list[SystemSource]:
    """Sources from `NAME=PATH` and plain paths. Two plain paths are people's and a system's: `human`, `generated`.

    `sides` are the systems to take from those two. Raises UsageError with what to type instead.
    """
    found = [_source(text) for text in given]
    plain = [source for source in found if source.name is None]
    if len(found) == 2 and len(plain) == 2:
        pairs = zip(found, sides, ("human", "generated"), strict=True)
        found = [replace(source, name=side or name, only=side) for source, side, name in pairs]
    elif len(plain) > 1 or (plain and len(found) > 1):
        raise UsageError(
            f"name each system: {' '.join(f'{source.name or _stem(source.path)}={source.path}' for source in found)}"
        )
    for name, times in Counter(source.name for source in found).items():
        if times > 1:
            raise UsageError(f"{times} of the files are named {name}; give each a name of its own")
    if sum(source.is_stdin for source in found) > 1:
        raise UsageError("-: what comes in on stdin can be one of the files, not several")
    if len({source.holds_scores for source in found}) > 1 and len(plain) != 2:
        texts = ", ".join(str(source.path) for source in found if not source.holds_scores)
        raise UsageError(
            f"{texts}: texts that are not scored yet, beside scores; give all as texts, or score them first"
        )
    return found


def _source(text: str) -> SystemSource:
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        source = SystemSource(Path(text))
    elif not name.strip():
        raise UsageError(f"{text}: a system's name is missing before the =")
    else:
        source = SystemSource(Path(path), name.strip())
    if source.is_stdin:
        return source
    if not source.path.exists():
        raise UsageError(f"{source.path}: there is no such file or folder")
    if source.path.is_dir() and not source.holds_scores:
        raise UsageError(f"{source.path}: not the folder of a run; it has no scores.jsonl")
    return source


def _stem(path: Path) -> str:
    return path.name.split(".")[0] or "NAME"
