"""What a captioner makes of a text: how much likelier it finds the words with the picture before it than without."""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sightline.train.pocket_captioner.fit import seen
from sightline.train.pocket_captioner.maps import Maps
from sightline.train.pocket_captioner.network import DecoderNetwork
from sightline.train.together.examples import Corpus, Text, step


@torch.no_grad()
def gains(
    decoder: DecoderNetwork, corpus: Corpus, maps: Maps, texts: Sequence[Sequence[Text]], pictures: Sequence[int],
    narrow: bool = True,
) -> NDArray[np.float64]:  # fmt: skip
    """Of each text, row by row: nats a piece, its end included; a piece that is not known does not count."""
    decoder.eval()
    found: list[NDArray[np.float64]] = []
    rng = np.random.default_rng(0)
    for start in range(0, len(pictures), 16):
        rows = texts[start : start + 16]
        some = step(rows, 0.0, rng)
        before = torch.ones(some.read.shape[1], some.read.shape[1], dtype=torch.bool).tril()
        mask = some.mask.masked_fill(~before, float("-inf"))
        shown = seen(maps, [corpus.views[n][0] for n in pictures[start : start + 16]], torch.float32)
        nothing = [torch.zeros_like(part[:1]) for part in shown]
        with torch.autocast("cpu", torch.bfloat16, enabled=narrow):
            sure = _chances(decoder, shown, some.read, some.order, mask)
            blind = _chances(decoder, nothing, some.read, some.order, mask)
        gain = (sure - blind).double().numpy()
        for r, row in enumerate(rows):
            at = 0
            for one in row:
                own = slice(at, at + len(one.ids) + 1)
                told = np.array([*one.ids, 0]) >= 0
                found.append(np.array([gain[r, own][told].mean()]))
                at = own.stop
    return np.concatenate(found)


def _chances(
    decoder: DecoderNetwork, shown: Sequence[Tensor], read: Tensor, order: Tensor, mask: Tensor
) -> Tensor:
    """Log-probability of the piece that follows each, an end after the last of a text."""
    memory = [
        (keys.expand(len(read), -1, -1), values.expand(len(read), -1, -1))
        for keys, values in decoder.memory(*shown)
    ]
    states = decoder(memory, read.clamp(min=0), order, mask)
    follows = torch.cat([read[:, 1:], torch.zeros_like(read[:, :1])], 1)
    follows = torch.where(follows < 0, 0, follows)
    return decoder.chances(states).gather(-1, follows[..., None])[..., 0]
