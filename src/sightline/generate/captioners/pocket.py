"""The embedded captioner: a small decoder on the pocket image network's maps, on ONNX Runtime."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import UsageError
from sightline.generate.base import Axis, Decoding, Described, captioners
from sightline.generate.decoding import Reading, candidates, in_groups, likeliest_first
from sightline.generate.drawing import picture_seed
from sightline.generate.searching import Next, joined, sampled, searched
from sightline.generate.trained import FILE, About
from sightline.resources import MODELS, Resource, shared
from sightline.threads import cores
from sightline.vision.pocket_network import FOLDER as IMAGES
from sightline.vision.pocket_network import open_network, pocket_network

LOOK: Final = "look.onnx"
WRITE: Final = "write.onnx"
VOCABULARY: Final = "vocabulary.txt"
FOLDER: Final = MODELS / "captioner"
MAPS: Final = ("map16", "map32", "vector")
AT_ONCE: Final = 16
"""Pictures that are written of together; always so many, filled up with the last: their bits are then the same."""
PENALTY: Final = 0.7
"""Power of a text's length by which its log-probability is divided when beams are ranked: chosen on dev pictures."""

Floats = NDArray[np.float32]


@captioners.add("pocket")
def pocket(argument: str) -> "PocketCaptioner":
    """The embedded captioner, or `pocket:FOLDER` of `sightline train pocket-captioner`: simple, quick, offline."""
    found: PocketCaptioner = pocket_captioner(Path(argument) if argument else FOLDER)
    return found


@shared
def pocket_captioner(folder: Path) -> "PocketCaptioner":
    return PocketCaptioner(folder)


class PocketCaptioner:
    """Pictures to keys and values once, then a piece of all their texts at a time; several groups on the cores."""

    def __init__(self, folder: Path = FOLDER) -> None:
        missing = next((name for name in (LOOK, WRITE, VOCABULARY) if not (folder / name).is_file()), None)
        if missing:
            raise UsageError(
                f"pocket:{folder}: not a folder of `sightline train pocket-captioner`; there is no {missing} in it"
            )
        about = About.read(folder)
        names = (LOOK, WRITE, VOCABULARY, FILE)
        files = [(name, folder / name) for name in names if (folder / name).is_file()]
        given = "embedded" if folder == FOLDER else str(folder)
        self.resource = Resource.of(given, [*files, ("image.onnx", IMAGES / "image.onnx")]).ahead()
        self.axes: tuple[Axis, ...] = about.axes
        self._longest = int(about.recipe.get("longest", 40))
        self._pieces = (folder / VOCABULARY).read_text("utf-8").rstrip("\n").split("\n")
        self._images = pocket_network(IMAGES)
        self._look, self._write = open_network(folder / LOOK), open_network(folder / WRITE)
        self._pool = ThreadPoolExecutor(cores(), thread_name_prefix="captions")

    @property
    def signature(self) -> str:
        return f"pocket@{self.resource.digest}"

    def describe(
        self, pictures: Sequence[Image.Image], axis: Axis, decoding: Decoding
    ) -> Sequence[Described]:
        if not pictures:
            return []
        maps = self._images.run(pictures, MAPS)
        if decoding.samples:
            pairs = list(zip(pictures, maps, strict=True))
            draws = self._pool.map(lambda pair: self._drawn(pair[0], pair[1], decoding), pairs)
            return [likeliest_first(candidates(readings, self.text)) for readings in draws]
        groups = self._pool.map(
            lambda group: self._searched(group[0], decoding)[: group[1]], in_groups(maps, AT_ONCE)
        )
        return [candidates(readings, self.text) for group in groups for readings in group]

    def text(self, tokens: Sequence[int]) -> str:
        return joined([self._pieces[token] for token in tokens])

    def _searched(self, maps: Sequence[Sequence[Floats]], decoding: Decoding) -> list[list[Reading]]:
        follow = self._next(maps, decoding.beams)
        return searched(follow, len(maps), decoding, min(decoding.length, self._longest - 1), PENALTY)

    def _drawn(self, picture: Image.Image, maps: Sequence[Floats], decoding: Decoding) -> list[Reading]:
        rng = np.random.default_rng(picture_seed(picture, decoding))
        follow = self._next([maps], decoding.samples)
        return sampled(follow, decoding, min(decoding.length, self._longest - 1), rng)

    def _next(self, maps: Sequence[Sequence[Floats]], texts: int) -> Next:
        """What follows the texts of these pictures, so many of each; what was read before is kept."""
        seen = {name: np.concatenate(rows) for name, rows in zip(MAPS, zip(*maps, strict=True), strict=True)}
        keys, values = self._look.run(["keys", "values"], seen)
        layers, heads, each = keys.shape[1:4]
        kept = np.zeros((layers, 2, len(maps) * texts, heads, 0, each), np.float32)

        def follow(rows: NDArray[np.int64], pieces: NDArray[np.int64]) -> Floats:
            nonlocal kept
            given = {
                "piece": pieces,
                "order": np.array([kept.shape[4]]),
                "kept": kept[:, :, rows],
                "keys": keys,
                "values": values,
            }
            chances, kept = self._write.run(["chances", "grown"], given)
            found: Floats = chances
            return found

        return follow
