"""Algorithm 1 as the paper ran it: a vision transformer is fine-tuned together with the two projections."""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from sightline.encoders.grounding import CHECKPOINTS
from sightline.encoders.vg_vit import IMAGE, TEXT, VIT, prepared
from sightline.errors import UsageError, extra
from sightline.hub import device, load_pretrained
from sightline.train.vg.algorithm import VgConfig, VgHeads, split, symmetric_loss
from sightline.train.vg.pairs import Learnable


class Regions(torch.utils.data.Dataset[tuple[Any, Any]]):
    """Regions as ViT looks at them, cut out when they are asked for, with the vectors of their words."""

    def __init__(self, learned: Sequence[Learnable], side: int) -> None:
        self._learned = learned
        self._side = side

    def __len__(self) -> int:
        return len(self._learned)

    def __getitem__(self, number: int) -> tuple[Any, Any]:
        one = self._learned[number]
        return torch.from_numpy(prepared([one.cut()], self._side)[0]), torch.from_numpy(one.vector)


class Grounder(nn.Module):
    """I_e = tanh(W_i ViT(x) + b_i) and T_e = tanh(W_t t + b_t); vectors are not normalised in training."""

    def __init__(self, vit: Any, word_width: int) -> None:
        super().__init__()
        self.vit = vit
        self.heads = VgHeads(vit.config.hidden_size, word_width)

    def forward(self, pixels: Any, t: Any) -> tuple[Any, Any]:
        I_e, T_e = self.heads(self.vit(pixels).pooler_output, t)
        return I_e, T_e


def finetune(
    name: str,
    learned: Sequence[Learnable],
    out: Path,
    config: VgConfig,
    log: Callable[[Any], None] = print,
) -> dict[str, float]:
    """Train until the held-out loss no longer falls; `out` always holds the best so far, in the published layout."""
    if not out.name.endswith(CHECKPOINTS):
        raise UsageError(
            f"{out}: a model with a transformer is a checkpoint of PyTorch; call it NAME.pth.tar"
        )
    transformers = extra("transformers", "train")
    _, (vit,) = load_pretrained("vision transformer", name, transformers.ViTModel.from_pretrained)
    torch.manual_seed(config.seed)
    place = device()
    model = Grounder(vit, len(learned[0].vector)).to(place)
    rows = Regions(learned, int(vit.config.image_size))
    train, dev = split(torch.as_tensor([one.pair.picture for one in learned]), config)
    batches = [
        torch.utils.data.DataLoader(
            torch.utils.data.Subset(rows, part.tolist()),
            config.batch,
            shuffle=shuffle,
            drop_last=shuffle and len(part) > config.batch,
            generator=torch.Generator().manual_seed(config.seed),
        )
        for part, shuffle in ((train, True), (dev, False))
    ]
    optimizer = torch.optim.Adam(model.parameters(), lr=config.rate, weight_decay=config.decay)
    fading = torch.optim.lr_scheduler.ExponentialLR(optimizer, config.fade)
    half = torch.autocast("cuda", torch.bfloat16, enabled=place.startswith("cuda"))
    best, waited = {"loss": float("inf")}, 0
    for epoch in range(1, config.epochs + 1):
        model.train()
        for pixels, words in batches[0]:
            with half:
                loss = symmetric_loss(*model(pixels.to(place), words.to(place)))
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        fading.step()
        row = {"epoch": epoch, **_held_out(model, batches[1], place)}
        log(row)
        if row["loss"] < best["loss"]:
            best, waited = row, 0
            save_checkpoint(out, model, row)
        else:
            waited += 1
            if waited >= config.patience:
                break
    return best


@torch.inference_mode()
def _held_out(model: Grounder, batches: Any, place: str) -> dict[str, float]:
    """Loss on regions of other pictures, and how often a region's own word beats the next region's."""
    model.eval()
    losses, wins, pairs = [], 0, 0
    for pixels, words in batches:
        if len(words) < 2:
            continue
        I_e, T_e = (rows.float() for rows in model(pixels.to(place), words.to(place)))
        losses.append(float(symmetric_loss(I_e, T_e)))
        I_n, T_n = (nn.functional.normalize(rows, dim=1) for rows in (I_e, T_e))
        differs = (words != words.roll(1, 0)).any(1).to(place)
        wins += int((((I_n * T_n).sum(1) > (I_n * T_n.roll(1, 0)).sum(1)) & differs).sum())
        pairs += int(differs.sum())
    if not losses:
        raise UsageError("too few regions are held out for a loss: give more pictures")
    return {"loss": round(float(np.mean(losses)), 4), "wins": round(wins / max(1, pairs), 4)}


def save_checkpoint(out: Path, model: Grounder, row: dict[str, float]) -> None:
    """The published layout; the transformer's weights are called as its library saves them."""
    safetensors = extra("safetensors.torch", "train")
    with tempfile.TemporaryDirectory() as folder:
        model.vit.save_pretrained(folder)
        inside = safetensors.load_file(Path(folder) / "model.safetensors")
    state = {f"{VIT}{name}": weights for name, weights in inside.items()}
    for prefix, head in ((IMAGE, model.heads.image), (TEXT, model.heads.text)):
        state |= {
            f"{prefix}{name}": weights.detach().cpu().clone() for name, weights in head.named_parameters()
        }
    told = model.vit.config.to_dict()
    config = {key: value for key, value in told.items() if isinstance(value, int | float | str | bool)}
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_name(f"{out.name}.part")
    torch.save({"epoch": row["epoch"], "model": state, "valid_loss": row["loss"], "config": config}, part)
    part.replace(out)
