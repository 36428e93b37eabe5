"""Captions as word pieces: which pieces the decoder writes with, and the captions of a picture in one row."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor

from sightline.encoders.pieces import pieces
from sightline.text.wordpiece import WordPiece
from sightline.vision.pocket_network import FOLDER

END: Final = "[END]"
"""Stands before a text and after it: piece 0."""
STRIPPED: Final = " .!?;:,\"'`*-_"
"""What a caption may lose at its edges."""


@dataclass(frozen=True)
class Vocabulary:
    """The pieces that a decoder writes with."""

    names: tuple[str, ...]
    """The pieces; the first is the end."""
    counts: tuple[int, ...]
    """How often each was seen."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", {name: number for number, name in enumerate(self.names)})

    def __len__(self) -> int:
        return len(self.names)

    def read(self, text: str, tokeniser: WordPiece, longest: int) -> list[int] | None:
        """The text's pieces, its end left out; None where one is unknown, or they are too many or none."""
        ids: dict[str, int] = self._ids  # type: ignore[attr-defined]
        found = [ids.get(piece) for piece in tokeniser.pieces(text.strip(STRIPPED))]
        known = [one for one in found if one is not None]
        return known if len(known) == len(found) and 0 < len(known) < longest else None

    def vectors(self) -> Tensor:
        """The pocket's vectors of the pieces; the end's is their mean."""
        table = pieces(FOLDER)
        rows = torch.tensor(table.vectors([table.tokeniser.id_of(name) for name in self.names[1:]]))
        return torch.cat([rows.mean(0, keepdim=True), rows])


def gather_vocabulary(captions: Iterable[str], least: int) -> Vocabulary:
    """The pieces that these captions use at least so often."""
    tokeniser = pieces(FOLDER).tokeniser
    seen: Counter[str] = Counter()
    texts = 0
    for caption in captions:
        seen.update(tokeniser.pieces(caption.strip(STRIPPED)))
        texts += 1
    names = sorted(name for name, count in seen.items() if count >= least and not name.startswith("["))
    return Vocabulary((END, *names), (texts, *(seen[name] for name in names)))


@dataclass(frozen=True)
class Row:
    """The captions of a picture one after the other, as a decoder reads and writes them."""

    read: tuple[int, ...]
    write: tuple[int, ...]
    order: tuple[int, ...]
    """Each piece's place in its own caption."""
    caption: tuple[int, ...]
    """Which caption it is of."""


def packed(captions: Sequence[Sequence[int]]) -> Row:
    read: list[int] = []
    write: list[int] = []
    order: list[int] = []
    caption: list[int] = []
    for number, ids in enumerate(captions):
        read += [0, *ids]
        write += [*ids, 0]
        order += range(len(ids) + 1)
        caption += [number] * (len(ids) + 1)
    return Row(tuple(read), tuple(write), tuple(order), tuple(caption))


@dataclass(frozen=True)
class Texts:
    """Rows of a batch, filled up to the longest."""

    read: Tensor
    order: Tensor
    mask: Tensor
    """[row, 1, place, place], to be added: a piece sees those before it in its own caption."""
    places: Tensor
    """Where there is a piece, counted through all rows."""
    write: Tensor
    """The pieces that follow, one for each place."""
    caption: Tensor
    """Which caption of its row each of these is of."""
    row: Tensor
    """Which row each of these is in."""


def batch(rows: Sequence[Row], kind: torch.dtype) -> Texts:
    longest = max(len(row.read) for row in rows)

    def filled(lists: Iterable[Sequence[int]], by: int) -> Tensor:
        return torch.tensor([[*one, *[by] * (longest - len(one))] for one in lists])

    caption = filled((row.caption for row in rows), -1)
    own = caption[:, :, None] == caption[:, None, :]
    before = torch.ones(longest, longest, dtype=torch.bool).tril()
    mask = torch.zeros(own.shape, dtype=kind).masked_fill_(~(own & before), float("-inf"))[:, None]
    places = (caption.flatten() >= 0).nonzero()[:, 0]
    return Texts(
        filled((row.read for row in rows), 0),
        filled((row.order for row in rows), 0),
        mask,
        places,
        filled((row.write for row in rows), 0).flatten()[places],
        caption.flatten()[places],
        places // longest,
    )
