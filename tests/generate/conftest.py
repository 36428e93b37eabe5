"""Pictures of one colour, and tiny captioners in the real formats."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from saying import Colour, Saying
from sightline.generate.base import captioners
from tiny_captioners import save_blip, save_clipcap, save_git, save_vit_gpt2

COLOURS: dict[str, Colour] = {"red": (255, 0, 0), "green": (0, 128, 0), "blue": (0, 0, 255)}


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder with red.png, green.png and blue.png."""
    folder = tmp_path / "pictures"
    folder.mkdir()
    for name, colour in COLOURS.items():
        Image.new("RGB", (40, 30), colour).save(folder / f"{name}.png")
    return folder


@pytest.fixture
def noise() -> list[Image.Image]:
    rng = np.random.default_rng(0)
    return [Image.fromarray(rng.integers(0, 255, (40, 50, 3), dtype=np.uint8)) for _ in range(5)]


@pytest.fixture
def saying(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes the captioner `saying` say what it is told, by the pictures' colours."""

    def tell(texts: dict[str, str], **more: object) -> None:
        made = Saying({COLOURS[name]: text for name, text in texts.items()}, **more)  # type: ignore[arg-type]
        monkeypatch.setitem(captioners._entries, "saying", lambda _: made)

    tell({})
    return tell


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Specs of tiny captioners by kind."""
    import torch

    torch.set_num_threads(1)  # models so small only wait for each other's threads
    folder = tmp_path_factory.mktemp("captioners")
    return {
        "git": f"git:{save_git(folder / 'git')}",
        "blip": f"blip:{save_blip(folder / 'blip')}",
        "encoder-decoder": f"transformers:{save_vit_gpt2(folder / 'vit-gpt2')}",
        "clipcap-mlp": f"clipcap:{save_clipcap(folder / 'mlp', 'mlp')}",
        "clipcap-transformer": f"clipcap:{save_clipcap(folder / 'transformer', 'transformer')}",
    }
