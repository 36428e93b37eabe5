"""Pictures as a judge gets them: upright, and no larger than a server wants them."""

from functools import lru_cache
from typing import Any

from PIL import Image

from sightline.chat import LONGEST_SIDE, part
from sightline.judges.base import Shown


def shown_as(picture: Shown) -> Image.Image:
    """The picture as a model here sees it; raises Unscorable where there is none."""
    image = picture.load(picture.path).crop()
    if max(image.size) > LONGEST_SIDE:
        image = image.copy()
        image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    return image


@lru_cache(64)
def as_sent(picture: Shown) -> dict[str, Any]:
    """The picture as the protocol writes it; several questions on it are prepared once."""
    return part(picture.load(picture.path).crop())
