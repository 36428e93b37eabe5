"""From a file of captions to a captioner in a folder that loads as any other does."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import UsageError
from sightline.generate.base import Axis
from sightline.generate.subjects import subjects_at
from sightline.generate.trained import FILE
from sightline.io.results import ResultFolder
from sightline.train.captioner import checkpoint
from sightline.train.captioner.examples import Examples, examples
from sightline.train.captioner.learners import learner
from sightline.train.captioner.run import Progress, Recipe, Say, Training
from sightline.version import package_version


@dataclass(frozen=True)
class Asked:
    """What is to be trained, and on what."""

    file: Path
    base: str
    axis: Axis
    dev: Path | None = None
    format: str | None = None
    share: float = 0.1
    """Of the pictures that are held out, where there is no file of them."""
    clip: str | None = None
    gpt2: str | None = None


def train(asked: Asked, recipe: Recipe, out: ResultFolder, say: Say, progress: Progress) -> Path:
    """Train into the folder, and return where the captioner is: in the folder itself. A killed run can go on."""
    folder = out.path
    if out.holds(FILE) and not out.overwrite:
        raise UsageError(f"{folder} holds a captioner already; give another folder, or --overwrite it")
    unfinished = out.holds(checkpoint.FILE)
    if unfinished and not (out.resume or out.overwrite):
        raise UsageError(
            f"{folder} holds an unfinished run; give --resume to go on or --overwrite to start over"
        )
    if out.overwrite:
        out.remove(checkpoint.FILE, checkpoint.BEST, FILE)
    found = examples(
        subjects_at([asked.file], asked.format),
        asked.axis,
        str(asked.file),
        held_out=subjects_at([asked.dev], asked.format) if asked.dev else None,
        share=asked.share,
        confidence=recipe.confidence,
        seed=recipe.seed,
    )
    say(
        f"{len(found.learned):,} captions of {found.pictures:,} pictures; "
        f"{len(found.held_out):,} captions of others are held out"
    )
    learning = learner(asked.base, asked.clip, asked.gpt2, folder, recipe.seed)
    about = {"base": asked.base, "axis": asked.axis, "file": asked.file.name, "version": package_version()}
    run = Training(learning, found, recipe, folder, about)
    if out.resume:
        run.resume()
    run.run(say, progress)
    learning.save(folder)
    out.failures(found.failures)
    out.text("card.md", card(asked, recipe, found, run.standing.history, run.standing.best))
    told = {"axes": [asked.axis], "ends": learning.ends, "recipe": {**about, "history": run.standing.history}}
    out.text(FILE, json.dumps(told, indent=2) + "\n")
    out.remove(checkpoint.FILE, checkpoint.BEST)
    return folder


def spec_of(base: str, folder: Path) -> str:
    """How the trained captioner is named on the command line."""
    return f"{base.partition(':')[0]}:{folder}"


def card(asked: Asked, recipe: Recipe, found: Examples, history: list[dict[str, float]], best: int) -> str:
    """Data, recipe and measured quality, in words."""
    rows = "".join(
        f"| {int(row['epoch'])} | {_told(row, 'train')} | {_told(row, 'dev')} |\n" for row in history
    )
    chosen = "weighed by people's confidence in them" if recipe.confidence else "all alike"
    return f"""# A captioner of the axis "{asked.axis}"

- Base: `{asked.base}`. Fine-tuned by Sightline {package_version()} with `sightline train captioner`.
- Data: {len(found.learned):,} captions of {found.pictures:,} pictures of `{asked.file.name}`, {chosen};
  {len(found.held_out):,} captions of other pictures held out to choose the epoch.
- Recipe: {recipe.optimiser} at {recipe.rate:g}, batches of {recipe.batch}, at most {recipe.epochs} epochs, stopped
  after {recipe.patience} without a gain; seed {recipe.seed}. Epoch {best + 1} is kept.

Nats a token:

| epoch | learned | held out |
| --- | --- | --- |
{rows}
What it says has not been judged by people. It says what is likely, which need not be true of a picture: score it.
The licences of the base model and of the data hold for it.
"""


def _told(row: Mapping[str, Any], name: str) -> str:
    return f"{row[name]:.4f}" if name in row else "–"
