"""Pictures and words read together at run time: a few layers in which the words of a text look at a picture's maps.

What is computed of a picture once, its maps, is kept with the vectors; a text costs a few milliseconds more.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from sightline.encoders.base import VectorStore
from sightline.encoders.pocket import Pocket
from sightline.errors import UsageError
from sightline.resources import MODELS, Resource, shared
from sightline.vision.pictures import Picture
from sightline.vision.pocket_network import open_network, pocket_network

Floats = NDArray[np.float32]
FOLDER = MODELS / "together"
FILES = ("read.onnx", "pieces.txt", "match.json")
MAPS: Final = {"map16": (64, 256), "map32": (16, 512), "vector": (256,)}
"""What the image network makes of a picture: [place, channel] at two scales, and the vector."""
STRIPPED: Final = " .!?;:,\"'`*-_"
"""What a text may lose at its edges."""
JUDGEMENTS: Final = ("near", "match", "exact")
UNMASKED: Final = frozenset("a an the is are was were be of and to it its 's".split())
"""Words that say nothing of a picture: they are not masked out to see what they bring."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")


@dataclass(frozen=True)
class Maps:
    """A picture as the image network sees it, a leading axis of one before each."""

    map16: Floats
    map32: Floats
    vector: Floats


@dataclass(frozen=True)
class WordChange:
    """A word of the text, and how much the probability is higher with it than with it masked out.

    A text that says less is the safer one, so what words of true captions do (all but the one in seven that do most,
    either way) is taken off first: below 0 a word speaks against the text, above 0 for it, at 0 it does not stand out.
    """

    start: int
    end: int
    change: float


@dataclass(frozen=True)
class Reading:
    """What was read of one text and its picture."""

    probability: float
    """That the text is true of the picture."""
    judged: tuple[float, ...]
    pooled: Floats
    words: tuple[WordChange, ...]
    known: int
    """Pieces that the network knows, of those it read."""
    pieces: int
    cut: bool
    """Whether the text is longer than it reads."""

    @property
    def numbers(self) -> Floats:
        """What a caption rater learns from: how close the text is to what people would say.

        With the other judgements or the pooled features it rated what it learned from better, and other texts worse.
        """
        return np.array(self.judged[:1], np.float32)


