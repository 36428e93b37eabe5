"""Models in transformers' form, from a folder or from the Hugging Face hub, and what they run on."""

import contextlib
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sightline.errors import UsageError, extra
from sightline.resources import Resource

WEIGHTS = (("*.safetensors",), ("*.pt", "*.pth", "*.bin"))
"""Files of weights as transformers prefers them: the first kind that is there is read."""
BESIDE = (
    "*config.json", "*.index.json", "tokenizer*", "vocab*", "merges.txt", "special_tokens_map.json",
    "added_tokens.json", "*.model",
)  # fmt: skip
"""What is read with the weights: shape, tokeniser, how pictures are prepared."""
LEFT_BY_TRAINING = ("training_args.bin", "optimizer.pt", "optimizer.bin", "scheduler.pt", "rng_state.pth")


def load_pretrained(kind: str, name: str, *load: Callable[..., Any]) -> tuple[Resource, list[Any]]:
    """The resource behind a name or path, and what each loader (as `AutoModel.from_pretrained`) makes of it."""
    quiet()
    local = Path(name).exists()
    if not local and (name.startswith(("/", ".", "~")) or name.count("/") > 1 or not name):
        raise UsageError(f"the {kind} '{name}': there is no such folder")
    try:
        if not local:
            _ask_hub(name)
        before = pretrained_files(name)
        if before:
            before.ahead()
        made = [loader(name) for loader in load]
        after = before if local else pretrained_files(name)  # what was not in the hub's cache is there now
        return before if before and before == after else after or Resource(name, ()), made
    except Exception as fault:  # the hub's client, the network and the files' parsers each raise their own
        reason = " ".join(str(fault).split())[:200]
        if local:
            raise UsageError(f"{name}: transformers cannot load it as {kind} ({reason})") from None
        raise UsageError(
            f"the {kind} '{name}' is neither a folder here nor to be had from the Hugging Face hub: is the "
            "name right, is there a network? A model on disk can be given by its path"
        ) from None


def transformers_files(folder: Path, chosen: Path | None = None) -> list[Path]:
    """The files of a model in transformers' form that decide what it computes; its weights may be chosen."""
    kinds = ([one for pattern in kind for one in folder.glob(pattern)] for kind in WEIGHTS)
    there = ([one for one in kind if one.name not in LEFT_BY_TRAINING] for kind in kinds)
    weights = [chosen] if chosen else next((found for found in there if found), [])
    return sorted({*weights, *(one for pattern in BESIDE for one in folder.glob(pattern) if one.is_file())})


def pretrained_files(name: str, weights: Path | None = None) -> Resource | None:
    """A folder's model, or the hub's where its files are on disk: `snapshots/COMMIT/config.json`."""
    folder, commit = Path(name), ""
    if not folder.is_dir():
        cached = extra("transformers", "torch").utils.cached_file
        try:
            folder = Path(cached(name, "config.json", local_files_only=True)).parent
        except OSError:
            return None
        commit = folder.name if folder.parent.name == "snapshots" else ""
    files = [(one.name, one) for one in transformers_files(folder, weights)]
    return Resource.of(name, files, commit) if files else None


def _ask_hub(name: str) -> None:
    """Raise where the model does not lie in the hub's cache on disk and the hub cannot be reached.

    Left to themselves the loaders ask for several files each, and for each file again and again.
    """
    transformers, hub = extra("transformers", "torch"), extra("huggingface_hub", "torch")
    with contextlib.suppress(OSError):
        transformers.utils.cached_file(name, "config.json", local_files_only=True)
        return
    try:
        hub.get_hf_file_metadata(hub.hf_hub_url(name, "config.json"))
    except Exception as fault:  # what the hub itself answers is for the loaders to judge
        # By name, as the client's HTTP library differs by version.
        if type(fault).__name__ in ("ConnectError", "ConnectTimeout", "ConnectionError"):
            raise


def quiet() -> None:
    """No progress bars and advice from transformers among our own lines."""
    transformers = extra("transformers", "torch")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name in ("huggingface_hub", "httpx"):
        logging.getLogger(name).setLevel(logging.ERROR)


def device() -> str:
    """Where models run: the GPU, where there is one and SIGHTLINE_DEVICE does not say otherwise."""
    given = os.environ.get("SIGHTLINE_DEVICE")
    if given:
        return given
    return "cuda" if extra("torch", "torch").cuda.is_available() else "cpu"
