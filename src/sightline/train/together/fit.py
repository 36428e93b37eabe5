"""The network learns to read pictures and words together, chosen by pictures it does not learn from."""

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy import stats
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.train.pocket_captioner.fit import schedule, seen
from sightline.train.pocket_captioner.maps import Maps
from sightline.train.pocket_captioner.network import DecoderConfig
from sightline.train.together.examples import FALSE, FOREIGN, OWN, Corpus, Shares, Step, Text, drawn, step
from sightline.train.together.network import JUDGEMENTS, TogetherNetwork

Say = Callable[[str], None]
Shown = tuple[Tensor, Tensor, Tensor]
CHECKPOINT = "together.pt"


@dataclass(frozen=True)
class FitConfig:
    """How it is trained."""

    minutes: float = 30
    pictures: int = 32
    """Of a step, each with its texts."""
    rate: float = 5e-4
    warmup: int = 50
    decay: float = 0.05
    blind: float = 0.1
    """Share of the pictures that are hidden: what a text is worth without one."""
    noise: float = 0.15
    """Of the maps, in units of their spread: pictures that the image network learned from are too easy."""
    channels: float = 0.1
    """Share of a picture's channels that are left out."""
    vectors: float = 0.5
    """Share of the pictures whose vector is left out."""
    words: float = 0.2
    """Weight of guessing masked words."""
    exact: float = 1.0
    average: float = 0.997
    every: float = 6
    seed: int = 0
    narrow: bool = True


def own_given(near: Tensor, centre: float, width: float) -> Tensor:
    """How likely a text of such closeness is the picture's own."""
    return torch.sigmoid((near - centre) / width)


@dataclass
class Grades:
    """How closeness is brought to a target."""

    mean: float
    spread: float
    centre: float
    width: float


def graded(corpus: Corpus, shares: Shares, rng: np.random.Generator, count: int = 2000) -> Grades:
    """From texts as they are drawn: where own and foreign ones are told apart by closeness alone."""
    rows = [one for n in rng.integers(len(corpus), size=count) for one in drawn(corpus, int(n), shares, rng)]
    close = np.array([one.near for one in rows if one.kind != FALSE])
    own = np.array([one.kind == OWN for one in rows if one.kind != FALSE])
    x = torch.tensor(close, dtype=torch.float64)
    y = torch.tensor(own, dtype=torch.float64)
    line = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([line], max_iter=100)
    mean, spread = float(close.mean()), float(close.std() + 1e-6)

    def loss() -> Tensor:
        optimiser.zero_grad()
        found = (
            F.binary_cross_entropy_with_logits(line[0] + line[1] * (x - mean) / spread, y)
            + 1e-3 * line[1] ** 2
        )
        found.backward()
        return found

    optimiser.step(loss)
    shift, slope = line.detach().tolist()
    slope = max(slope, 0.1)
    return Grades(mean, spread, mean - shift / slope * spread, spread / slope)


