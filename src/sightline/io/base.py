"""What a reader is, the readers by name, and the guess which one a file needs."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import ClassVar, Literal, overload

from sightline.errors import BadLine, UsageError
from sightline.io.items import NO_NAMES, item_from_dict
from sightline.io.table import StandardInput, TableFile
from sightline.items import Item
from sightline.registry import Registry, build, parse_spec

Found = Item | BadLine


class Reader:
    """Streams items out of a file. A dataclass: its fields are the options of `--format name:key=value`."""

    general: ClassVar[bool] = False
    """Whether it also takes files that a more special reader recognises."""

    def recognises(self, source: TableFile) -> bool:
        """Whether the file looks like this format."""
        raise TypeError(f"{type(self).__name__} does not say what it recognises")

    def read(self, source: TableFile) -> Iterator[Found]:
        """Every item; a line that is none comes out as the reason, and reading goes on."""
        raise TypeError(f"{type(self).__name__} does not say how it reads")


readers: Registry[type[Reader]] = Registry("format")


@overload
def read_items(
    path: Path | str, *, format: str | None = None, on_error: Literal["raise"] = "raise"
) -> Iterator[Item]: ...
@overload
def read_items(
    path: Path | str, *, format: str | None = None, on_error: Literal["collect"]
) -> Iterator[Found]: ...


def read_items(
    path: Path | str, *, format: str | None = None, on_error: Literal["raise", "collect"] = "raise"
) -> Iterator[Found]:
    """Stream the items of a file.

    Arguments: `path` of a file, of a folder of pictures with their metadata, or `-` for stdin; `format`, as in
    `--format`, which is guessed unless given; `on_error`: "raise" at the first bad line, or "collect" to have it come
    out as a BadLine in its place among the items.

    Raises UsageError where the file cannot be read or holds no item, and BadLine as said.
    """
    source = item_file(path)  # a file that cannot be read is told at once, not at the first item
    reader = make_reader(format) if format else guess(source)
    return streamed(reader, source, on_error == "collect")


def item_file(path: Path | str) -> TableFile:
    """The file of items at a path: of a folder its metadata, and `-` is what comes in on stdin."""
    if str(path) == "-":
        return StandardInput()
    path = Path(path)
    if path.is_dir():
        metadata = [path / f"metadata.{kind}" for kind in ("jsonl", "csv", "parquet")]
        found = next((file for file in metadata if file.is_file()), None)
        if found is None:
            names = ", ".join(file.name for file in metadata)
            raise UsageError(f"{path}: a folder, not a file of items; its texts would be in one of {names}")
        path = found
    return TableFile(path)


def streamed(reader: Reader, source: TableFile, collect: bool) -> Iterator[Found]:
    first_fault: BadLine | None = None
    items = 0
    for found in reader.read(source):
        if isinstance(found, BadLine):
            if not collect:
                raise found
            first_fault = first_fault or found
        else:
            items += 1
        yield found
    if not items:
        reason = f"no item in it; {first_fault}" if first_fault else "no item in it"
        raise UsageError(f"{source.path}: {reason}")


def make_reader(spec: str) -> Reader:
    name, options = parse_spec(spec)
    return build(readers.get(name), name, options)


def guess(source: TableFile) -> Reader:
    """The reader that recognises the file; a special one before a general one."""
    made = {name: readers.get(name)() for name in readers}
    fitting = {name: reader for name, reader in made.items() if reader.recognises(source)}
    special = {name: reader for name, reader in fitting.items() if not reader.general}
    chosen = special or fitting
    if len(chosen) > 1:
        raise UsageError(f"{source.path}: could be {' or '.join(chosen)}; say which with --format")
    if not chosen:
        raise UsageError(f"{source.path}: the format is not known; give --format, one of {', '.join(made)}")
    return next(iter(chosen.values()))


def checked(given: dict[str, object], base: Path, where: str, called: Mapping[str, str] = NO_NAMES) -> Found:
    """The item, or the reason why there is none."""
    try:
        return item_from_dict(given, base, where, called)
    except BadLine as bad:
        return bad
