"""What the network learns from: pictures with their own captions, graded foreign ones, and exchanged ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.encoders.pieces import pieces
from sightline.train.pocket_captioner.texts import STRIPPED, Vocabulary
from sightline.train.together.exchange import KINDS, Exchanger, Kind
from sightline.vision.pocket_network import FOLDER

Floats = NDArray[np.float32]
OWN, FOREIGN, FALSE = 1, 2, 3
"""Kinds of texts."""
NEAREST = 40
RARITY: Final[Mapping[Kind, float]] = {
    "noun": 1, "verb": 1.5, "adjective": 2, "relation": 2, "number": 4, "roles": 6,
}  # fmt: skip
"""The rarer a kind of exchange, the likelier it is taken where there is one."""
UNEVEN = 1.5
"""How many times more exchanges may make a wording less usual than more usual, or the other way."""


@dataclass(frozen=True)
class Shares:
    """Texts of a picture in a step."""

    own: int = 2
    exchanged: int = 3
    near: int = 3
    far: int = 2
    masked: float = 0.15
    """Chance of a piece to be masked out, in a text that is to lose some."""


class Falsified(NamedTuple):
    """A caption after an exchange."""

    text: str
    kind: Kind
    ids: list[int]


class Text(NamedTuple):
    """A text that is held against a picture."""

    text: str
    ids: list[int]
    kind: int
    near: float
    """Closeness to the picture's own captions; not a number where it is not known."""
    of: int = -1
    """Of an exchanged text: which of the picture's texts it was."""


@dataclass
class Corpus:
    """Captioned pictures. Captions are counted through all pictures."""

    views: list[tuple[int, ...]]
    """Rows of the maps, of each picture."""
    captions: list[str]
    starts: NDArray[np.int64]
    """Of each picture its first caption, and at last their number."""
    vectors: Floats
    """Of the captions, in the pocket's text space."""
    ids: list[list[int]]
    near: NDArray[np.int64]
    """[picture, NEAREST]"""
    exchanged: list[list["Falsified"]] = field(default_factory=list)
    """Of each caption what it becomes."""

    def __len__(self) -> int:
        return len(self.views)

    def own(self, picture: int) -> range:
        return range(int(self.starts[picture]), int(self.starts[picture + 1]))

    def closeness(self, captions: Sequence[int], picture: int) -> Floats:
        """Mean cosine of captions to the picture's own; a caption is not held against itself."""
        own = np.array(self.own(picture))
        asked = np.asarray(captions)
        same = asked[:, None] == own
        cosine = self.vectors[asked] @ self.vectors[own].T
        found: Floats = np.where(same, 0, cosine).sum(1) / np.maximum(1, (~same).sum(1))
        return found


class Reader:
    """Texts to the pieces that a vocabulary has."""

    def __init__(self, vocabulary: Vocabulary, longest: int) -> None:
        self._ids = {name: number for number, name in enumerate(vocabulary.names)}
        self._tokeniser = pieces(FOLDER).tokeniser
        self._longest = longest

    def __call__(self, text: str) -> list[int]:
        """The text's pieces; one that the vocabulary does not have is -1, and what is too long is cut."""
        found = self._tokeniser.pieces(text.strip(STRIPPED))
        return [self._ids.get(piece, -1) for piece in found[: self._longest - 1]]