class Trainer:
    def __init__(
        self,
        network: TogetherNetwork,
        corpus: Corpus,
        maps: Maps,
        grades: Grades,
        shares: Shares,
        recipe: FitConfig,
    ) -> None:
        torch.manual_seed(recipe.seed)
        self.recipe, self.shares, self.grades = recipe, shares, grades
        self.network, self._corpus, self._maps = network, corpus, maps
        self.average = TogetherNetwork(DecoderConfig(**asdict(network.config))).requires_grad_(False).eval()
        self.average.load_state_dict(network.state_dict())
        self.kind = torch.bfloat16 if recipe.narrow else torch.float32
        heavy = [p for p in network.parameters() if p.ndim > 1]
        light = [p for p in network.parameters() if p.ndim < 2]
        groups = [{"params": heavy, "weight_decay": recipe.decay}, {"params": light, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.98), fused=True)
        self.rng = np.random.default_rng(recipe.seed)
        sample = np.asarray(maps.map16[:256], np.float32), np.asarray(maps.map32[:256], np.float32)
        self._spread = [torch.from_numpy(part.std((0, 1))) for part in sample]
        self.steps = 0

    def autocast(self) -> AbstractContextManager[Any]:
        return torch.autocast("cpu", torch.bfloat16, enabled=self.recipe.narrow)

    def run(
        self, folder: Path, look: Callable[[TogetherNetwork], dict[str, float]], say: Say
    ) -> list[dict[str, float]]:
        began, looked, history = time.monotonic(), time.monotonic(), list[dict[str, float]]()
        sums: dict[str, float] = {}
        tokens = 0
        for numbers in self._endless():
            passed = time.monotonic() - began
            if passed >= self.recipe.minutes * 60:
                break
            rate = self.recipe.rate * schedule(
                passed / self.recipe.minutes / 60, self.steps, self.recipe.warmup
            )
            losses, size = self.step(numbers, rate)
            tokens += size
            sums = {name: sums.get(name, 0.0) + value for name, value in losses.items()}
            self.steps += 1
            if self.steps % 50 == 0:
                told = ", ".join(f"{name} {value / 50:.4f}" for name, value in sums.items())
                speed = tokens / max(passed, 1e-9)
                say(f"step {self.steps}, {passed / 60:.1f} min, {speed:,.0f} pieces a second: {told}")
                sums = {}
            if time.monotonic() - looked > self.recipe.every * 60:
                looked = time.monotonic()
                history.append({"minutes": passed / 60, "steps": self.steps, **look(self.average)})
                say(json.dumps(history[-1]))
                self.save(folder)
        history.append(
            {"minutes": (time.monotonic() - began) / 60, "steps": self.steps, **look(self.average)}
        )
        say(json.dumps(history[-1]))
        self.save(folder)
        return history

    def _endless(self) -> Iterator[list[int]]:
        while True:
            order = self.rng.permutation(len(self._corpus))
            for start in range(0, len(order) - self.recipe.pictures + 1, self.recipe.pictures):
                yield order[start : start + self.recipe.pictures].tolist()
            if len(order) < self.recipe.pictures:
                yield order.tolist()

    def step(self, numbers: Sequence[int], rate: float) -> tuple[dict[str, float], int]:
        corpus, recipe = self._corpus, self.recipe
        self.network.train()
        texts = step([drawn(corpus, n, self.shares, self.rng) for n in numbers], self.shares.masked, self.rng)
        views = [corpus.views[n][self.rng.integers(len(corpus.views[n]))] for n in numbers]
        shown = self._worse(seen(self._maps, views, torch.float32))
        with self.autocast():
            memory = self.network.memory(*(part.to(self.kind) for part in shown))
            judged, _, states = self.network(
                memory, texts.read, texts.order, texts.mask.to(self.kind), texts.member
            )
        losses = self.losses(judged.float(), states, texts)
        weights = {"exact": recipe.exact, "words": recipe.words}
        loss = sum((value * weights.get(name, 1.0) for name, value in losses.items()), torch.zeros(()))
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0, foreach=True)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        share = min(recipe.average, (1 + self.steps) / (10 + self.steps))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.network.parameters()), 1 - share)
        return {name: float(value) for name, value in losses.items()}, int(texts.member.sum())

    def _worse(self, shown: Shown) -> Shown:
        """Maps made harder than those of pictures that the image network learned from."""
        recipe, made = self.recipe, []
        blind = torch.rand(len(shown[0])) < recipe.blind
        for part, spread in zip(shown, self._spread, strict=False):
            x = part
            if recipe.noise:
                x = x + torch.randn_like(x) * (recipe.noise * spread)
            if recipe.channels:
                x = x * (torch.rand(len(x), 1, x.shape[-1]) >= recipe.channels)
            made.append(x)
        made.append(shown[2] * (torch.rand(len(blind), 1) >= recipe.vectors))
        for part in made:
            part[blind] = 0
        return made[0], made[1], made[2]

    def losses(self, judged: Tensor, states: Tensor, texts: Step) -> dict[str, Tensor]:
        grades = self.grades
        near, match, exact = judged.unbind(-1)
        known = (texts.kind == OWN) | (texts.kind == FOREIGN)
        close = torch.where(known, texts.target, 0)
        aim = (close - grades.mean) / grades.spread
        target = torch.where(texts.kind == OWN, 0.97, 0.9 * own_given(close, grades.centre, grades.width))
        found = {
            "near": F.mse_loss(near[known], aim[known]),
            "match": F.binary_cross_entropy_with_logits(match[known], target[known]),
        }
        false = texts.kind == FALSE
        truth = texts.source.clamp(min=0)
        gap = exact.gather(1, truth) - exact
        both = false | (texts.kind == OWN)
        found["exact"] = (
            F.softplus(-gap[false]).mean()
            + 0.5 * F.binary_cross_entropy_with_logits(exact[both], (~false)[both].float())
            if bool(false.any())
            else exact.sum() * 0
        )
        lost = texts.hidden >= 0
        if bool(lost.any()):
            logits = F.linear(states[lost].float(), self.network.reader.embedding, self.network.reader.bias)
            found["words"] = F.cross_entropy(logits, texts.hidden[lost])
        return found

    def save(self, folder: Path) -> None:
        kept = {
            "config": asdict(self.network.config),
            "weights": self.average.state_dict(),
            "recipe": asdict(self.recipe),
            "grades": asdict(self.grades),
            "steps": self.steps,
        }
        torch.save(kept, folder / f"{CHECKPOINT}.new")
        (folder / f"{CHECKPOINT}.new").replace(folder / CHECKPOINT)


