"""Models that come through transformers: loaded by name or path, or one clear line; named for signatures."""

import contextlib
import hashlib
import logging
import os
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from sightline.errors import UsageError, extra

# Intel's matrix library may sum rows in different orders, depending on threads. This asks it not to: a vector
# must not depend on what it is computed beside. It is read when the library is first used.
os.environ.setdefault("MKL_CBWR", "AUTO,STRICT")

WEIGHTS = ("*.safetensors", "*.bin", "config.json")


def load_pretrained(kind: str, name: str, *load: Callable[..., Any]) -> list[Any]:
    """What each loader (such as `AutoModel.from_pretrained`) makes of the name or path."""
    quiet()
    local = Path(name).exists()
    if not local and (name.startswith(("/", ".", "~")) or name.count("/") > 1 or not name):
        raise UsageError(f"the {kind} '{name}': there is no such folder")
    try:
        if not local:
            _ask_hub(name)
        return [loader(name) for loader in load]
    except Exception as fault:  # the hub's client, the network and the files' parsers each raise their own
        reason = " ".join(str(fault).split())[:200]
        if local:
            raise UsageError(f"{name}: transformers cannot load it as {kind} ({reason})") from None
        raise UsageError(
            f"the {kind} '{name}' is neither a folder here nor to be had from the Hugging Face hub: is the "
            "name right, is there a network? A model on disk can be given by its path"
        ) from None


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


def digest_ahead(name: str) -> Future[str]:
    """Begin to read the weights in a folder for their digest, beside their loading."""
    reader = ThreadPoolExecutor(1, thread_name_prefix="digest")
    digest = reader.submit(_digest, Path(name))
    reader.shutdown(wait=False)
    return digest


def model_name(name: str, model: Any, digest: Future[str] | None = None) -> str:
    """A name for signatures that differs where the weights do: hub name and commit, or folder and digest."""
    folder = Path(name)
    if not folder.is_dir():
        commit = getattr(model.config, "_commit_hash", None) or _cached_commit(name)
        return f"{name}@{commit[:8]}" if commit else name
    return f"{folder.resolve().name}@{digest.result() if digest else _digest(folder)}"


def _cached_commit(name: str) -> str:
    """The commit under which the hub's cache on disk keeps a model: `snapshots/COMMIT/config.json`."""
    with contextlib.suppress(OSError):
        found = Path(
            extra("transformers", "torch").utils.cached_file(name, "config.json", local_files_only=True)
        )
        return found.parent.name if found.parent.parent.name == "snapshots" else ""
    return ""


def _digest(folder: Path) -> str:
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(path for pattern in WEIGHTS for path in folder.glob(pattern)):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "blake2b").digest())
    return digest.hexdigest()
