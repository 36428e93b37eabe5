"""Training of the region proposer: one object-or-not grid with box edges, on top of the frozen image network."""

import json
import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.train.pocket.augment import colours, crop, random_boxes
from sightline.train.pocket.networks import ImageNetwork, ProposerHead
from sightline.train.pocket.pack import decode_square, read_pack
from sightline.vision.overlap import keep_apart, overlap

SMALLEST = 0.02
"""Boxes with a shorter side than this share of the picture are not worth finding: nothing of them can be seen."""

MOST = 24
"""Boxes of one picture that are learned from; the largest ones."""

APART = 0.5
"""Of two proposals that overlap more than this (IoU), the weaker one goes."""


@dataclass(frozen=True)
class ProposeConfig:
    steps: int = 3000
    batch: int = 384
    rate: float = 2e-3
    decay: float = 0.02
    warmup: int = 100
    smallest_crop: float = 0.5
    reach: float = 0.3
    """A cell answers for a box when it lies within this share of the box's size from its centre (or nearest to it)."""
    edge_weight: float = 2.0
    seed: int = 0


@dataclass
class Boxed:
    """Pictures with padded boxes [picture, MOST, 4]; empty places have no area."""

    images: Any
    boxes: Any


def load_boxed(folder: Path, name: str, device: str, workers: int = 16) -> Boxed:
    """A boxed source of a training pack (`coco_train`, `coco_dev`)."""
    data, about = read_pack(folder, name)
    boxes = np.zeros((len(about), MOST, 4), np.float32)
    for row, picture in zip(boxes, about, strict=True):
        flat = np.reshape(np.asarray(picture["box"], np.float32), (-1, 4))
        cx, cy, w, h = flat.T
        kept = np.stack([cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2], 1)[np.minimum(w, h) >= SMALLEST]
        area = (kept[:, 2] - kept[:, 0]) * (kept[:, 3] - kept[:, 1])
        kept = kept[np.argsort(-area)][:MOST]
        row[: len(kept)] = kept
    images = torch.as_tensor(decode_square(data, 112, workers), device=device)
    return Boxed(images, torch.as_tensor(boxes, device=device))


def seen_through(boxes: Any, window: Any, flip: Any) -> Any:
    """Boxes as they stand in a crop of their picture; those mostly cut away lose their area."""
    low, size = window[:, None, :2].repeat(1, 1, 2), (window[:, 2:] - window[:, :2])[:, None].repeat(1, 1, 2)
    moved = (boxes - low) / size
    x0, y0, x1, y1 = moved.unbind(-1)
    mirrored = flip[:, None]
    moved = torch.stack([torch.where(mirrored, 1 - x1, x0), y0, torch.where(mirrored, 1 - x0, x1), y1], -1)
    cut = moved.clamp(0, 1)
    visible = _area(cut) >= 0.4 * _area(moved)
    return cut * visible[..., None]


def _area(boxes: Any) -> Any:
    return (boxes[..., 2] - boxes[..., 0]).clamp(min=0) * (boxes[..., 3] - boxes[..., 1]).clamp(min=0)


def assign(boxes: Any, side: int, reach: float) -> tuple[Any, Any]:
    """For each grid cell whether it answers for a box, and which: the smallest box whose middle covers it."""
    step = (torch.arange(side, device=boxes.device) + 0.5) / side
    y, x = torch.meshgrid(step, step, indexing="ij")
    x, y = x.flatten()[None, :, None], y.flatten()[None, :, None]
    x0, y0, x1, y1 = (edge[:, None, :] for edge in boxes.unbind(-1))
    area = _area(boxes)[:, None, :]
    near_x = (x - (x0 + x1) / 2).abs() <= torch.maximum(reach * (x1 - x0), torch.tensor(0.5 / side))
    near_y = (y - (y0 + y1) / 2).abs() <= torch.maximum(reach * (y1 - y0), torch.tensor(0.5 / side))
    size = torch.where(near_x & near_y & (area > 0), area, 9.0)
    smallest, which = size.min(-1)
    return smallest < 9, boxes.gather(1, which[..., None].expand(-1, -1, 4))


