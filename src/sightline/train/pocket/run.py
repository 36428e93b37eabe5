"""From the data folder to the files of the embedded encoder: pack, fit, propose, centre, calibrate, export."""

import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sightline.encoders.base import unit as unit_rows
from sightline.encoders.calibration import HIGH, LOW, Curve, fit_curve
from sightline.errors import UsageError
from sightline.io.results import ResultFolder
from sightline.train.pocket.export import (
    export_image,
    export_pieces,
    export_proposer,
    export_space,
    export_text,
)
from sightline.train.pocket.fit import FitConfig, Learner, Trainer, embed_images, evaluate, unit
from sightline.train.pocket.networks import ImageConfig
from sightline.train.pocket.pack import pack
from sightline.train.pocket.propose import ProposeConfig, fit_proposer, load_boxed
from sightline.train.pocket.store import Store, load_store
from sightline.train.pocket.teacher import Teacher

CENTRED = 0.8
"""Share of the mean vector that is taken away: chosen by dev likeness (0: .711, 0.5: .725, 0.8: .727, 1: .725)."""


@dataclass(frozen=True)
class PocketRecipe:
    fit: FitConfig = field(default_factory=FitConfig)
    propose: ProposeConfig = field(default_factory=ProposeConfig)
    rows: int | None = None
    """Rows of each file to use; all, if not given."""


RECIPE = PocketRecipe(
    fit=FitConfig(
        image=ImageConfig(depths=(2, 2, 3, 2), drop_path=0.15, dropout=0.25),
        steps=3400,
        captioned=640,
        uncaptioned=96,
        regions=352,
        tiny=96,
        loose=768,
        soft=0.15,
        smallest_crop=0.33,
        mix=0.6,
        flickr_share=0.32,
        ema=0.999,
        decay=0.1,
        piece_dropout=0.2,
    )
)
"""What the shipped encoder was trained with: four minutes on one H200."""

TINY = PocketRecipe(
    fit=FitConfig(
        image=ImageConfig(side=32, widths=(16, 16, 32, 32), depths=(1, 1, 1, 1)),
        steps=4,
        captioned=16,
        uncaptioned=4,
        regions=8,
        tiny=4,
        loose=16,
        warmup=2,
        check_every=2,
    ),
    propose=ProposeConfig(steps=4, batch=8, warmup=2),
    rows=40,
)


UNCALIBRATED = Curve(LOW, HIGH, 3.0, 0.3)
"""What a trial of a few steps gets."""


def train(
    data: Path,
    teacher: str,
    out: Path,
    recipe: PocketRecipe,
    device: str | None = None,
    made: int = 60_000,
    log: Callable[[Any], None] = print,
) -> dict[str, float]:
    """Train and write the model's files; returns what was measured on the dev pictures."""
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    with ResultFolder(out) as results, tempfile.TemporaryDirectory() as folder:
        packed = Path(folder)
        pack(data, packed, limit=recipe.rows)
        store = load_store(packed, Teacher(teacher, device), device, made=made)
        trainer = Trainer(recipe.fit, store, device)
        trainer.run(log)
        net = trainer.average
        boxed, dev_boxed = (load_boxed(packed, name, device) for name in ("coco_train", "coco_dev"))
        head, recall = fit_proposer(net.image, boxed, dev_boxed, recipe.propose, device, log)
        measured = {**evaluate(net, store), "proposer_recall": recall["recall"]}
        images, texts, own = vectors_of(net, store)
        net, head = net.cpu(), head.cpu()
        image_centre, text_centre = CENTRED * images.mean(0), CENTRED * texts.mean(0)
        calibration = calibrate(unit_rows(images - image_centre), unit_rows(texts - text_centre), own, log)
        with results.staged() as place:
            export_image(net.image, place / "image.onnx")
            export_text(net.text, place / "text.onnx")
            export_proposer(head, net.image.config.side, place / "proposer.onnx")
            export_pieces(net.text.table.numpy(), store.pieces, place)
            export_space(place, image_centre, text_centre, calibration)
    return measured


@torch.inference_mode()
def vectors_of(net: Learner, store: Store) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Dev pictures, dev captions, and the picture each caption belongs to."""
    images = embed_images(net, store.dev_images).cpu().numpy()
    texts = torch.cat([unit(net.text(part)) for part in store.dev_captions.pieces.split(1000)]).cpu().numpy()
    return images, texts, np.repeat(np.arange(len(images)), 5)


def calibrate(
    images: NDArray[Any], texts: NDArray[Any], own: NDArray[np.int64], log: Callable[[Any], None] = print
) -> dict[str, float]:
    """The logistic curve that brings matching and foreign pairs to CLIP's means; a guess where nothing was learned."""
    similarity = texts @ images.T
    rows = np.arange(len(texts))
    matching, foreign = similarity[rows, own], similarity[rows, (own + 1) % len(images)]
    try:
        curve = fit_curve(matching, foreign)
    except UsageError as fault:
        log(f"not calibrated: {fault}")
        curve = UNCALIBRATED
    return {name: round(value, 4) for name, value in asdict(curve).items()}
