"""RoViST-C's training (Wang et al., NAACL 2022, section 3.2 and appendix): is this pair of sentences in
order?

Positive pairs are neighbouring sentences, negatives the same pairs swapped. Any transformers encoder with a
pooled output learns it, ALBERT as in the paper or a smaller one; the defaults are the paper's.
"""

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from sightline.errors import UsageError, extra
from sightline.text.coherence_torch import pooled_network
from sightline.train.coherence.stories import CoherenceStory

Log = Callable[[dict[str, float]], None]
Labelled = tuple[str, str, float]


@dataclass(frozen=True)
class PublishedRecipe:
    """The paper's settings."""

    batch: int = 32
    rate: float = 1e-5
    fade: float = 0.95
    """The rate falls by 5 % an epoch."""
    decay: float = 1e-5
    dropout: float = 0.4
    epochs: int = 30
    patience: int = 5
    longest: int = 128
    """Pieces of a pair."""
    seed: int = 0


def order_pairs(stories: Sequence[CoherenceStory]) -> list[Labelled]:
    """Every pair of different neighbours as it stands (1) and swapped (0)."""
    found: list[Labelled] = []
    for story in stories:
        for left, right in pairwise(story.sentences):
            if left != right:
                found += [(left, right, 1.0), (right, left, 0.0)]
    return found


def train_published(
    encoder: str,
    training: Sequence[CoherenceStory],
    validation: Sequence[CoherenceStory],
    recipe: PublishedRecipe,
    log: Log,
) -> tuple[Any, Any, list[dict[str, float]]]:
    """Fine-tune an encoder; returns network, tokeniser and history. The best epoch on validation is kept."""
    torch, transformers = extra("torch", "train"), extra("transformers", "train")
    pairs, held = order_pairs(training), order_pairs(validation)
    if not pairs or not held:
        raise UsageError(
            "too few stories: training and validation each need a story of two sentences or more"
        )
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(encoder)
        network = pooled_network(transformers.AutoModel.from_pretrained(encoder), dropout=recipe.dropout)
    except (OSError, ValueError) as fault:
        reason = str(fault).strip().split("\n")[0]
        raise UsageError(f"--encoder {encoder}: cannot be loaded ({reason})") from None
    device = "cuda" if torch.cuda.is_available() else "cpu"
    network.to(device)
    optimiser = torch.optim.Adam(network.parameters(), recipe.rate, weight_decay=recipe.decay)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimiser, recipe.fade)

    def loss_of(batch: Sequence[Labelled]) -> tuple[Any, Any]:
        left, right, label = map(list, zip(*batch, strict=True))
        feed = tokenizer(
            left, right, truncation=True, max_length=recipe.longest, padding=True, return_tensors="pt"
        )
        logits = network(**feed.to(device)).logits[:, 0]
        target = torch.tensor(label, device=device)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, target)
        return loss, ((logits > 0) == (target > 0.5)).float().mean()

    history: list[dict[str, float]] = []
    best: tuple[float, Any] = (float("inf"), None)
    waited = 0
    for epoch in range(1, recipe.epochs + 1):
        network.train()
        losses = []
        for batch in _batches([pairs[n] for n in rng.permutation(len(pairs))], recipe.batch):
            loss, _ = loss_of(batch)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(float(loss.detach()))
        schedule.step()
        network.eval()
        with torch.inference_mode():
            judged = [(len(batch), *map(float, loss_of(batch))) for batch in _batches(held, recipe.batch)]
        total = sum(n for n, _, _ in judged)
        history.append(
            {
                "epoch": epoch,
                "loss": float(np.mean(losses)),
                "validation_loss": sum(n * loss for n, loss, _ in judged) / total,
                "accuracy": sum(n * right for n, _, right in judged) / total,
            }
        )
        log(history[-1])
        if history[-1]["validation_loss"] < best[0]:
            best, waited = (history[-1]["validation_loss"], copy.deepcopy(network.state_dict())), 0
        else:
            waited += 1
            if waited >= recipe.patience:
                break
    network.load_state_dict(best[1])
    return network.eval(), tokenizer, history


def save_published(
    folder: Path, network: Any, tokenizer: Any, recipe: PublishedRecipe, history: Sequence[dict[str, float]]
) -> None:
    """In the published layout: an encoder, one linear layer; with configuration, tokeniser and history."""
    network.encoder.config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    state = {key: value.cpu().contiguous() for key, value in network.state_dict().items()}
    extra("safetensors.torch", "train").save_file(state, folder / "model.safetensors")
    told = {"recipe": asdict(recipe), "history": list(history)}
    (folder / "training.json").write_text(json.dumps(told, indent=2) + "\n", "utf-8")


def _batches(pairs: Sequence[Labelled], size: int) -> list[Sequence[Labelled]]:
    return [pairs[start : start + size] for start in range(0, len(pairs), size)]
