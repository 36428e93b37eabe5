"""The decoder a piece at a time: what is seen of a picture is worked out once, what was written before is kept."""

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.train.pocket_captioner.network import DecoderNetwork


class Look(nn.Module):
    """Maps [picture, place, channel] to keys [picture, layer, head, number, place] and values, place before number."""

    def __init__(self, network: DecoderNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(self, map16: Tensor, map32: Tensor, vector: Tensor) -> tuple[Tensor, Tensor]:
        seen = self.network.memory(map16, map32, vector)
        heads = (self.network.config.heads, -1)
        keys = torch.stack([keys.unflatten(-1, heads).permute(0, 2, 3, 1) for keys, _ in seen], 1)
        values = torch.stack([values.unflatten(-1, heads).transpose(1, 2) for _, values in seen], 1)
        return keys, values


class Write(nn.Module):
    """One more piece for each text: log-probabilities of what follows, and what is kept of the text so far.

    Texts of a picture stand side by side: text r is of picture r // (texts / pictures). What is kept is
    [layer, keys or values, text, head, place, number].
    """

    def __init__(self, network: DecoderNetwork) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, piece: Tensor, order: Tensor, kept: Tensor, keys: Tensor, values: Tensor
    ) -> tuple[Tensor, Tensor]:
        net = self.network
        heads, width = net.config.heads, net.config.width
        each = width // heads
        x = F.embedding(piece, net.embedding) * width**0.5 + F.embedding(order, net.order)
        grown = []
        for number, layer in enumerate(net.layers):
            q, k, v = layer.ask(layer.norm_text(x)).view(-1, 3, heads, 1, each).unbind(1)
            k, v = torch.cat([kept[number, 0], k], 2), torch.cat([kept[number, 1], v], 2)
            grown.append(torch.stack([k, v]))
            weights = (q * each**-0.5 @ k.transpose(-1, -2)).softmax(-1)
            x = x + layer.answer((weights @ v).reshape(-1, width))
            q = layer.look(layer.norm_picture(x)).view(keys.shape[0], -1, heads, each).transpose(1, 2)
            weights = (q * each**-0.5 @ keys[:, number]).softmax(-1)
            x = x + layer.tell((weights @ values[:, number]).transpose(1, 2).reshape(-1, width))
            x = x + layer.narrow(F.relu(layer.widen(layer.norm(x))))
        return net.chances(net.norm(x)), torch.stack(grown)
