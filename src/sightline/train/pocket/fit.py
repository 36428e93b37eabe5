"""Training of the image and text networks: captions, regions, classes and words at once, choosing on dev pictures."""

import copy
import json
import math
import time
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.train.pocket.augment import colours, crop, loosen, random_boxes
from sightline.train.pocket.networks import ImageConfig, ImageNetwork, TeacherHead, TextNetwork
from sightline.train.pocket.store import Store


@dataclass(frozen=True)
class FitConfig:
    """The recipe. Batch sizes are numbers of pictures of each kind in a step."""

    image: ImageConfig = field(default_factory=ImageConfig)
    text_layers: int = 2
    steps: int = 4000
    captioned: int = 768
    flickr_share: float = 0.35
    uncaptioned: int = 128
    regions: int = 512
    tiny: int = 192
    loose: int = 1024
    rate: float = 1.5e-3
    decay: float = 0.08
    warmup: int = 200
    ema: float = 0.9985
    smallest_crop: float = 0.35
    soft: float = 0.3
    """Share of the contrastive target spread over captions that mean nearly the same."""
    soft_temperature: float = 0.06
    mix: float = 0.0
    """Share of steps in which captioned pictures are blended in pairs."""
    piece_dropout: float = 0.15
    region_weight: float = 0.6
    tiny_weight: float = 0.25
    word_weight: float = 0.3
    present_weight: float = 0.2
    follow_weight: float = 2.0
    """Of the text network's distance to the teacher."""
    agree_weight: float = 0.0
    """Of the distance between a picture's vector and the averaged network's for another crop of it."""
    check_every: int = 500
    seed: int = 0


class Learner(nn.Module):
    """All that is trained; only `image` and `text` are shipped."""

    def __init__(self, config: FitConfig, store: Store) -> None:
        super().__init__()
        self.image = ImageNetwork(config.image)
        self.text = TextNetwork(store.table, config.text_layers)
        self.teacher = TeacherHead(store.captions.vectors.shape[1])
        self.words = nn.Linear(2 * self.image.width, store.words.shape[1])
        self.present = nn.Linear(2 * self.image.width, store.present.shape[1])
        self.log_scale = nn.Parameter(torch.tensor(math.log(15.0)))
        self.log_scale_names = nn.Parameter(torch.tensor(math.log(15.0)))


def unit(x: Any) -> Any:
    return F.normalize(x.float(), dim=-1)


def soft_contrast(logits: Any, target: Any) -> Any:
    """Cross-entropy against soft targets, over rows and over columns."""
    rows = -(target * F.log_softmax(logits, 1)).sum(1).mean()
    columns = -(target.T * F.log_softmax(logits.T, 1)).sum(1).mean()
    return (rows + columns) / 2


def soft_target(vectors: Any, share: float, temperature: float) -> Any:
    """The identity, blended with who means nearly the same; symmetric enough to serve both directions."""
    alike = torch.softmax(vectors @ vectors.T / temperature, 1)
    return (1 - share) * torch.eye(len(vectors), device=vectors.device) + share * alike


