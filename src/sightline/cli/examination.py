"""What the doctor looks at. Nothing here asks the network or loads a model; PyTorch is imported only for the GPU."""

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path

from sightline.cli.models import cards, size
from sightline.encoders.calibration import place_of
from sightline.errors import UsageError, install_command
from sightline.io.pictures import default_cache
from sightline.jars import installed_meteor
from sightline.pipeline import cache
from sightline.version import package_version

FOR = {
    "torch": "other encoders (CLIP), captioners, bertscore",
    "train": "training every part but the idf table",
    "detector": "regions by a detector of torchvision",
    "pandas": "tables of pandas",
    "polars": "tables of polars",
    "datasets": "data sets of Hugging Face",
    "ray": "--engine ray",
    "wmd": "the metric wmd",
    "openai": "judges and captioners behind a chat server",
    "openclip": "--encoder openclip",
    "server": "sightline serve",
    "postgres": "ratings in PostgreSQL",
    "integrations": "all the libraries that Sightline connects to, at once",
}
"""What each extra is for; those left out are for work on Sightline itself."""
MIB = 1 << 20
LITTLE = 1 << 30
"""Bytes of free disk below which a cache will soon be full."""


class State(StrEnum):
    good = "good"
    absent = "absent"
    note = "note"
    broken = "broken"


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    part: str
    about: str
    state: State
    what: str
    remedy: str = ""
    """What to type or do; empty where nothing need be done."""

    @property
    def told(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items()}


def examine(whole: bool = False) -> list[Finding]:
    """Everything, part by part. `whole`: every installed file is held against its published digest."""
    return [*_sightline(whole), *_models(), *_extras(), *_machine(), *_places(), *_settings()]


def _sightline(whole: bool) -> Iterator[Finding]:
    where = Path(__file__).parents[1]
    yield Finding("sightline", f"Sightline {package_version()}", State.good, str(where))
    yield Finding("sightline", f"Python {platform.python_version()}", State.good, sys.executable)
    lacking = [name for name in _required("") if not _is_installed(name)]
    if lacking:
        remedy = install_command("sightline") + " --force-reinstall"
        yield Finding("sightline", "packages", State.broken, f"without {', '.join(lacking)}", remedy)
    if whole:
        changed = list(_changed())
        told = (
            f"{len(changed)} files are not what was published, as {changed[0]}" if changed else "as published"
        )
        remedy = install_command("sightline") + " --force-reinstall" if changed else ""
        yield Finding("sightline", "files", State.note if changed else State.good, told, remedy)


def _changed() -> Iterator[str]:
    """Installed files whose digest is not the one that was installed; an editable install has none."""
    for file in importlib.metadata.files("sightline") or ():
        if file.hash and file.hash.mode == "sha256" and file.suffix != ".pyc":
            path = Path(str(file.locate()))
            content = path.read_bytes() if path.is_file() else b""
            if urlsafe_b64encode(sha256(content).digest()).rstrip(b"=").decode() != file.hash.value:
                yield str(file)


def _models() -> Iterator[Finding]:
    found = cards()
    if not found:
        remedy = install_command("sightline") + " --force-reinstall"
        yield Finding("models", "embedded models", State.broken, "are not there", remedy)
        return
    total = sum(map(size, found.values())) / MIB
    yield Finding("models", "embedded models", State.good, f"{', '.join(found)} ({total:.0f} MiB)")


def _extras() -> Iterator[Finding]:
    for extra, use in FOR.items():
        lacking = [name for name in _required(extra) if not _is_installed(name)]
        if lacking:
            told = f"{use}: without {', '.join(lacking)}"
            yield Finding("extras", extra, State.absent, told, install_command(f"sightline[{extra}]"))
        else:
            yield Finding("extras", extra, State.good, use)


def _machine() -> Iterator[Finding]:
    yield Finding(
        "machine",
        "cores",
        State.good,
        f"{len(os.sched_getaffinity(0))} for this process"
        if hasattr(os, "sched_getaffinity")
        else str(os.cpu_count()),
    )
    yield _gpu()
    java = shutil.which("java")
    if java is None:
        told = "spice and meteor:engine=java need one; scenegraph and meteor do without"
        yield Finding("machine", "Java", State.absent, told)
    else:
        jar = installed_meteor()
        told = f"{java}; METEOR's jar {'is here' if jar else 'is not'}"
        remedy = "" if jar else install_command("pycocoevalcap")
        yield Finding("machine", "Java", State.good, told, remedy)


