"""A captioner that says what it is told to say, for tests of everything around captioners."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from PIL import Image

from sightline.errors import Unscorable
from sightline.generate.base import Axis, Candidate, Decoding, Described

Colour = tuple[int, int, int]


@dataclass(frozen=True)
class Saying:
    """Texts by the colour of a picture's first pixel."""

    texts: Mapping[Colour, str]
    axes: tuple[Axis, ...] = ()
    signature: str = "saying@0"

    def describe(self, pictures: Sequence[Image.Image], axis: Axis, decoding: Decoding) -> list[Described]:
        return [self._describe(picture, axis) for picture in pictures]

    def _describe(self, picture: Image.Image, axis: Axis) -> Described:
        colour = picture.getpixel((0, 0))
        assert isinstance(colour, tuple)
        text = self.texts.get(colour, f"something for the {axis}")
        return Unscorable("it would not say") if text == "!" else [Candidate(text, -1.5)]
