"""Captions of pictures, batch by batch: each picture's row in the contract's item form, or why there is none."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Final

from PIL import Image

from sightline.errors import BadLine, Unscorable, UsageError
from sightline.generate.base import (
    Axis,
    Candidate,
    Captioner,
    Decoding,
    check_axis,
    load_captioner,
    signature,
)
from sightline.generate.subjects import Subject
from sightline.generate.trouble import sound
from sightline.items import Failure, Item
from sightline.vision.pictures import Pictures

BATCH: Final = 32
"""Pictures that are decoded, described and put on disk together."""
WHAT: Final = "caption"
"""What failures call the thing that could not be made."""


@dataclass(frozen=True)
class Captioning:
    """A captioner with all that decides what it says."""

    spec: str
    axes: tuple[Axis, ...] = ("object",)
    decoding: Decoding = field(default_factory=Decoding)
    name: str | None = None

    def __post_init__(self) -> None:
        if len(set(self.axes)) < len(self.axes) or not self.axes:
            raise UsageError("--axis names each axis once")

    @property
    def system(self) -> str:
        """The captioner as results name it: as it was given, a folder by its own name."""
        if self.name:
            return self.name
        kind, _, argument = self.spec.partition(":")
        return f"{kind}:{Path(argument).name}" if argument and Path(argument).exists() else self.spec

    def load(self) -> Captioner:
        found = load_captioner(self.spec)
        for axis in self.axes:
            check_axis(found, self.spec, axis)
        return found


@dataclass(frozen=True)
class Described:
    """A subject told on one axis: an item, or a failure."""

    subject: Subject
    axis: Axis
    item: Item | None
    failure: Failure | None
    candidates: tuple[Candidate, ...] = ()


Told = Described | Failure


class Describing:
    """A captioning with its model loaded."""

    def __init__(self, captioning: Captioning) -> None:
        self.captioning = captioning
        self.captioner = captioning.load()
        self._pictures = Pictures()

    @property
    def signatures(self) -> dict[str, str]:
        return {
            axis: signature(self.captioner, axis, self.captioning.decoding) for axis in self.captioning.axes
        }

    def describe(self, subjects: Sequence[Subject]) -> list[Described]:
        """A batch of subjects, in their order; each axis of a subject after the other."""
        self._pictures.prefetch(path for subject in subjects for path in subject.images)
        opened = [self._open(subject) for subject in subjects]
        pictures = [picture for one in opened if not isinstance(one, Unscorable) for picture in one]
        by_axis: dict[Axis, Iterator[Any]] = {
            axis: iter(self.captioner.describe(pictures, axis, self.captioning.decoding) if pictures else ())
            for axis in self.captioning.axes
        }
        told = []
        for subject, one in zip(subjects, opened, strict=True):
            for axis in self.captioning.axes:
                found = one if isinstance(one, Unscorable) else [sound(next(by_axis[axis])) for _ in one]
                told.append(self._told(subject, axis, found))
        return told

    def _open(self, subject: Subject) -> list[Image.Image] | Unscorable:
        try:
            return [self._pictures.load(path).crop() for path in subject.images]
        except Unscorable as reason:
            return reason

    def _told(self, subject: Subject, axis: Axis, found: Any) -> Described:
        id = subject.id if len(self.captioning.axes) == 1 else f"{subject.id}#{axis}"
        fault = found if isinstance(found, Unscorable) else next(
            (one for one in found if isinstance(one, Unscorable)), None
        )  # fmt: skip
        if fault is not None:
            failure = Failure(id, WHAT, str(fault), subject.source, self.captioning.system)
            return Described(subject, axis, None, failure)
        best = [candidates[0] for candidates in found]
        story = len(subject.images) > 1
        chances = [one.log_probability for one in best]
        known = [chance for chance in chances if chance is not None]
        extra: dict[str, Any] = {"axis": axis, "captioner": self.signatures[axis]}
        if len(known) == len(chances):
            extra["log_probability"] = sum(known)
        if not story and len(found[0]) > 1:
            extra["candidates"] = [
                {"text": one.text, "log_probability": one.log_probability} for one in found[0]
            ]
        item = Item(
            id,
            subject.images,
            text=" ".join(one.text for one in best),
            sentences=tuple(one.text for one in best) if story else None,
            references=() if story else tuple(one.text for one in subject.told(axis)),
            system=self.captioning.system,
            extra=extra,
            source=subject.source,
        )
        return Described(subject, axis, item, None, () if story else tuple(found[0]))


def told_of(describing: Describing, subjects: Iterable[Subject | BadLine]) -> Iterator[list[Told]]:
    """Batch by batch; lines that are no subject are failures in their place."""
    stream = iter(subjects)
    while batch := list(islice(stream, BATCH)):
        good = [one for one in batch if isinstance(one, Subject)]
        bad: list[Told] = [
            Failure(one.id, WHAT, one.reason, one.where, describing.captioning.system)
            for one in batch
            if isinstance(one, BadLine)
        ]
        yield [*bad, *describing.describe(good)]
