"""From a file to entries: HL's own lines, or the items of any other reader, put together by picture."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sightline.corpus.checks import caption_fault, checked_number, picture_fault
from sightline.corpus.entries import Caption, Entries, Entry
from sightline.corpus.several import captions_of
from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, Reader, checked, guess, make_reader
from sightline.io.hl import Hl, HlPicture
from sightline.io.item_rows import ItemRows
from sightline.io.table import TableFile
from sightline.items import Failure, Item

CAPTION = "caption"
"""The axis of captions that name none."""

Progress = Callable[[str, int, int | None], None]


@dataclass
class Corpus:
    """What was read, what could not be, and which pictures cannot be shown."""

    entries: Entries = field(default_factory=Entries)
    failures: list[Failure] = field(default_factory=list)
    axes: set[str] = field(default_factory=set)
    unseen: list[Failure] = field(default_factory=list)
    """Pictures that are not there, or no pictures."""
    pictures: int = 0
    """Picture files that are there."""


def read_corpus(path: Path, format: str | None, progress: Progress) -> Corpus:
    """Every picture with its captions. A bad line, caption or number is a failure, and reading goes on."""
    source = TableFile(path)
    reader = make_reader(format) if format else guess(source)
    corpus = Corpus()
    found = _hl(reader, source, corpus) if isinstance(reader, Hl) else _items(reader, source, corpus)
    for number, _ in enumerate(found, 1):
        if number % 500 == 0:
            progress("reading", number, None)
    if not len(corpus.entries):
        reason = f"; {corpus.failures[0].source}: {corpus.failures[0].reason}" if corpus.failures else ""
        raise UsageError(f"{path}: no caption in it{reason}")
    return corpus


def _hl(reader: Hl, source: TableFile, corpus: Corpus) -> Iterator[None]:
    for found in reader.pictures(source):
        if isinstance(found, BadLine):
            corpus.failures.append(_failure(found))
        else:
            entry = _Parsed(found, corpus.failures).entry(reader.axis)
            if entry.axes and not corpus.entries.add(entry):
                reason = "the picture was there before; only its first line counts"
                corpus.failures.append(Failure(entry.id, "item", reason, entry.source))
            elif entry.axes:
                corpus.axes |= entry.axes.keys()
                _look_for(entry, corpus)
        yield


def _items(reader: Reader, source: TableFile, corpus: Corpus) -> Iterator[None]:
    for item in _found(reader, source, corpus):
        if isinstance(item, BadLine):
            corpus.failures.append(_failure(item))
        elif reason := caption_fault(item.whole_text):
            corpus.failures.append(Failure(item.id, "caption", reason, item.source))
        else:
            entry = _entry_of(item, source.folder)
            before = len(corpus.entries)
            corpus.entries.extend(entry)
            corpus.axes |= entry.axes.keys()
            if len(corpus.entries) > before:
                _look_for(entry, corpus)
        yield


def _found(reader: Reader, source: TableFile, corpus: Corpus) -> Iterator[Found]:
    """The items of the file; a row of a general format may hold several captions."""
    if not isinstance(reader, ItemRows):
        yield from reader.read(source)
        return
    for where, row in captions_of(reader.rows(source), corpus.failures):
        yield row if isinstance(row, BadLine) else checked(row, source.folder, where)


def _entry_of(item: Item, folder: Path) -> Entry:
    """A caption belongs to its picture; a story, or a text without a picture, stands alone."""
    axis = item.extra.get("axis")
    image = item.images[0] if item.images else None
    name = item.id
    if image is not None and item.is_caption:
        name = Path(os.path.relpath(image, folder)).as_posix()
    caption = Caption(
        item.whole_text, _mean(item.ratings.get("confidence")), _mean(item.ratings.get("purity"))
    )
    named = axis.strip() if isinstance(axis, str) and axis.strip() else CAPTION
    return Entry(name, str(image or ""), {named: [caption]}, source=item.source)


def _look_for(entry: Entry, corpus: Corpus) -> None:
    if not entry.image:
        return
    path = Path(entry.image)
    there = path.is_file()
    corpus.pictures += there
    if fault := picture_fault(path) if there else "there is no such picture":
        corpus.unseen.append(Failure(entry.id, "picture", fault, entry.source))


def _failure(bad: BadLine) -> Failure:
    return Failure(bad.id, "item", bad.reason, bad.where)


def _mean(values: tuple[float, ...] | None) -> float | None:
    return sum(values) / len(values) if values else None


class _Parsed:
    """One line of HL as an entry; what is wrong in it goes to the failures, what is right is kept."""

    def __init__(self, found: HlPicture, failures: list[Failure]) -> None:
        self._found = found
        self._failures = failures

    def entry(self, only: str) -> Entry:
        found = self._found
        entry = Entry(found.id, found.image, source=found.where)
        for axis, given in found.axes.items():
            if only not in ("all", axis):
                continue
            captions = self._captions(str(axis), given)
            if captions:
                entry.axes[str(axis)] = captions
                score = self._number(found.line.get("diversity"), str(axis), "self_bleu")
                if score is not None:
                    entry.self_bleu[str(axis)] = score
        if not entry.axes:
            self._fail("item", "it has no captions")
        return entry

    def _captions(self, axis: str, given: Any) -> list[Caption]:
        if not isinstance(given, list):
            self._fail("caption", f"field 'captions.{axis}': not a list")
            return []
        confidence = self._numbers("confidence", axis, len(given))
        purity = self._numbers("purity", axis, len(given))
        captions = []
        for number, text in enumerate(given):
            if fault := caption_fault(text):
                self._fail("caption", f"{axis}, caption {number + 1}: {fault}")
            else:
                captions.append(Caption(text, confidence[number], purity[number]))
        return captions

    def _numbers(self, kind: str, axis: str, count: int) -> list[float | None]:
        """A number for each caption of the axis, None for those that have none."""
        nothing: list[float | None] = [None] * count
        by_axis = self._found.line.get(kind)
        if by_axis is None:
            return nothing
        if not isinstance(by_axis, dict):
            self._fail(kind, f"field '{kind}': not an object of axes")
            return nothing
        given = by_axis.get(axis)
        if given is None:
            return nothing
        if not isinstance(given, list):
            self._fail(kind, f"field '{kind}.{axis}': not a list")
            return nothing
        if len(given) != count:
            self._fail(kind, f"{axis}: {len(given)} values for {count} captions; none of them counts")
            return nothing
        return [self._checked(value, kind, f"{axis}, caption {n + 1}") for n, value in enumerate(given)]

    def _number(self, by_axis: Any, axis: str, kind: str) -> float | None:
        given = by_axis.get(axis) if isinstance(by_axis, dict) else None
        return None if given is None else self._checked(given, kind, axis)

    def _checked(self, value: Any, kind: str, place: str) -> float | None:
        try:
            return checked_number(value)
        except ValueError as fault:
            self._fail(kind, f"{place}: {fault}")
            return None

    def _fail(self, kind: str, reason: str) -> None:
        self._failures.append(Failure(self._found.id, kind, reason, self._found.where))
