"""Where training stands, in one file that is put in place whole: weights, optimiser, random numbers, counts."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from sightline.errors import UsageError, extra
from sightline.train.captioner.learners import save_tensors

FILE = "unfinished.safetensors"
BEST = "best.safetensors"


@dataclass
class Standing:
    """How far training has come."""

    run: dict[str, Any]
    """What is trained, on what, and how: a checkpoint of another run is refused."""
    epoch: int = 0
    step: int = 0
    """Of the epoch: batches that are done."""
    loss: float = 0.0
    """Summed over the epoch's batches so far."""
    history: list[dict[str, float]] = field(default_factory=list)
    best: int = -1
    """The epoch with the lowest loss on the held-out pictures."""
    scale: float = 0.0
    """Of the gradients in half precision."""


def save(folder: Path, network: nn.Module, optimiser: torch.optim.Optimizer, standing: Standing) -> None:
    tensors = {f"weights.{name}": value for name, value in unshared(network).items()}
    for place, values in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{place}.{name}": torch.as_tensor(value) for name, value in values.items()}
    tensors["random.cpu"] = torch.get_rng_state()
    if torch.cuda.is_available():
        tensors["random.cuda"] = torch.cuda.get_rng_state()
    save_tensors(folder / FILE, tensors, {"standing": json.dumps(asdict(standing))})


def load(folder: Path, network: nn.Module, optimiser: torch.optim.Optimizer, run: dict[str, Any]) -> Standing:
    """Go on from the folder's checkpoint, with the very numbers that the run would have gone on with."""
    path = folder / FILE
    try:
        with extra("safetensors", "train").safe_open(path, "pt") as file:
            standing = Standing(**json.loads((file.metadata() or {})["standing"]))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - not a dictionary
    except Exception as fault:  # a damaged file fails in many ways
        raise UsageError(f"{path}: cannot be read ({' '.join(str(fault).split())[:120]})") from None
    if standing.run != json.loads(json.dumps(run)):
        other = [
            name for name, value in run.items() if standing.run.get(name) != json.loads(json.dumps(value))
        ]
        raise UsageError(
            f"{path} belongs to another run (with other {', '.join(other) or 'settings'}); repeat that one, or start "
            "over with --overwrite"
        )
    restore(network, {name[8:]: value for name, value in tensors.items() if name.startswith("weights.")})
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimiser."):
            _, place, part = name.split(".", 2)
            state.setdefault(int(place), {})[part] = value
    optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
    torch.set_rng_state(tensors["random.cpu"])
    if "random.cuda" in tensors and torch.cuda.is_available():
        torch.cuda.set_rng_state(tensors["random.cuda"])
    return standing


def unshared(network: nn.Module) -> dict[str, Tensor]:
    """What learns, each once, and what changes beside it; weights that two places share have one name."""
    return {**dict(network.named_parameters()), **dict(network.named_buffers())}


def restore(network: nn.Module, tensors: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, place in unshared(network).items():
            if name in tensors:
                place.copy_(tensors[name])


def load_best(folder: Path, network: nn.Module) -> None:
    restore(network, extra("safetensors.torch", "train").load_file(folder / BEST))


def save_best(folder: Path, network: nn.Module) -> None:
    save_tensors(folder / BEST, unshared(network))
