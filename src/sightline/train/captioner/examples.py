"""What a captioner learns from: pictures with people's captions of one axis, some of the pictures held out."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from sightline.errors import BadLine, Unscorable, UsageError
from sightline.generate.base import Axis
from sightline.generate.subjects import Subject
from sightline.items import Failure
from sightline.vision.pictures import Pictures

WHAT = "training"
"""What failures call the thing that a picture or line could not be used for."""


@dataclass(frozen=True, slots=True)
class Example:
    """A picture and one of its captions."""

    picture: Path
    text: str
    weight: float = 1.0


@dataclass
class Examples:
    learned: list[Example]
    held_out: list[Example]
    pictures: int
    failures: list[Failure] = field(default_factory=list)


def examples(
    subjects: Iterable[Subject | BadLine],
    axis: Axis,
    name: str,
    *,
    held_out: Iterable[Subject | BadLine] | None = None,
    share: float = 0.1,
    confidence: bool = False,
    seed: int = 0,
) -> Examples:
    """The captions of the axis. Without a file of its own, a share of the pictures is held out, by lot.

    With `confidence` a caption weighs by how confident people were of it; the mean weight is 1.
    """
    failures: list[Failure] = []
    pictures = Pictures()
    known = _readable(subjects, axis, name, pictures, failures)
    if held_out is None:
        if len(known) < 2:
            raise UsageError(f"{name}: one picture is not enough to learn from and to hold one out")
        order = np.random.default_rng(seed).permutation(len(known))
        count = min(max(1, round(share * len(known))), len(known) - 1)
        chosen = {int(place) for place in order[:count]}
        kept = [one for place, one in enumerate(known) if place not in chosen]
        other = [one for place, one in enumerate(known) if place in chosen]
    else:
        kept, other = known, _readable(held_out, axis, "--dev", pictures, failures)
        both = {subject.images[0] for subject in kept} & {subject.images[0] for subject in other}
        if both:
            raise UsageError(f"{len(both)} pictures are in both files, such as {sorted(both)[0].name}")
    return Examples(
        _weighed(kept, axis, name) if confidence else _plain(kept, axis),
        _plain(other, axis),
        len(kept),
        failures,
    )


def _readable(
    subjects: Iterable[Subject | BadLine],
    axis: Axis,
    name: str,
    pictures: Pictures,
    failures: list[Failure],
) -> list[Subject]:
    found: list[Subject] = []
    axes: Counter[str] = Counter()
    for one in subjects:
        if isinstance(one, BadLine):
            failures.append(Failure(one.id, WHAT, one.reason, one.where))
            continue
        axes.update(caption.axis or "no axis" for caption in one.captions)
        if not one.told(axis) or len(one.images) != 1:
            continue
        try:
            pictures.load(one.images[0])
        except Unscorable as reason:
            failures.append(Failure(one.id, WHAT, str(reason), one.source))
            continue
        found.append(one)
    if not found:
        if axes and axis not in axes and "no axis" not in axes:
            has = ", ".join(f"{count:,} of {other}" for other, count in axes.most_common())
            raise UsageError(f"{name}: no caption of the axis '{axis}'; it has {has}")
        why = f" ({failures[0].reason})" if failures else ""
        raise UsageError(f"{name}: no picture with a caption to learn from{why}")
    return found


def _plain(subjects: Sequence[Subject], axis: Axis) -> list[Example]:
    return [Example(one.images[0], told.text) for one in subjects for told in one.told(axis)]


def _weighed(subjects: Sequence[Subject], axis: Axis, name: str) -> list[Example]:
    pairs = [(one.images[0], told) for one in subjects for told in one.told(axis)]
    known = [told.confidence for _, told in pairs if told.confidence is not None]
    if not known:
        raise UsageError(f"{name}: --confidence weighs captions by their confidence, and none has one")
    mean = sum(known) / len(known)
    return [
        Example(picture, told.text, (mean if told.confidence is None else told.confidence) / mean)
        for picture, told in pairs
    ]
