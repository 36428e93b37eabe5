"""What a captioner is: pictures in, candidates with log-probabilities out. Captioners by name."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import Final, Literal, Protocol, get_args

from PIL import Image

from sightline.errors import Unscorable, UsageError, unknown
from sightline.registry import Registry

Axis = Literal["object", "scene", "action", "rationale", "narrative"]
"""What is told of a picture: HL's three axes, the objects on it (COCO), or all in one sentence (HL Narratives)."""
AXES: Final[tuple[Axis, ...]] = get_args(Axis)


@dataclass(frozen=True)
class Decoding:
    """How texts are read out of a model."""

    beams: int = 3
    """Beam search over so many; 1 is greedy. Not used where samples are drawn."""
    samples: int = 0
    """So many texts are drawn at random instead; 0 is beam search."""
    temperature: float = 1.0
    """Of the draws: the logits are divided by it."""
    top_k: int = 0
    """Of the draws: only so many of the likeliest tokens can come next; 0 is all."""
    top_p: float = 1.0
    """Of the draws: only the likeliest tokens that reach this probability together can come next; 1 is all."""
    length: int = 30
    """A text's tokens at most, the end not counted."""
    seed: int = 0
    """Of the draws. A picture's draws depend on it and on the picture, not on the pictures beside it."""

    def __post_init__(self) -> None:
        for field in fields(self):
            least = 0 if field.name in ("samples", "seed", "top_k") else 1
            if field.name not in ("temperature", "top_p") and getattr(self, field.name) < least:
                raise UsageError(f"{field.name} is {getattr(self, field.name)}; it is at least {least}")
        if not 0 < self.temperature < float("inf"):
            raise UsageError(f"temperature is {self.temperature:g}; it is a number above 0")
        if not 0 < self.top_p <= 1:
            raise UsageError(f"top_p is {self.top_p:g}; it is above 0 and at most 1")

    @property
    def signature(self) -> str:
        """What of it changes the texts: the seed only of draws."""
        if self.samples:
            drawn = f"samples={self.samples},temperature={self.temperature:g},seed={self.seed}"
            kept = f",top_k={self.top_k}" * (self.top_k > 0) + f",top_p={self.top_p:g}" * (self.top_p < 1)
            return f"{drawn}{kept},length={self.length}"
        return f"beams={self.beams},length={self.length}"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text for a picture."""

    text: str
    log_probability: float | None
    """Natural logarithm of the whole text's probability for the picture, its end included, at temperature 1; None
    where a server does not tell."""


Described = Sequence[Candidate] | Unscorable
"""A picture's candidates, the best first; or why there is none."""


def axes_named(names: Sequence[str]) -> tuple[Axis, ...]:
    """The axes of these names; raises UsageError for one that is none."""
    for name in names:
        if name not in AXES:
            raise unknown("axis", name, AXES)
    return tuple(axis for name in names for axis in AXES if axis == name)


class Captioner(Protocol):
    """Describes pictures. A picture's candidates do not depend on the pictures it is described beside."""

    @property
    def signature(self) -> str:
        """Which model it is, by content: `git@1f0c…`."""
        ...

    @property
    def axes(self) -> tuple[Axis, ...]:
        """What it was trained to tell; empty where nothing says so, and it is asked for any."""
        ...

    def describe(
        self, pictures: Sequence[Image.Image], axis: Axis, decoding: Decoding
    ) -> Sequence[Described]:
        """Each picture's candidates, the best first: one per beam or sample at most, and equal texts once.

        Pictures are upright RGB. The batch may be of any size; how many go through a model at once is its own matter.
        """
        ...


captioners: Registry[Callable[[str], Captioner]] = Registry("captioner")
"""Factories by name: `git:NAME-or-PATH` calls the factory `git` with `NAME-or-PATH`."""


def load_captioner(spec: str) -> Captioner:
    name, _, argument = spec.partition(":")
    return captioners.get(name)(argument)


def check_axis(captioner: Captioner, spec: str, axis: Axis) -> None:
    """Raises UsageError where the captioner was trained to tell something else."""
    if captioner.axes and axis not in captioner.axes:
        known = ", ".join(captioner.axes)
        raise UsageError(f"{spec} tells of {known}, not of {axis}: choose --axis {known.split(', ')[0]}")


def signature(captioner: Captioner, axis: Axis, decoding: Decoding) -> str:
    """All that decides the texts: model, axis, decoding."""
    return f"{captioner.signature}|axis={axis}|{decoding.signature}"
