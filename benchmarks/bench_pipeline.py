"""Stories a second for GROOViST: Sightline against a plain loop, story by story and image by image.

The encoder has the shape of CLIP ViT-B/32 and random weights. Both sides use the same model, noun phrases and
ten windows per picture, and no cache from an earlier run; Sightline's time includes loading the model.
`shared`: five stories for each album of five pictures, as in VIST. `own`: each story has pictures of its own.
The two sides take turns; rates are medians over the rounds, and the lowest and highest ratio stand beside.

    python benchmarks/bench_pipeline.py [--stories N] [--rounds N] [--tiny]
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from PIL import Image
from rich.console import Console
from rich.table import Table
from tokenizers.pre_tokenizers import ByteLevel

from sightline import score
from sightline.features.base import Features
from sightline.features.statistics import SCALE
from sightline.features.text import Phrases, Sentences
from sightline.items import Item
from sightline.metrics.groovist import groovist
from sightline.pipeline.settings import LocalTools, Settings
from sightline.vision import Pictures, load_regions

THETA = 0.6
PICTURES = 5
SENTENCES = (
    "The family went to the {} near the old harbour.",
    "A small brown dog chased a red ball over the grass.",
    "Two children watched the {} from a wooden bench.",
    "Their father bought ice cream at a stall.",
    "In the evening the lights of the {} were reflected in the water.",
)
PLACES = "festival market beach museum parade concert garden station castle bridge lake tower".split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--stories", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--tiny", action="store_true", help="a small model: checks the script, measures nothing"
    )
    given = parser.parse_args()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    table = Table(
        title=f"GROOViST, {given.stories} stories of {PICTURES} pictures, {torch.get_num_threads()} threads"
    )
    for name in (
        "pictures",
        "plain loop, stories/s",
        "Sightline, stories/s",
        "ratio",
        "rounds",
        "difference",
    ):
        table.add_column(name, justify="right")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        model = save_model(home / "vit-b-32", given.tiny)
        for name, stories_per_album in (("shared", 5), ("own", 1)):
            items = make_items(home / name, given.stories, stories_per_album)
            settings = Settings(encoder=f"clip:{model}", regions="windows", cache=None).with_options(
                theta=str(THETA)
            )
            seconds: list[tuple[float, float]] = []
            for _ in range(given.rounds):
                # Both from nothing to scores: each loads the model and the language pipeline within its time.
                loop_s, theirs = timed(
                    lambda items=items, settings=settings: loop_scores(items, model, settings)
                )
                mine_s, ours = timed(lambda items=items: pipeline_scores(items, model))
                seconds.append((loop_s, mine_s))
            gap = float(np.abs(np.array(theirs) - np.array(ours)).max())
            ratios = [loop_s / mine_s for loop_s, mine_s in seconds]
            rates = [len(items) / statistics.median(side) for side in zip(*seconds, strict=True)]
            table.add_row(
                name,
                f"{rates[0]:.2f}",
                f"{rates[1]:.2f}",
                f"{statistics.median(ratios):.2f}x",
                f"{min(ratios):.2f} to {max(ratios):.2f}",
                f"{gap:.1e}",
            )
    Console(width=110).print(table)


def timed(work: Any) -> tuple[float, list[float]]:
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def loop_scores(items: list[Item], model: Path, settings: Settings) -> list[float]:
    loop = PlainLoop(model, settings)
    return [loop.score(item) for item in items]


def pipeline_scores(items: list[Item], model: Path) -> list[float]:
    result = score(
        items, ["groovist:weights=none"], encoder=f"clip:{model}", regions="windows", cache=None, theta=THETA
    )
    assert not result.failures, result.failures[0]
    return [one.score for one in result.scores]


class PlainLoop:
    """What a script does: for each story its phrases, then the regions of each picture."""

    def __init__(self, model: Path, settings: Settings) -> None:
        self.model = transformers.CLIPModel.from_pretrained(model).eval()
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        self.processor = transformers.AutoImageProcessor.from_pretrained(model)
        self.tools = LocalTools(settings)
        self.tools.language.parse(["A sentence before the clock starts."])
        self.windows = load_regions("windows", 10)

    def score(self, item: Item) -> float:
        got = Features(item)
        for feature in (Sentences(), Phrases()):
            got.put(feature, feature.compute([got], self.tools)[0])
        phrases = list(dict.fromkeys(mention.text for mention in got[Phrases()].mentions))
        best = np.zeros(len(phrases))
        with torch.inference_mode():
            tokens = self.tokenizer(phrases, padding=True, truncation=True, return_tensors="pt")
            texts = unit(self.model.get_text_features(**tokens))
            for path in item.images:
                picture = Pictures().load(path)
                crops = [picture.crop(box) for box in self.windows.propose([picture])[0]]
                pixels = self.processor(images=crops, return_tensors="pt")
                regions = unit(self.model.get_image_features(**pixels))
                best = np.maximum(best, (texts @ regions.T).max(axis=1))
        return groovist(SCALE * best, np.ones(len(best)), THETA)


def unit(found: Any) -> Any:
    rows = getattr(found, "pooler_output", found)
    return torch.nn.functional.normalize(rows, dim=-1).numpy()


def make_items(folder: Path, count: int, stories_per_album: int) -> list[Item]:
    folder.mkdir()
    random = np.random.default_rng(0)
    albums = -(-count // stories_per_album)
    for number in range(albums * PICTURES):
        coarse = Image.fromarray(random.integers(0, 256, (12, 16, 3), dtype=np.uint8))
        coarse.resize((640, 480), Image.Resampling.BICUBIC).save(folder / f"{number}.jpg", quality=90)
    return [
        Item(
            id=f"s{n}",
            images=tuple(folder / f"{n // stories_per_album * PICTURES + k}.jpg" for k in range(PICTURES)),
            sentences=tuple(text.format(PLACES[(n + k) % len(PLACES)]) for k, text in enumerate(SENTENCES)),
        )
        for n in range(count)
    ]


def save_model(folder: Path, tiny: bool) -> Path:
    """CLIP in the shape of ViT-B/32 with random weights, and a byte-level tokeniser without merges."""
    torch.manual_seed(0)
    letters = sorted(ByteLevel.alphabet())
    vocab = [*letters, *(f"{letter}</w>" for letter in letters), "<|startoftext|>", "<|endoftext|>"]
    tokenizer = transformers.CLIPTokenizer(vocab={token: n for n, token in enumerate(vocab)}, merges=[])
    small = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    ends = {"bos_token_id": tokenizer.bos_token_id, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": 0}
    config = transformers.CLIPConfig(
        text_config={**(small if tiny else {}), "vocab_size": len(vocab), **ends},
        vision_config=small if tiny else {},
    )
    transformers.CLIPModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    transformers.CLIPImageProcessorPil().save_pretrained(folder)
    return folder


if __name__ == "__main__":
    main()
