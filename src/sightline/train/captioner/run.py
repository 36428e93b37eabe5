"""Fine-tuning by HL's recipe: at most ten epochs at 5e-5 with Adam, in half precision where there is a GPU; for
narratives three epochs in batches of eight with AdamW. Stops early where held-out pictures no longer gain."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from sightline.errors import UsageError
from sightline.generate.base import Axis
from sightline.generate.decoding import is_out_of_memory
from sightline.train.captioner import checkpoint
from sightline.train.captioner.checkpoint import Standing
from sightline.train.captioner.examples import Example, Examples
from sightline.train.captioner.learners import Learner
from sightline.vision.pictures import Pictures

Say = Callable[[str], None]
Progress = Callable[[str, int, int | None], None]
KEPT = 1 << 28
"""Numbers of all pictures' inputs that are kept between epochs at most: vectors are, pixels seldom."""


@dataclass(frozen=True)
class Recipe:
    """How a captioner learns. What is not given is HL's."""

    epochs: int
    batch: int = 8
    rate: float = 5e-5
    optimiser: str = "adam"
    patience: int = 2
    """Epochs without a gain on the held-out pictures, after which training stops."""
    confidence: bool = False
    seed: int = 0
    every: int = 200
    """Batches after which the standing is kept."""

    @classmethod
    def of(cls, axis: Axis, **given: Any) -> "Recipe":
        """HL's for this axis, with what is chosen otherwise."""
        published = (
            {"epochs": 3, "optimiser": "adamw"}
            if axis == "narrative"
            else {"epochs": 10, "optimiser": "adam"}
        )
        return cls(**{**published, **{name: value for name, value in given.items() if value is not None}})

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "patience", "every"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} is {getattr(self, name)}; it is at least 1")
        if not self.rate > 0:
            raise UsageError(f"rate is {self.rate:g}; it is a number above 0")

    def made(self, parameters: Any) -> torch.optim.Optimizer:
        kind = torch.optim.AdamW if self.optimiser == "adamw" else torch.optim.Adam
        return kind(parameters, lr=self.rate)


