"""RoViST-VG's training from files to a model (Wang et al., NAACL 2022): projections on an encoder's region vectors.

The paper's vision transformer learns along (`finetune.py`). Here the image encoder stays frozen: its region vectors are
computed once, so that the model shares them with every other metric.
"""

import copy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.encoders import load_encoder
from sightline.encoders.pieces import pieces
from sightline.encoders.vg import WordTable
from sightline.errors import UsageError
from sightline.io.results import told, whole
from sightline.text.vectors import WordVectors
from sightline.train.vg.algorithm import VgConfig, VgHeads, split, symmetric_loss
from sightline.train.vg.pairs import coco_pairs, entities_pairs, learnable

AT_ONCE = 64
"""Regions that are cut out and encoded together."""


def fit_heads(
    regions: Any, words: Any, pictures: Any, config: VgConfig, log: Callable[[dict[str, float]], None] = print
) -> tuple[VgHeads, list[dict[str, float]]]:
    """Train on pairs of region vectors and word vectors (tensors on one device), split by picture."""
    torch.manual_seed(config.seed)
    device = regions.device
    train, dev = split(pictures, config)
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
    with whole(path) as file:
        np.savez(file, **named)


def train(
    data: Path,
    out: Path,
    captions: Path | None,
    images: Path | None,
    encoder: str,
    vectors: Path | None,
    most: int | None,
    config: VgConfig,
    log: Callable[[Any], None] = print,
    vit: str | None = None,
) -> dict[str, Any]:
    """From files to a saved model. With `vit` a vision transformer learns along, as in the paper; else the encoder's
    vectors of each region are computed once and the projections alone are trained."""
    with told(out):
        out.parent.mkdir(parents=True, exist_ok=True)
    words: WordTable = WordVectors.from_file(vectors) if vectors else pieces()
    if data.is_dir() and images is None:
        raise UsageError("Flickr30k Entities need their pictures too: --images FOLDER")
    source = entities_pairs(data, images) if images else coco_pairs(data, captions, config.seed)
    learned = learnable(source, words, most, config.seed)
    if len({one.pair.picture for one in learned}) < 2:
        raise UsageError(f"{data}: no two pictures with a region and a known word in it")
    if vit:
        from sightline.train.vg.finetune import finetune

        return {"pairs": len(learned), **finetune(vit, learned, out, config, log)}
    eyes = load_encoder(encoder)
    rows = [
        eyes.encode_images([one.cut() for one in learned[start : start + AT_ONCE]])
        for start in range(0, len(learned), AT_ONCE)
    ]
    heads, history = fit_heads(
        torch.as_tensor(np.concatenate(rows)),
        torch.as_tensor(np.stack([one.vector for one in learned])),
        torch.as_tensor([one.pair.picture for one in learned]),
        config,
        log,
    )
    save_heads(out, heads, eyes.signature, words.resource.digest)
    return {"pairs": len(learned), **min(history, key=lambda row: row["loss"])}