def load_together(path: Path) -> TogetherNetwork:
    kept = torch.load(path, map_location="cpu", weights_only=True)
    network = TogetherNetwork(DecoderConfig(**kept["config"]))
    network.load_state_dict(kept["weights"])
    return network.eval()


@dataclass
class Judged:
    """What the network says of texts, beside what is known of them."""

    judged: np.ndarray
    """[text, judgement]"""
    pooled: np.ndarray
    picture: np.ndarray
    kind: np.ndarray
    near: np.ndarray
    source: np.ndarray
    """Of an exchanged text: the place of its truth."""


@torch.no_grad()
def judge(
    network: TogetherNetwork, corpus: Corpus, maps: Maps, texts: Sequence[Sequence[Text]],
    pictures: Sequence[int], blind: bool = False, narrow: bool = True,
) -> Judged:  # fmt: skip
    """Of each picture its texts; the first view of it."""
    network.eval()
    parts: list[list[np.ndarray]] = []
    begin = 0
    rng = np.random.default_rng(0)
    for start in range(0, len(pictures), 32):
        some = step(texts[start : start + 32], 0.0, rng)
        shown = seen(maps, [corpus.views[n][0] for n in pictures[start : start + 32]], torch.float32)
        if blind:
            shown = tuple(torch.zeros_like(part) for part in shown)
        with torch.autocast("cpu", torch.bfloat16, enabled=narrow):
            judged, pooled, _ = network(network.memory(*shown), some.read, some.order, some.mask, some.member)
        there = some.kind > 0
        counts = torch.cumsum(there.flatten(), 0).view(there.shape) - 1 + begin
        truth = torch.where(some.source >= 0, counts.gather(1, some.source.clamp(min=0)), -1)
        row = torch.tensor(pictures[start : start + 32])[:, None].expand(there.shape)
        parts.append(
            [x[there].float().numpy() for x in (judged, pooled)]
            + [x[there].numpy() for x in (row, some.kind, some.target, truth)]
        )
        begin += int(there.sum())
    return Judged(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def measured(found: Judged) -> dict[str, float]:
    """How well foreign texts are ranked by closeness, own ones told from foreign, true from exchanged."""
    known = found.kind != FALSE
    false = found.kind == FALSE
    foreign = found.kind == FOREIGN
    said = {}
    for n, name in enumerate(JUDGEMENTS):
        score = found.judged[:, n]
        said[f"{name} rank"] = float(stats.spearmanr(score[foreign], found.near[foreign]).statistic)
        said[f"{name} own"] = _wins(score[found.kind == OWN], score[foreign])
        if false.any():
            gap = score[found.source[false]] - score[false]
            said[f"{name} exchanged"] = float((gap > 0).mean() + 0.5 * (gap == 0).mean())
    said["near error"] = float(np.mean((found.judged[known, 0] - stats.zscore(found.near[known])) ** 2))
    return {name: round(value, 4) for name, value in said.items()}


def _wins(upper: np.ndarray, lower: np.ndarray) -> float:
    """How often one of the first is above one of the second (the area under the curve)."""
    if not len(upper) or not len(lower):
        return math.nan
    return float(stats.mannwhitneyu(upper, lower).statistic / len(upper) / len(lower))