def _gpu() -> Finding:
    chosen = os.environ.get("SIGHTLINE_DEVICE")
    if not _is_installed("torch"):
        card = shutil.which("nvidia-smi")
        told = (
            "one is here; PyTorch would use it" if card and _answers(card) else "none is used without PyTorch"
        )
        return Finding("machine", "GPU", State.absent, told)
    import torch

    if chosen:
        return Finding("machine", "GPU", State.good, f"SIGHTLINE_DEVICE={chosen} says where models run")
    if torch.cuda.is_available():
        return Finding("machine", "GPU", State.good, torch.cuda.get_device_name(0))
    card = shutil.which("nvidia-smi")
    if card and _answers(card):
        told = f"one is here, but PyTorch {torch.__version__} cannot use it"
        return Finding("machine", "GPU", State.note, told, "install PyTorch's build for your CUDA")
    return Finding("machine", "GPU", State.absent, f"none; PyTorch {torch.__version__} runs on the processor")


def _places() -> Iterator[Finding]:
    folder = default_cache()
    try:
        held = f"{cache.look(folder)[1] / MIB:,.1f} MiB" if (folder / cache.FILE).exists() else "empty"
        yield Finding("places", "cache", State.good, f"{folder}: {held}")
    except (UsageError, *cache.FAULTS) as fault:
        yield Finding("places", "cache", State.note, f"{folder}: {fault}", "sightline cache --verify")
    nearest = next(one for one in (folder, *folder.parents) if one.exists())
    if not os.access(nearest, os.W_OK):
        told = f"{nearest} cannot be written: nothing is kept between runs"
        yield Finding("places", "cache", State.note, told, "set SIGHTLINE_CACHE to a folder of yours")
    free = shutil.disk_usage(nearest).free
    if free < LITTLE:
        told = f"{free / MIB:,.0f} MiB are free at {nearest}"
        yield Finding("places", "disk", State.note, told, "sightline cache --prune 500M")
    kept = place_of("").parent
    fitted = sorted(one.stem for one in kept.glob("*.json")) if kept.is_dir() else []
    told = f"{kept}: {', '.join(fitted)}" if fitted else f"none in {kept}; --encoder pocket has its own"
    yield Finding("places", "calibrations", State.good, told)
    hub = Path(
        os.environ.get("HF_HUB_CACHE") or Path(os.environ.get("HF_HOME", "~/.cache/huggingface")) / "hub"
    )
    fetched = [one.name[8:].replace("--", "/") for one in hub.expanduser().glob("models--*")]
    told = ", ".join(sorted(fetched)) if fetched else "none; they are fetched when first named"
    yield Finding("places", "models of the hub", State.good if fetched else State.absent, told)


def _settings() -> Iterator[Finding]:
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE")
    if offline:
        yield Finding("settings", "HF_HUB_OFFLINE", State.note, "models of the hub are not fetched")
    server = os.environ.get("OPENAI_BASE_URL")
    key = "a key is set" if os.environ.get("OPENAI_API_KEY") else "no key is set"
    if server or os.environ.get("OPENAI_API_KEY"):
        yield Finding("settings", "chat server", State.good, f"{server or 'OpenAI'}; {key}")
    if Path("sightline.toml").is_file():
        yield Finding(
            "settings", "sightline.toml", State.note, "options of commands in this folder come from it"
        )


def _required(extra: str) -> list[str]:
    """The packages that Sightline needs, or that an extra adds, those of extras within it included."""
    found: list[str] = []
    for line in importlib.metadata.requires("sightline") or ():
        needed, _, marker = line.partition(";")
        wanted = re.search(r"extra == ['\"]([\w-]+)['\"]", marker)
        if (wanted[1] if wanted else "") != extra or ("win32" in marker and sys.platform == "win32"):
            continue
        name = re.match(r"[\w.-]+", needed.strip())
        within = re.search(r"\[([\w,-]+)\]", needed)
        if name and name[0] == "sightline" and within:
            found += [one for inner in within[1].split(",") for one in _required(inner)]
        elif name:
            found.append(name[0])
    return found


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _answers(program: str) -> bool:
    try:
        return subprocess.run([program, "-L"], capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False