def nearest(means: Floats, pictures: Floats) -> NDArray[np.int64]:
    """Half by what is said of them, half by what they look like; never the picture itself."""
    found = np.zeros((len(means), NEAREST), np.int64)
    for start in range(0, len(means), 1000):
        rows = np.arange(start, min(start + 1000, len(means)))
        for half, vectors in enumerate((means, pictures)):
            alike = vectors[rows] @ vectors.T
            alike[np.arange(len(rows)), rows] = -2
            count = min(NEAREST // 2, len(means) - 1)
            best = np.argpartition(-alike, count - 1, axis=1)[:, :count]
            place = slice(half * (NEAREST // 2), (half + 1) * (NEAREST // 2))
            found[rows, place] = best[:, np.arange(NEAREST // 2) % count]
    return found


def falsified(
    exchanger: Exchanger, groups: Sequence[Sequence[str]], most: int | None = None
) -> list[list[tuple[str, Kind]]]:
    """Of each caption its exchanged forms with their kinds; with `most`, of so many captions of a picture only.

    Of each kind about as many make the wording more usual as make it less.
    """
    every = [(text, said, place) for said in groups for place, text in enumerate(said)]
    made = [
        (n, one)
        for n, (text, said, place) in enumerate(every)
        if most is None or place < most
        for one in exchanger.falsified(text, said)
    ]
    kept: list[list[tuple[str, Kind]]] = [[] for group in groups for _ in group]
    rng = np.random.default_rng(0)
    for kind in KINDS:
        sides = [
            [pair for pair in made if pair[1].kind == kind and (pair[1].gain > 0) is more]
            for more in (True, False)
        ]
        enough = max(1, int(UNEVEN * min(map(len, sides))))
        for side in sides:
            for place in rng.permutation(len(side))[:enough]:
                n, one = side[place]
                kept[n].append((one.text, one.kind))
    return kept


@dataclass(frozen=True)
class Step:
    """The texts of a batch of pictures, packed in a row for each."""

    read: Tensor
    order: Tensor
    mask: Tensor
    member: Tensor
    """[row, text, place]"""
    target: Tensor
    """[row, text] closeness, NaN where it is not known."""
    kind: Tensor
    """[row, text]: 0 none, 1 own, 2 near or far, 3 exchanged."""
    source: Tensor
    """[row, text]: of an exchanged text which text of the row it was."""
    hidden: Tensor
    """[row, place] the piece that was masked out of an own caption, or -1."""


def drawn(corpus: Corpus, picture: int, shares: Shares, rng: np.random.Generator) -> list[Text]:
    """Texts for one picture."""
    own = [int(n) for n in rng.permutation(list(corpus.own(picture)))]
    own = sorted(own, key=lambda n: not corpus.exchanged[n])[:1] + own if corpus.exchanged else own
    own = list(dict.fromkeys(own))[: shares.own]
    rows = corpus.near[picture][rng.integers(NEAREST, size=shares.near)]
    others = [*rows.tolist(), *rng.integers(len(corpus), size=shares.far).tolist()]
    foreign = [int(rng.integers(corpus.starts[n], corpus.starts[n + 1])) for n in others if n != picture]
    chosen = [n for n in (*own, *foreign) if corpus.ids[n]]
    close = corpus.closeness(chosen, picture)
    found = [
        Text(corpus.captions[n], corpus.ids[n], OWN if n in own else FOREIGN, float(near))
        for n, near in zip(chosen, close, strict=True)
    ]
    false = [
        (rng.exponential() / RARITY[one.kind], Text(one.text, one.ids, FALSE, float("nan"), place))
        for place, n in enumerate(chosen)
        if n in own
        for one in corpus.exchanged[n]
        if one.ids
    ]
    order = [text for _, text in sorted(false, key=lambda pair: pair[0])]
    return found + order[: shares.exchanged]


def step(texts: Sequence[Sequence[Text]], masked: float, rng: np.random.Generator) -> Step:
    """One row for each picture; half of the texts lose some pieces."""
    size = max(sum(len(one.ids) + 1 for one in row) for row in texts)
    most = max(map(len, texts))
    read = np.zeros((len(texts), size), np.int64)
    order, which, hidden = np.zeros_like(read), np.full_like(read, -1), np.full_like(read, -1)
    target = np.full((len(texts), most), np.nan, np.float32)
    kind, source = np.zeros((len(texts), most), np.int64), np.full((len(texts), most), -1)
    for r, row in enumerate(texts):
        at = 0
        for t, (_, ids, what, close, of) in enumerate(row):
            place = slice(at, at + len(ids) + 1)
            text = np.array([0, *ids])
            if masked and rng.random() < 0.5:
                lost = (rng.random(len(text)) < masked) & (np.arange(len(text)) > 0)
                if what == OWN:
                    hidden[r, place] = np.where(lost, text, -1)
                text = np.where(lost, -1, text)
            read[r, place], order[r, place], which[r, place] = text, np.arange(len(ids) + 1), t
            target[r, t], kind[r, t], source[r, t] = close, what, of
            at += len(ids) + 1
    caption = torch.from_numpy(which)
    own = caption[:, :, None] == caption[:, None, :]
    mask = torch.zeros(own.shape).masked_fill_(~own, float("-inf"))[:, None]
    member = caption[:, None, :] == torch.arange(most)[None, :, None]
    return Step(
        torch.from_numpy(read), torch.from_numpy(order), mask, member,
        torch.from_numpy(target), torch.from_numpy(kind), torch.from_numpy(source), torch.from_numpy(hidden),
    )  # fmt: skip
