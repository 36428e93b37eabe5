"""From the data folder to the files of the embedded captioner: maps, captions, ONNX."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Final

import torch

from sightline.errors import UsageError
from sightline.generate.trained import FILE
from sightline.io.results import ResultFolder
from sightline.train.pocket_captioner import maps
from sightline.train.pocket_captioner.export import export
from sightline.train.pocket_captioner.fit import STANDING, FitConfig, Trainer, examples, vocabulary_of
from sightline.version import package_version

RECIPE: Final = FitConfig()
"""The shipped captioner's; its card tells how its run went."""
TINY: Final = FitConfig(minutes=0.05, rows=4, width=32, heads=2, layers=1, warmup=2, least=1)
FEW: Final = 60
"""Pictures of each source, in a trial."""
VIEWS: Final[dict[str, tuple[maps.View, ...]]] = {
    maps.TRAIN: (maps.whole, maps.mirrored),
    maps.FRESH: (maps.whole, maps.mirrored, maps.cropped, maps.cropped),
    maps.DEV: (maps.whole,),
}

Say = Callable[[str], None]


def train(
    data: Path,
    out: ResultFolder,
    recipe: FitConfig = RECIPE,
    kept: Path | None = None,
    say: Say = print,
    limit: int | None = None,
) -> float:
    """Train and write the captioner's files; returns the nats a piece of held-out captions.

    Maps and the standing are in `kept`, below the result's folder if not given; a run that was stopped goes on from
    them. With `limit`, so many pictures of each source are learned from.
    """
    if out.holds(FILE) and not out.overwrite:
        raise UsageError(f"{out.path} holds a captioner already; give another folder, or --overwrite it")
    kept = kept or out.path / "kept"
    kept.mkdir(parents=True, exist_ok=True)
    if out.holds(FILE):  # finished: what is asked for is another
        (kept / STANDING).unlink(missing_ok=True)
    torch.set_num_threads(1)  # so small products only wait for each other on more
    for name, pictures in maps.captioned(data, limit).items():
        if not maps.there(kept, name):
            maps.keep(kept, name, pictures(), VIEWS[name], say=say)
    read = {name: maps.read(kept, name) for name in VIEWS}
    vocabulary = vocabulary_of(read[maps.TRAIN], recipe.least)
    known = {name: examples(one, vocabulary, recipe.longest) for name, one in read.items()}
    trainer = Trainer(known[maps.TRAIN], known[maps.FRESH], known[maps.DEV], vocabulary, recipe)
    trainer.go_on(kept, say)
    about = {"version": package_version(), **asdict(recipe), "history": trainer.standing.history}
    with out.staged() as place:
        export(trainer.average, vocabulary, ["object"], place, about)
    return float(trainer.standing.history[-1]["dev"])