class Together:
    """The reading network, with the pocket's image network before it and its cosine beside it."""

    def __init__(self, folder: Path = FOLDER) -> None:
        given = "embedded" if folder == FOLDER else str(folder)
        try:
            self.resource = Resource.folder(folder, [folder / name for name in FILES], given).ahead()
            settings = json.loads((folder / "match.json").read_text("utf-8"))
            self._longest = int(settings["longest"])
            self._weights = np.array([float(settings["weights"][name]) for name in (*JUDGEMENTS, "cosine")])
            self._shift = float(settings["shift"])
            self._low, self._high = (float(value) for value in settings["masking"])
            names = (folder / "pieces.txt").read_text("utf-8").rstrip("\n").split("\n")
            self._session = open_network(folder / "read.onnx")
        except (OSError, ValueError, KeyError, TypeError) as fault:
            reason = " ".join(str(fault).split())
            raise UsageError(f"{folder}: not a network of `sightline train together` ({reason})") from None
        self._ids = {name: number for number, name in enumerate(names)}
        self._unknown = len(names)
        self.pocket = Pocket()
        self._tokeniser = self.pocket.tokeniser

    @property
    def signature(self) -> str:
        return f"{self.resource.digest}+{self.pocket.signature}"

    def maps(self, pictures: Sequence[Picture], store: VectorStore | None = None) -> list[Maps]:
        """What the image network makes of each picture, kept in the store."""
        keys = [_key(self.pocket.signature, picture.digest) for picture in pictures]
        known = {} if store is None else store.get_many(list(dict.fromkeys(keys)))
        size = 2 * sum(int(np.prod(shape)) for shape in MAPS.values())
        found = {key: row for key, row in known.items() if len(row) == size}
        missing = {key: picture for key, picture in zip(keys, pictures, strict=True) if key not in found}
        if missing:
            made = pocket_network().run([picture.crop() for picture in missing.values()], list(MAPS))
            fresh = [(key, _packed(outputs)) for key, outputs in zip(missing, made, strict=True)]
            if store is not None:
                store.put_many(fresh)
            found.update(fresh)
        return [_unpacked(found[key]) for key in keys]

    def read(self, maps: Maps, text: str, words: bool = True) -> Reading:
        """A text held against a picture, whole and with each of its words masked out."""
        pieces, spans = self._pieces(text)
        cut = len(pieces) > self._longest
        ids = [0, *(self._ids.get(piece, self._unknown) for piece in pieces[: self._longest])]
        masked = [span for span in spans if span[3] <= self._longest] if words else []
        rows = np.tile(np.array(ids, np.int64), (1 + len(masked), 1))
        for row, (_, _, first, last) in enumerate(masked, 1):
            rows[row, 1 + first : 1 + last] = self._unknown
        inputs: dict[str, NDArray[Any]] = {**vars(maps), "ids": rows}
        judged, pooled = self.bare(inputs)
        odds = self._log_odds(judged, self._cosine(maps, text))
        change = odds[0] - odds[1:]
        beyond = np.minimum(change - self._low, 0) + np.maximum(change - self._high, 0)
        chance = _logistic(np.concatenate([odds[:1], odds[0] - beyond]))
        return Reading(
            float(chance[0]),
            tuple(float(value) for value in judged[0]),
            pooled[0],
            tuple(
                WordChange(start, end, float(chance[0] - without))
                for (start, end, _, _), without in zip(masked, chance[1:], strict=True)
            ),
            sum(number != self._unknown for number in ids[1:]),
            len(pieces),
            cut,
        )

    def bare(self, inputs: Mapping[str, NDArray[Any]]) -> tuple[Floats, Floats]:
        """The network alone: maps and rows of pieces to judgements and pooled features."""
        judged, pooled = self._session.run(["judged", "pooled"], dict(inputs))
        return judged, pooled

    def _cosine(self, maps: Maps, text: str) -> float:
        picture = self.pocket.in_space(maps.vector)[0]
        return float(picture @ self.pocket.encode_texts([text])[0])

    def _log_odds(self, judged: Floats, cosine: float) -> NDArray[np.float64]:
        """The judgements and the cosine, weighed as fitted on pictures not learned from."""
        columns = np.column_stack([judged.astype(np.float64), np.full(len(judged), cosine)])
        return np.asarray(columns @ self._weights + self._shift, np.float64)

    def _pieces(self, text: str) -> tuple[list[str], list[tuple[int, int, int, int]]]:
        """Pieces of the text, and its words: characters from and to, pieces from and to.

        Words are split one by one; where that gives other pieces than the whole text (accents that stand alone,
        say), no word can be masked out.
        """
        bare = text.strip(STRIPPED)
        offset = text.find(bare) if bare else 0
        whole = self._tokeniser.pieces(bare)
        found: list[str] = []
        spans = []
        last = 0
        for word in _WORD.finditer(bare):
            found += self._tokeniser.pieces(bare[last : word.start()])
            own = self._tokeniser.pieces(word[0])
            if own and word[0].lower() not in UNMASKED:
                spans.append((offset + word.start(), offset + word.end(), len(found), len(found) + len(own)))
            found += own
            last = word.end()
        found += self._tokeniser.pieces(bare[last:])
        return whole, spans if found == whole else []


def _logistic(odds: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(1 / (1 + np.exp(-odds)), np.float64)


def _key(network: str, picture: str) -> str:
    return hashlib.blake2b(f"maps\x1f{network}\x1f{picture}".encode(), digest_size=20).hexdigest()


def _packed(outputs: Sequence[NDArray[Any]]) -> bytes:
    """In half precision, places one after the other; so that what is kept and what is new are the same to the bit."""
    rows = [output[0].reshape(len(output[0]), -1).T if output.ndim == 4 else output[0] for output in outputs]
    return b"".join(np.ascontiguousarray(row, np.float16).tobytes() for row in rows)


def _unpacked(row: bytes) -> Maps:
    values = np.frombuffer(row, np.float16).astype(np.float32)
    parts, start = [], 0
    for shape in MAPS.values():
        size = int(np.prod(shape))
        parts.append(values[start : start + size].reshape(1, *shape))
        start += size
    return Maps(*parts)


@shared
def load_together(given: str | None = None) -> Together:
    """The embedded network, or one of `sightline train together` in a folder."""
    return Together(Path(given) if given else FOLDER)