class Training:
    """One run; `standing` tells how far it is."""

    def __init__(
        self, learner: Learner, found: Examples, recipe: Recipe, folder: Path, about: dict[str, Any]
    ) -> None:
        self._learner, self._found, self._recipe, self._folder = learner, found, recipe, folder
        self._pictures = Pictures()
        self._inputs: dict[Path, torch.Tensor] = {}
        self._gpu = next(learner.network.parameters()).is_cuda
        torch.manual_seed(recipe.seed)
        self._optimiser = recipe.made(learner.network.parameters())
        self._scaler = torch.amp.GradScaler("cuda", enabled=self._gpu)
        self._about = {**about, "recipe": asdict(recipe), "examples": len(found.learned)}
        self.standing = Standing(self._about)

    def resume(self) -> None:
        if (self._folder / checkpoint.FILE).is_file():
            self.standing = checkpoint.load(self._folder, self._learner.network, self._optimiser, self._about)
            if self.standing.scale:
                self._scaler.update(self.standing.scale)

    def run(self, say: Say, progress: Progress) -> None:
        """To the end, or to where it no longer gains; the best epoch's weights are in the network then."""
        recipe, standing = self._recipe, self.standing
        if not standing.history and not standing.step:
            before = self.dev_loss(progress)
            say(f"before training: held out {before:.4f} nats a token")
            standing.history.append({"epoch": 0, "dev": before})
        while standing.epoch < recipe.epochs and standing.epoch - standing.best <= recipe.patience:
            train = self._epoch(progress)
            dev = self.dev_loss(progress)
            best = min((row["dev"] for row in standing.history[1:]), default=float("inf"))
            standing.history.append({"epoch": standing.epoch + 1, "train": train, "dev": dev})
            gained = dev < best
            if gained:
                standing.best = standing.epoch
                checkpoint.save_best(self._folder, self._learner.network)
            standing.epoch, standing.step, standing.loss = standing.epoch + 1, 0, 0.0
            self._keep()
            say(f"epoch {standing.epoch}: learned {train:.4f}, held out {dev:.4f}" + ", the best" * gained)
        if standing.epoch < recipe.epochs:
            say(f"stopped: {recipe.patience} epochs without a gain on the held-out pictures")
        checkpoint.load_best(self._folder, self._learner.network)

    def dev_loss(self, progress: Progress) -> float:
        """Nats a token over the held-out pictures' captions."""
        self._learner.network.eval()
        total = tokens = 0.0
        examples = self._found.held_out
        for start in range(0, len(examples), self._recipe.batch):
            with torch.no_grad():
                loss, count = self._losses(examples[start : start + self._recipe.batch])
            total, tokens = total + float(loss.sum()), tokens + float(count.sum())
            progress("held-out captions", start, len(examples))
        return total / tokens

    def _epoch(self, progress: Progress) -> float:
        """From where the epoch stands to its end; its mean loss."""
        recipe, standing, learned = self._recipe, self.standing, self._found.learned
        order = np.random.default_rng((recipe.seed, standing.epoch)).permutation(len(learned))
        steps = -(-len(order) // recipe.batch)
        self._learner.network.train()
        for step in range(standing.step, steps):
            rows = order[step * recipe.batch : (step + 1) * recipe.batch]
            standing.loss += self._step([learned[row] for row in rows])
            standing.step = step + 1
            if standing.step % recipe.every == 0 and standing.step < steps:
                self._keep()
            progress(f"epoch {standing.epoch + 1}", step + 1, steps)
        return standing.loss / steps

    def _step(self, batch: Sequence[Example]) -> float:
        """One step of the optimiser; where memory is short, the batch goes through in parts that add up to it."""
        parts = 1
        while True:
            self._optimiser.zero_grad(set_to_none=True)
            try:
                value = self._gradients(batch, parts)
                break
            except (MemoryError, RuntimeError) as fault:
                if not is_out_of_memory(fault):
                    raise
                if parts >= len(batch):
                    raise UsageError(
                        "there is not enough memory to train on one caption at a time; use a smaller model, or the "
                        "CPU with SIGHTLINE_DEVICE=cpu"
                    ) from None
                parts *= 2
        self._scaler.step(self._optimiser)
        self._scaler.update()
        return value

    def _gradients(self, batch: Sequence[Example], parts: int) -> float:
        size = -(-len(batch) // parts)
        weights = torch.tensor([one.weight for one in batch])
        value = 0.0
        norm = float((weights * self._learner.lengths([one.text for one in batch])).sum())
        for start in range(0, len(batch), size):
            part = batch[start : start + size]
            loss, _ = self._losses(part)
            mean = (loss * weights[start : start + size].to(loss.device)).sum() / norm
            self._scaler.scale(mean).backward()
            value += float(mean.detach())
        return value

    def _losses(self, batch: Sequence[Example]) -> tuple[torch.Tensor, torch.Tensor]:
        seen = torch.stack(self._seen([one.picture for one in batch]))
        with torch.autocast("cuda", torch.float16, enabled=self._gpu):
            return self._learner.losses(seen, [one.text for one in batch])

    def _seen(self, paths: Sequence[Path]) -> list[torch.Tensor]:
        """What the network sees of pictures, kept where it is small."""
        missing = [path for path in dict.fromkeys(paths) if path not in self._inputs]
        fresh: dict[Path, torch.Tensor] = {}
        if missing:
            opened: list[Image.Image] = [self._pictures.load(path).crop() for path in missing]
            fresh = dict(zip(missing, self._learner.inputs(opened), strict=True))
            if next(iter(fresh.values())).numel() * self._found.pictures < KEPT:
                self._inputs |= fresh
        return [self._inputs[path] if path in self._inputs else fresh[path] for path in paths]

    def _keep(self) -> None:
        self.standing.scale = float(self._scaler.get_scale()) if self._gpu else 0.0
        checkpoint.save(self._folder, self._learner.network, self._optimiser, self.standing)