class Trainer:
    """Runs the recipe and remembers the averaged network that did best on the dev pictures."""

    def __init__(self, config: FitConfig, store: Store, device: str) -> None:
        torch.manual_seed(config.seed)
        self.config, self.store, self.device = config, store, device
        self.net = Learner(config, store).to(device)
        if device == "cuda":
            self.net.image = self.net.image.to(memory_format=torch.channels_last)
        self.average = copy.deepcopy(self.net).eval().requires_grad_(False)
        decayed = [p for n, p in self.net.named_parameters() if p.ndim > 1 and "place" not in n]
        free = [p for n, p in self.net.named_parameters() if p.ndim <= 1 or "place" in n]
        self.optimizer = torch.optim.AdamW(
            [{"params": decayed, "weight_decay": config.decay}, {"params": free, "weight_decay": 0.0}],
            lr=config.rate,
            betas=(0.9, 0.98),
        )
        self.history: list[dict[str, float]] = []
        self.best: dict[str, Any] = {}
        self.best_score = -1.0

    def run(self, log: Any = print) -> dict[str, Any]:
        start = time.time()
        for step in range(1, self.config.steps + 1):
            self._rate(step)
            losses = self._losses()
            loss = sum(losses.values())
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(self.net.parameters(), 2.0)
            self.optimizer.step()
            with torch.no_grad():
                self.net.log_scale.clamp_(max=math.log(60.0))
                self.net.log_scale_names.clamp_(max=math.log(60.0))
            self._follow(step)
            if step % self.config.check_every == 0 or step == self.config.steps:
                found = {k: round(float(v.detach()), 4) for k, v in losses.items()}
                check = evaluate(self.average, self.store)
                row = {"step": step, "seconds": round(time.time() - start, 1), **found, **check}
                self.history.append(row)
                log(json.dumps(row))
                if check["score"] > self.best_score:
                    self.best_score = check["score"]
                    self.best = {k: v.detach().clone() for k, v in self.average.state_dict().items()}
        self.average.load_state_dict(self.best)
        return {"config": asdict(self.config), "history": self.history, "best": self.best_score}

    def _rate(self, step: int) -> None:
        c = self.config
        warm = min(1.0, step / max(1, c.warmup))
        cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, step / c.steps)))
        for group in self.optimizer.param_groups:
            group["lr"] = c.rate * warm * (0.02 + 0.98 * cosine)

    @torch.no_grad()
    def _follow(self, step: int) -> None:
        """Move the average towards the network."""
        keep = min(self.config.ema, (1 + step) / (10 + step))
        mine, theirs = list(self.average.parameters()), list(self.net.parameters())
        torch._foreach_lerp_(mine, theirs, 1 - keep)
        for a, b in zip(self.average.buffers(), self.net.buffers(), strict=True):
            if a.dtype.is_floating_point and a.ndim == 1:
                a.lerp_(b, 1 - keep)

    def _pick(self, count: int, high: int) -> Any:
        return torch.randint(high, (count,), device=self.device)

    def _view(self, images: Any, boxes: Any) -> Any:
        flip = torch.rand(len(images), device=self.device) < 0.5
        return colours(crop(images.float(), boxes, self.config.image.side, flip))

    def _losses(self) -> dict[str, Any]:
        c, s, net = self.config, self.store, self.net
        n_flickr = round(c.captioned * c.flickr_share)
        n_coco = c.captioned - n_flickr
        flickr, coco = self._pick(n_flickr, len(s.flickr)), self._pick(n_coco, len(s.coco_captioned))
        uncaptioned = s.coco_uncaptioned[self._pick(c.uncaptioned, len(s.coco_uncaptioned))]
        region = self._pick(c.regions, len(s.region_image))
        tiny = self._pick(c.tiny, len(s.tiny))
        coco_rows = torch.cat([s.coco_captioned[coco], uncaptioned])

        def whole() -> Any:
            return [
                self._view(s.flickr[flickr], random_boxes(n_flickr, c.smallest_crop, self.device)),
                self._view(s.coco[coco_rows], random_boxes(len(coco_rows), c.smallest_crop, self.device)),
            ]

        views = whole()
        parts = [
            *views,
            self._view(s.coco[s.region_image[region]], loosen(s.region_box[region], 0.15)),
            self._view(s.tiny[tiny], random_boxes(len(tiny), 0.5, self.device)),
        ]
        pixels = torch.cat(parts)
        order = torch.arange(c.captioned, device=self.device)
        blend = torch.ones(c.captioned, 1, device=self.device)
        if c.mix and torch.rand(()) < c.mix:
            order = torch.randperm(c.captioned, device=self.device)
            blend = torch.distributions.Beta(0.4, 0.4).sample((c.captioned, 1)).to(self.device)
            blend = torch.maximum(blend, 1 - blend)
            mixed = (
                blend[..., None, None] * pixels[: c.captioned] + (1 - blend[..., None, None]) * pixels[order]
            )
            pixels = torch.cat([mixed, pixels[c.captioned :]])
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            if self.device == "cuda":
                pixels = pixels.contiguous(memory_format=torch.channels_last)
            h, v = net.image(pixels)
            which = self._pick(c.captioned, 5)
            caption = torch.cat(
                [s.flickr_captions[flickr, which[:n_flickr]], s.coco_captions[coco, which[n_flickr:]]]
            )
            names = torch.cat([s.class_text, s.tiny_text])
            texts = [
                (s.captions, caption),
                (s.labels, s.region_text[region]),
                (s.labels, names),
                (s.loose, self._pick(c.loose, len(s.loose.vectors))),
            ]
            taught = unit(net.teacher(torch.cat([t.vectors[rows] for t, rows in texts])))
            said = unit(net.text(self._drop(torch.cat([t.pieces[rows] for t, rows in texts]))))
        v = unit(v)
        sizes = [len(rows) for _, rows in texts]
        t_cap, t_reg, t_names, _ = taught.split(sizes)
        s_cap, s_reg, s_names, _ = said.split(sizes)
        v_cap, v_reg, v_tiny = v[: c.captioned], v[-c.regions - c.tiny : -c.tiny], v[-c.tiny :]
        scale, scale_names = net.log_scale.exp(), net.log_scale_names.exp()
        target = soft_target(s.captions.vectors[caption], c.soft, c.soft_temperature)
        target = blend * target + (1 - blend) * target[order]
        like = soft_target(s.labels.vectors[s.region_text[region]], 0.98, 0.04)
        n_classes = len(s.class_text)
        losses = {
            "caption": soft_contrast(scale * v_cap @ t_cap.T, target),
            "caption_text": soft_contrast(scale * v_cap @ s_cap.T, target),
            "region": c.region_weight
            * (
                soft_contrast(scale_names * v_reg @ t_reg.T, like) * 0.5
                + soft_contrast(scale_names * v_reg @ s_reg.T, like) * 0.5
                + F.cross_entropy(scale_names * v_reg @ t_names[:n_classes].T, s.region_class[region]) * 0.5
                + F.cross_entropy(scale_names * v_reg @ s_names[:n_classes].T, s.region_class[region]) * 0.5
            )
            / 2,
            "tiny": c.tiny_weight
            * (
                F.cross_entropy(scale_names * v_tiny @ t_names[n_classes:].T, s.tiny_class[tiny])
                + F.cross_entropy(scale_names * v_tiny @ s_names[n_classes:].T, s.tiny_class[tiny])
            )
            / 2,
            "follow": c.follow_weight * (1 - (taught.detach() * said).sum(-1)).mean(),
        }
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            h = net.image.dropout(h)
            word_logits = net.words(h[: c.captioned]).float()
            present_logits = net.present(h[n_flickr : n_flickr + len(coco_rows)]).float()
        share = torch.cat([s.words[flickr], s.words[len(s.flickr) + coco]]).float()
        share = blend * share + (1 - blend) * share[order]
        share = share / share.sum(1, keepdim=True).clamp(min=1e-3)
        losses["words"] = c.word_weight * -(share * F.log_softmax(word_logits, 1)).sum(1).mean()
        present = s.present[coco_rows].float()
        losses["present"] = (
            c.present_weight * F.binary_cross_entropy_with_logits(present_logits, present) * 10
        )
        if c.agree_weight:
            other = torch.cat(whole())
            with torch.no_grad(), torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
                aim = unit(self.average.image(other.contiguous(memory_format=torch.channels_last))[1])
            mine = v[: len(aim)]
            logits, goal = mine @ aim.T / 0.1, aim @ aim.T / 0.04
            losses["agree"] = (
                c.agree_weight * -(torch.softmax(goal, 1) * F.log_softmax(logits, 1)).sum(1).mean()
            )
        return losses

    def _drop(self, pieces: Any) -> Any:
        """Leave out word pieces at random (never all of a short text): the text network must not lean on one word."""
        lost = (torch.rand(pieces.shape, device=self.device) < self.config.piece_dropout) & (
            (pieces > 0).sum(1, keepdim=True) > 3
        )
        pieces = torch.where(lost, 0, pieces)
        # Close the gaps so that padding stays at the end.
        order = torch.argsort((pieces == 0).int(), dim=1, stable=True)
        return pieces.gather(1, order)


