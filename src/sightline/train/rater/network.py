"""VICR's regressor (section 3.3): 512 and 256 units with ReLU, one linear output, 80 % dropout, Adam on squared error.

Better-regularised variants take further inputs (product, difference, cosine), fewer units and weight decay, and
average several seeds.
"""

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray
from torch import nn

from sightline.encoders.rater import joined
from sightline.train.rater.pairs import RatedSet

Log = Callable[[dict[str, float]], None]


@dataclass(frozen=True)
class NetworkRecipe:
    """The paper's settings but for `patience` and `standardised`, which stop early and scale the ratings."""

    inputs: tuple[str, ...] = ("image", "text")
    widths: tuple[int, ...] = (512, 256)
    dropout: float = 0.8
    rate: float = 1e-3
    decay: float = 0.0
    batch: int = 256
    epochs: int = 4000
    patience: int | None = 30
    """Epochs without gain after which to stop; None never stops."""
    standardised: bool = True
    """Learn ratings less their mean, over their spread; raw otherwise."""
    members: int = 1
    seed: int = 0


PAPER = NetworkRecipe(patience=None, standardised=False)
"""Section 3.3 and 4.3 to the letter: raw ratings, 4,000 epochs, the last one's weights."""

REGULAR = NetworkRecipe(
    inputs=("image", "text", "product", "cosine"),
    widths=(128,),
    dropout=0.5,
    decay=1e-3,
    members=3,
    patience=10,
)
"""A smaller, decayed network over products too, three seeds averaged."""


def regressor(width: int, recipe: NetworkRecipe) -> nn.Sequential:
    """Linear, ReLU, dropout for each hidden width, then one linear neuron."""
    layers: list[nn.Module] = []
    for out in recipe.widths:
        layers += [nn.Linear(width, out), nn.ReLU(), nn.Dropout(recipe.dropout)]
        width = out
    return nn.Sequential(*layers, nn.Linear(width, 1))


def fit_network(
    train: RatedSet, validation: RatedSet, recipe: NetworkRecipe, log: Log = lambda row: None
) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and settings for `CaptionRater`; each member stops on the validation pictures' squared error."""
    goal = train.mean
    centre, spread = (float(goal.mean()), float(goal.std()) or 1.0) if recipe.standardised else (0.0, 1.0)
    x, held = (
        torch.as_tensor(joined(*one.vectors, recipe.inputs), dtype=torch.float32)
        for one in (train, validation)
    )
    y, held_y = (
        torch.as_tensor((one.mean - centre) / spread, dtype=torch.float32) for one in (train, validation)
    )
    arrays: dict[str, NDArray[Any]] = {}
    for member in range(recipe.members):
        model = _fit_one(x, y, held, held_y, recipe, recipe.seed + member, log)
        dense = [layer for layer in model if isinstance(layer, nn.Linear)]
        for number, layer in enumerate(dense):
            arrays[f"weight_{member}_{number}"] = layer.weight.detach().numpy().copy()
            arrays[f"bias_{member}_{number}"] = layer.bias.detach().numpy().copy()
    return arrays, {"inputs": list(recipe.inputs), "members": recipe.members, "target": [centre, spread]}


def _fit_one(
    x: Any, y: Any, held: Any, held_y: Any, recipe: NetworkRecipe, seed: int, log: Log
) -> nn.Sequential:
    torch.manual_seed(seed)
    model = regressor(x.shape[1], recipe)
    optimiser = torch.optim.AdamW(model.parameters(), lr=recipe.rate, weight_decay=recipe.decay)
    best, least, waited = copy.deepcopy(model.state_dict()), float("inf"), 0
    for epoch in range(recipe.epochs):
        model.train()
        for rows in torch.randperm(len(x)).split(recipe.batch):
            loss = nn.functional.mse_loss(model(x[rows]).squeeze(1), y[rows])
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
        model.eval()
        with torch.inference_mode():
            found = float(nn.functional.mse_loss(model(held).squeeze(1), held_y))
        log({"epoch": epoch + 1, "validation": found})
        if recipe.patience is None or found < least:
            best, least, waited = copy.deepcopy(model.state_dict()), found, 0
        else:
            waited += 1
            if recipe.patience is not None and waited >= recipe.patience:
                break
    model.load_state_dict(best)
    return model.eval()
