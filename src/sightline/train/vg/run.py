"""RoViST-VG's training (Wang et al., NAACL 2022, Algorithm 1): regions and nouns into one space by a soft-label loss.

As in the paper: 300-d word vectors averaged over a mention's words, tanh projections to 1024, symmetric loss, Adam with
a rate that falls 5 % an epoch, early stopping. Unlike the paper's ViT, the image encoder stays frozen: its region
vectors are computed once, so that the model shares them with every other metric.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import nn
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.encoders import load_encoder
from sightline.encoders.pieces import pieces
from sightline.encoders.vg import WordTable
from sightline.errors import UsageError
from sightline.text.vectors import WordVectors
from sightline.train.vg.pairs import coco_pairs, entities_pairs

EMBEDDING = 1024


@dataclass(frozen=True)
class VgConfig:
    """The paper's settings (appendix)."""

    batch: int = 64
    rate: float = 5e-5
    fade: float = 0.95
    decay: float = 1e-5
    epochs: int = 40
    patience: int = 3
    validation: float = 0.15
    seed: int = 0


class VgHeads(nn.Module):
    """I_e = tanh(W_i h + b_i) and T_e = tanh(W_t t + b_t)."""

    def __init__(self, image_width: int, word_width: int) -> None:
        super().__init__()
        self.image = nn.Linear(image_width, EMBEDDING)
        self.text = nn.Linear(word_width, EMBEDDING)

    def forward(self, h: Any, t: Any) -> tuple[Any, Any]:
        return torch.tanh(self.image(h)), torch.tanh(self.text(t))


def symmetric_loss(I_e: Any, T_e: Any) -> Any:
    """Lines 4-10 of Algorithm 1. The targets are softmaxed (cross-entropy needs it) and not back-propagated through."""
    logits = T_e @ I_e.T
    labels = ((I_e @ I_e.T + T_e @ T_e.T) / 2).detach()
    text = -(torch.softmax(labels, 1) * F.log_softmax(logits, 1)).sum(1).mean()
    image = -(torch.softmax(labels.T, 1) * F.log_softmax(logits.T, 1)).sum(1).mean()
    return (image + text) / 2


def fit_heads(
    regions: Any, words: Any, pictures: Any, config: VgConfig, log: Callable[[dict[str, float]], None] = print
) -> tuple[VgHeads, list[dict[str, float]]]:
    """Train on pairs of region vectors and word vectors (tensors on one device), split by picture."""
    torch.manual_seed(config.seed)
    device = regions.device
    generator = torch.Generator().manual_seed(config.seed)
    shuffled = torch.randperm(int(pictures.max()) + 1, generator=generator).to(device)
    held = shuffled[pictures] < config.validation * len(shuffled)
    train, dev = (~held).nonzero().squeeze(1), held.nonzero().squeeze(1)
    heads = VgHeads(regions.shape[1], words.shape[1]).to(device)
    optimizer = torch.optim.Adam(heads.parameters(), lr=config.rate, weight_decay=config.decay)
    fading = torch.optim.lr_scheduler.ExponentialLR(optimizer, config.fade)
    history: list[dict[str, float]] = []
    best, best_loss, waited = copy.deepcopy(heads.state_dict()), float("inf"), 0
    for epoch in range(config.epochs):
        heads.train()
        for rows in train[torch.randperm(len(train), device=device)].split(config.batch):
            loss = symmetric_loss(*heads(regions[rows].float(), words[rows].float()))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        fading.step()
        row = {"epoch": epoch + 1, **evaluate(heads, regions, words, dev, config)}
        history.append(row)
        log(row)
        if row["loss"] < best_loss:
            best, best_loss, waited = copy.deepcopy(heads.state_dict()), row["loss"], 0
        else:
            waited += 1
            if waited >= config.patience:
                break
    heads.load_state_dict(best)
    return heads, history


@torch.inference_mode()
def evaluate(heads: VgHeads, regions: Any, words: Any, rows: Any, config: VgConfig) -> dict[str, float]:
    """Loss on held-out pairs, and how often a region's own word beats a random pair's word by cosine."""
    heads.eval()
    losses, wins = [], []
    generator = torch.Generator().manual_seed(1)
    for part in rows[torch.randperm(len(rows), generator=generator).to(rows.device)].split(config.batch):
        if len(part) < 2:
            continue
        I_e, T_e = heads(regions[part].float(), words[part].float())
        losses.append(float(symmetric_loss(I_e, T_e)))
        I_n, T_n = F.normalize(I_e, dim=1), F.normalize(T_e, dim=1)
        other = T_n.roll(1, 0)
        differs = (words[part] != words[part].roll(1, 0)).any(1)
        wins.append(
            (((I_n * T_n).sum(1) > (I_n * other).sum(1)) & differs).sum() / differs.sum().clamp(min=1)
        )
    return {"loss": round(float(np.mean(losses)), 4), "wins": round(float(torch.stack(wins).mean()), 4)}


def save_heads(path: Path, heads: VgHeads, encoder: str, vectors: str) -> None:
    """Weights in half precision, with the names of the encoder and word vectors they belong to."""
    arrays: dict[str, NDArray[Any]] = {
        "W_i": heads.image.weight.detach().cpu().numpy().astype(np.float16),
        "b_i": heads.image.bias.detach().cpu().numpy().astype(np.float16),
        "W_t": heads.text.weight.detach().cpu().numpy().astype(np.float16),
        "b_t": heads.text.bias.detach().cpu().numpy().astype(np.float16),
    }
    named: dict[str, Any] = {**arrays, "encoder": np.array(encoder), "vectors": np.array(vectors)}
    np.savez(path, **named)


def train(
    data: Path,
    out: Path,
    captions: Path | None,
    images: Path | None,
    encoder: str,
    vectors: Path | None,
    most: int,
    config: VgConfig,
    log: Callable[[Any], None] = print,
) -> dict[str, Any]:
    """From files to a saved model: encode each region once, look up its words, train the projections."""
    eyes = load_encoder(encoder)
    words: WordTable = WordVectors.from_file(vectors) if vectors else pieces()
    if data.is_dir() and images is None:
        raise UsageError("Flickr30k Entities need their pictures too: --images FOLDER")
    source = entities_pairs(data, images) if images else coco_pairs(data, captions, config.seed)
    rows, texts, pictures = [], [], []
    for paired in source:
        known = [(pair, vector) for pair in paired.pairs if (vector := words.of_text(pair.words)) is not None]
        if not known:
            continue
        rows.append(eyes.encode_images([_cut(paired.image, pair.box) for pair, _ in known]))
        texts += [vector for _, vector in known]
        pictures += [pair.picture for pair, _ in known]
        if len(texts) >= most:
            break
    if len(set(pictures)) < 2:
        raise UsageError(f"{data}: no two pictures with a region and a known word in it")
    heads, history = fit_heads(
        torch.as_tensor(np.concatenate(rows)),
        torch.as_tensor(np.stack(texts)),
        torch.as_tensor(pictures),
        config,
        log,
    )
    save_heads(out, heads, eyes.signature, words.resource.digest)
    return {"pairs": len(texts), **min(history, key=lambda row: row["loss"])}


def _cut(image: Image.Image, box: tuple[float, float, float, float]) -> Image.Image:
    width, height = image.size
    x0, y0 = max(0, int(box[0] * width)), max(0, int(box[1] * height))
    return image.crop(
        (
            x0,
            y0,
            max(x0 + 1, min(width, int(box[2] * width) + 1)),
            max(y0 + 1, min(height, int(box[3] * height) + 1)),
        )
    )
