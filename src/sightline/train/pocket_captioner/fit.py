"""The decoder learns: captions of pictures, as long as there is time, the best average kept."""

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sightline.encoders.pieces import pieces
from sightline.train.pocket_captioner.maps import Maps
from sightline.train.pocket_captioner.network import DecoderConfig, DecoderNetwork, NextPiece, begun
from sightline.train.pocket_captioner.texts import Row, Texts, Vocabulary, batch, gather_vocabulary, packed
from sightline.vision.pocket_network import FOLDER

STANDING = "standing.pt"
CHECKPOINT = "decoder.pt"

Say = Callable[[str], None]


@dataclass(frozen=True)
class FitConfig:
    """How the decoder is trained."""

    minutes: float = 60
    """Of the clock; the learning rate falls to nothing in this time."""
    rows: int = 32
    """Pictures of a step, with all their captions."""
    rate: float = 1e-3
    warmup: int = 200
    decay: float = 0.05
    smoothing: float = 0.1
    blind: float = 0.1
    """Share of the rows whose picture is hidden, so that the decoder also knows what a text is worth without one."""
    average: float = 0.9995
    every: float = 8
    """Minutes between looks at the held-out pictures; the standing is kept then."""
    fresh_from: float = 0.64
    """Share of the time after which pictures are learned from that the image network did not see: its maps of those it
    did are better than those of any picture to come."""
    fresh_every: int = 4
    """Then every so many steps are of them."""
    least: int = 3
    """A piece is written with if the captions have it so often."""
    seed: int = 0
    narrow: bool = True
    """Products in bfloat16."""
    width: int = 256
    layers: int = 3
    heads: int = 4
    longest: int = 40
    dropout: float = 0.1
    unseen: float = 0.1


@dataclass
class Examples:
    """Pictures and their captions as pieces."""

    maps: Maps
    rows: list[Row]
    """One for each picture that has a caption the vocabulary can write."""
    views: list[tuple[int, ...]]
    """The places in the maps of each of these pictures."""


def examples(maps: Maps, vocabulary: Vocabulary, longest: int) -> Examples:
    tokeniser = pieces(FOLDER).tokeniser
    by_id: dict[str, list[int]] = {}
    for place, row in enumerate(maps.rows):
        by_id.setdefault(row["id"], []).append(place)
    found = Examples(maps, [], [])
    for places in by_id.values():
        said = [vocabulary.read(text, tokeniser, longest) for text in maps.rows[places[0]]["captions"]]
        if known := [ids for ids in said if ids]:
            found.rows.append(packed(known))
            found.views.append(tuple(places))
    return found


def batches(lengths: Sequence[int], size: int, rng: np.random.Generator) -> list[list[int]]:
    """Numbers of rows in random order, those of about a length together."""
    order, pool = rng.permutation(len(lengths)), size * 24
    found = []
    for start in range(0, len(order), pool):
        part = sorted(order[start : start + pool], key=lambda n: lengths[n])
        found += [[int(n) for n in part[at : at + size]] for at in range(0, len(part), size)]
    return [found[n] for n in rng.permutation(len(found))]


def seen(maps: Maps, places: Sequence[int], kind: torch.dtype) -> tuple[Tensor, Tensor, Tensor]:
    order = np.asarray(places)
    map16, map32, vector = (
        torch.from_numpy(np.ascontiguousarray(array[order])).to(kind)
        for array in (maps.map16, maps.map32, maps.vector)
    )
    return map16, map32, vector


@dataclass
class Standing:
    step: int = 0
    epoch: float = 0
    seconds: float = 0
    tokens: int = 0
    history: list[dict[str, float]] = field(default_factory=list)