def generous_iou(found: Any, wanted: Any) -> tuple[Any, Any]:
    """IoU, and GIoU for the loss, of boxes side by side."""
    low, high = torch.maximum(found[..., :2], wanted[..., :2]), torch.minimum(found[..., 2:], wanted[..., 2:])
    both = (high - low).clamp(min=0).prod(-1)
    either = (_area(found) + _area(wanted) - both).clamp(min=1e-6)
    around = (
        torch.maximum(found[..., 2:], wanted[..., 2:]) - torch.minimum(found[..., :2], wanted[..., :2])
    ).prod(-1)
    iou = both / either
    return iou, iou - (around - either) / around.clamp(min=1e-6)


def fit_proposer(
    image: ImageNetwork, train: Boxed, dev: Boxed, config: ProposeConfig, device: str, log: Any = print
) -> tuple[ProposerHead, dict[str, float]]:
    """Train the head; returns it with its recall on the dev pictures."""
    torch.manual_seed(config.seed)
    image = image.eval()
    head = ProposerHead(image.config.widths).to(device)
    optimizer = torch.optim.AdamW(head.parameters(), lr=config.rate, weight_decay=config.decay)
    start = time.time()
    for step in range(1, config.steps + 1):
        share = step / config.steps
        for group in optimizer.param_groups:
            group["lr"] = (
                config.rate
                * min(1.0, step / config.warmup)
                * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * share)))
            )
        rows = torch.randint(len(train.images), (config.batch,), device=device)
        window = random_boxes(config.batch, config.smallest_crop, device)
        flip = torch.rand(config.batch, device=device) < 0.5
        boxes = seen_through(train.boxes[rows], window, flip)
        with torch.no_grad(), torch.autocast(device, torch.bfloat16, enabled=device == "cuda"):
            pixels = colours(crop(train.images[rows].float(), window, image.config.side, flip), erase=0.0)
            maps = image.maps(pixels)
        logits, found = head([m.float() for m in maps])
        loss = propose_loss(logits, found, boxes, config)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        if step % max(1, config.steps // 4) == 0:
            recall = recall_at(propose(image, head, dev.images), dev.boxes)
            row = {
                "step": step,
                "seconds": round(time.time() - start, 1),
                "loss": round(float(loss.detach()), 4),
            }
            log(json.dumps({**row, **recall}))
    return head, recall_at(propose(image, head, dev.images), dev.boxes)


def propose_loss(logits: Any, found: Any, boxes: Any, config: ProposeConfig) -> Any:
    """Quality focal loss for the grid (the target of a cell is how good its box is) and GIoU for the edges."""
    side = round(logits.shape[1] ** 0.5)
    mine, wanted = assign(boxes, side, config.reach)
    iou, generous = generous_iou(found, wanted)
    target = torch.where(mine, iou.detach().clamp(0, 1), 0.0)
    chance = torch.sigmoid(logits)
    grid = (
        (target - chance).abs() ** 2 * F.binary_cross_entropy_with_logits(logits, target, reduction="none")
    ).sum()
    count = mine.sum().clamp(min=1)
    return grid / count + config.edge_weight * ((1 - generous) * mine).sum() / count


@torch.inference_mode()
def propose(
    image: ImageNetwork, head: ProposerHead, images: Any, count: int = 10, batch: int = 500
) -> list[Any]:
    """Ten boxes for each picture, as the runtime does it."""
    whole = torch.tensor([0.0, 0.0, 1.0, 1.0], device=images.device)
    found = []
    for start in range(0, len(images), batch):
        part = images[start : start + batch].float()
        flip = torch.zeros(len(part), dtype=torch.bool, device=part.device)
        logits, boxes = head(image.maps(crop(part, whole.expand(len(part), 4), image.config.side, flip)))
        for row, corners in zip(logits.float().cpu().numpy(), boxes.float().cpu().numpy(), strict=True):
            found.append(corners[keep_apart(corners, row, APART, count)])
    return found


def recall_at(found: list[Any], boxes: Any, threshold: float = 0.5) -> dict[str, float]:
    """Share of the pictures' boxes that a proposal overlaps with IoU of at least `threshold`: all, and the large."""
    hit, large = [], []
    for proposals, row in zip(found, boxes.cpu().numpy(), strict=True):
        wanted = row[(row[:, 2] > row[:, 0])]
        if len(wanted):
            hit += list(overlap(wanted, proposals).max(1) >= threshold)
            large += list((wanted[:, 2:] - wanted[:, :2]).prod(1) >= 0.05)
    hits, big = np.array(hit), np.array(large)
    return {"recall": round(float(hits.mean()), 4), "recall_large": round(float(hits[big].mean()), 4)}