@torch.inference_mode()
def embed_images(net: Learner, images: Any, batch: int = 1000) -> Any:
    rows = []
    whole = torch.tensor([0.0, 0.0, 1.0, 1.0], device=images.device)
    for start in range(0, len(images), batch):
        part = images[start : start + batch].float()
        flip = torch.zeros(len(part), dtype=torch.bool, device=part.device)
        part = crop(part, whole.expand(len(part), 4), net.image.config.side, flip)
        rows.append(unit(net.image(part)[1]))
    return torch.cat(rows)


@torch.inference_mode()
def evaluate(net: Learner, store: Store) -> dict[str, float]:
    """Dev retrieval with the text network, the same with the teacher, and agreement with text likeness."""
    v = embed_images(net, store.dev_images)
    said = torch.cat([unit(net.text(p)) for p in store.dev_captions.pieces.split(1000)])
    taught = torch.cat([unit(net.teacher(p)) for p in store.dev_captions.vectors.split(1000)])
    own = torch.arange(len(v), device=v.device).repeat_interleave(5)
    found: dict[str, float] = {}
    for name, texts in (("", said), ("teacher_", taught)):
        similarity = texts @ v.T
        rank = (similarity > similarity.gather(1, own[:, None])).sum(1)
        for k in (1, 5, 10):
            found[f"{name}r{k}"] = round(float((rank < k).float().mean()), 4)
    alike = (store.dev_captions.vectors @ store.dev_captions.vectors.T).view(len(v), 5, -1).mean(1)
    found["likeness"] = round(_likeness(v @ said.T, alike, own), 4)
    found["score"] = round(found["r10"] + found["likeness"], 4)
    return found


def _likeness(score: Any, alike: Any, own: Any) -> float:
    """Rank correlation of the score with text likeness over hard and random foreign captions of each picture."""
    alike = alike.masked_fill(own[None, :] == torch.arange(len(score), device=score.device)[:, None], -9)
    hard = alike.topk(min(40, alike.shape[1] // 4), 1).indices[:, ::4]
    generator = torch.Generator(device=score.device).manual_seed(1)
    loose = torch.randint(alike.shape[1], (len(score), 10), device=score.device, generator=generator)
    pick = torch.cat([hard, loose], 1)
    a, b = alike.gather(1, pick).flatten(), score.gather(1, pick).flatten()
    keep = a > -9
    a, b = (x[keep].argsort().argsort().double() for x in (a, b))
    return float(torch.corrcoef(torch.stack([a, b]))[0, 1])