class Trainer:
    def __init__(
        self, train: Examples, fresh: Examples, dev: Examples, vocabulary: Vocabulary, recipe: FitConfig
    ) -> None:
        torch.manual_seed(recipe.seed)
        self.recipe, self.vocabulary = recipe, vocabulary
        self._train, self._fresh, self._dev = train, fresh, dev
        self.kind = torch.bfloat16 if recipe.narrow else torch.float32
        config = DecoderConfig(
            len(vocabulary),
            recipe.width,
            recipe.layers,
            recipe.heads,
            recipe.longest,
            recipe.dropout,
            recipe.unseen,
        )
        counts = torch.tensor(vocabulary.counts)
        self.network = begun(config, vocabulary.vectors(), counts)
        self.average = DecoderNetwork(config).requires_grad_(False).eval()
        self.average.load_state_dict(self.network.state_dict())
        heavy = [p for p in self.network.parameters() if p.ndim > 1]
        light = [p for p in self.network.parameters() if p.ndim < 2]
        groups = [{"params": heavy, "weight_decay": recipe.decay}, {"params": light, "weight_decay": 0.0}]
        self.optimiser = torch.optim.AdamW(groups, lr=recipe.rate, betas=(0.9, 0.98), fused=True)
        self.standing = Standing()
        self._rng = np.random.default_rng(recipe.seed)

    def autocast(self) -> AbstractContextManager[Any]:
        return torch.autocast("cpu", torch.bfloat16, enabled=self.recipe.narrow)

    def go_on(self, folder: Path, say: Say) -> None:
        """To the end, from where the folder's standing is, if there is one."""
        if (folder / STANDING).is_file():
            self.resume(folder)
        self.run(folder, say)

    def run(self, folder: Path, say: Say) -> None:
        recipe, standing = self.recipe, self.standing
        began, limit, looked = time.monotonic() - standing.seconds, recipe.minutes * 60, standing.seconds
        total, count = 0.0, 0
        steps, fresh = self._endless(self._train), self._endless(self._fresh)
        while True:
            standing.seconds = time.monotonic() - began
            if standing.seconds >= limit:
                break
            other = standing.seconds > recipe.fresh_from * limit and standing.step % recipe.fresh_every == 0
            examples, rows = next(fresh if other else steps)
            rate = recipe.rate * schedule(standing.seconds / limit, standing.step, recipe.warmup)
            loss, tokens = self.step(examples, rows, rate)
            total, count = total + loss, count + tokens
            standing.step, standing.tokens = standing.step + 1, standing.tokens + tokens
            standing.epoch += 0 if other else len(rows) / len(self._train.rows)
            if standing.step % 100 == 0:
                speed = standing.tokens / max(standing.seconds, 1e-9)
                say(
                    f"step {standing.step}, epoch {standing.epoch:.2f}, {standing.seconds / 60:.1f} min: "
                    f"{total / count:.4f} nats a piece, {speed:,.0f} pieces a second"
                )
                total, count = 0.0, 0
            if standing.seconds - looked > recipe.every * 60:
                looked = standing.seconds
                self.look(folder, say)
        self.look(folder, say)

    def _endless(self, examples: Examples) -> Iterator[tuple[Examples, list[int]]]:
        lengths = [len(row.read) for row in examples.rows]
        while True:
            for rows in batches(lengths, self.recipe.rows, self._rng):
                yield examples, rows

    def step(self, train: Examples, numbers: Sequence[int], rate: float) -> tuple[float, int]:
        recipe = self.recipe
        self.network.train()
        views = [train.views[n][self._rng.integers(len(train.views[n]))] for n in numbers]
        texts = batch([train.rows[n] for n in numbers], self.kind)
        shown = seen(train.maps, views, self.kind)
        blind = torch.rand(len(numbers)) < recipe.blind
        for part in shown:
            part[blind] = 0
        weights = torch.full((len(texts.write),), 1 / len(texts.write))
        loss, each = self.losses(self.network, shown, texts, weights, recipe.smoothing)
        self.update(loss, rate)
        return float(each.sum()), len(each)

    def losses(
        self,
        network: DecoderNetwork,
        shown: tuple[Tensor, Tensor, Tensor],
        texts: Texts,
        weights: Tensor,
        smoothing: float,
    ) -> tuple[Tensor, Tensor]:
        with self.autocast():
            states = network(network.memory(*shown), texts.read, texts.order, texts.mask)
        chosen = states.flatten(0, 1)[texts.places]
        found: tuple[Tensor, Tensor] = NextPiece.apply(
            chosen, network.embedding, network.bias, texts.write, weights, smoothing, self.recipe.narrow
        )
        return found

    def update(self, loss: Tensor, rate: float) -> None:
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), 1.0, foreach=True)
        for group in self.optimiser.param_groups:
            group["lr"] = rate
        self.optimiser.step()
        self.optimiser.zero_grad(set_to_none=True)
        share = min(self.recipe.average, (1 + self.standing.step) / (10 + self.standing.step))
        with torch.no_grad():
            torch._foreach_lerp_(list(self.average.parameters()), list(self.network.parameters()), 1 - share)

    @torch.no_grad()
    def held_out(self) -> float:
        """Nats a piece of the average network, on the pictures to choose by."""
        total, count, examples = 0.0, 0, self._dev
        order = sorted(range(len(examples.rows)), key=lambda n: len(examples.rows[n].read))
        for start in range(0, len(order), 32):
            numbers = order[start : start + 32]
            texts = batch([examples.rows[n] for n in numbers], self.kind)
            shown = seen(examples.maps, [examples.views[n][0] for n in numbers], self.kind)
            _, each = self.losses(self.average, shown, texts, torch.ones(len(texts.write)), 0.0)
            total, count = total + float(each.sum()), count + len(each)
        return total / count

    def look(self, folder: Path, say: Say) -> None:
        standing, dev = self.standing, self.held_out()
        about = {"step": standing.step, "minutes": standing.seconds / 60, "epoch": standing.epoch, "dev": dev}
        standing.history.append(about)
        say(
            f"held out after {standing.seconds / 60:.1f} min, epoch {standing.epoch:.2f}: {dev:.4f} nats a piece"
        )
        self.save(folder)

    def save(self, folder: Path) -> None:
        torch.save(
            {
                "network": self.network.state_dict(),
                "average": self.average.state_dict(),
                "optimiser": self.optimiser.state_dict(),
                "standing": asdict(self.standing),
            },
            folder / f"{STANDING}.new",
        )
        (folder / f"{STANDING}.new").replace(folder / STANDING)
        save_decoder(self.average, self.vocabulary, folder / CHECKPOINT)

    def resume(self, folder: Path) -> None:
        kept = torch.load(folder / STANDING, map_location="cpu", weights_only=True)
        self.network.load_state_dict(kept["network"])
        self.average.load_state_dict(kept["average"])
        self.optimiser.load_state_dict(kept["optimiser"])
        self.standing = Standing(**kept["standing"])
        self._rng = np.random.default_rng((self.recipe.seed, self.standing.step))


def save_decoder(network: DecoderNetwork, vocabulary: Vocabulary, path: Path) -> None:
    """Weights, shape and vocabulary in one file, which `load_decoder` reads."""
    told = {
        "config": asdict(network.config),
        "pieces": list(vocabulary.names),
        "counts": list(vocabulary.counts),
        "weights": network.state_dict(),
    }
    torch.save(told, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def load_decoder(path: Path) -> tuple[DecoderNetwork, Vocabulary]:
    kept = torch.load(path, map_location="cpu", weights_only=True)
    network = DecoderNetwork(DecoderConfig(**kept["config"]))
    network.load_state_dict(kept["weights"])
    return network.eval(), Vocabulary(tuple(kept["pieces"]), tuple(kept["counts"]))


def schedule(done: float, step: int, warmup: int) -> float:
    """Up in a line, down as a cosine."""
    return min(1.0, (step + 1) / warmup) * 0.5 * (1 + math.cos(math.pi * min(1.0, done)))


def vocabulary_of(maps: Maps, least: int) -> Vocabulary:
    by_id = {row["id"]: row["captions"] for row in maps.rows}
    return gather_vocabulary((text for captions in by_id.values() for text in captions), least)
