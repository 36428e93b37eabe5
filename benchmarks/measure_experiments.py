"""The papers' experiments on real pictures: prints each table and leaves its page in OUT.

    python benchmarks/measure_experiments.py DATA OUT [--stories N] [EXPERIMENT …]

Stories are sequences of five Flickr8k test pictures with their own captions (500 of them); criterion 2 of the ablation
is the protocol flickr8k-expert-unanimous, the number of references is varied on flickr8k-expert. For the splits,
stories are made of five rated pairs each. There are no ratings of real stories here, and no votes: `ranking` runs in
the tests, on simulated people.
"""

import argparse
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from flickr_stories import made_stories, rated_stories
from sightline.io.results import ResultFolder
from sightline.meta.experiments import ExperimentTable, ExperimentTask, experiments
from sightline.meta.experiments.files import write_experiment
from sightline.meta.experiments.words import cell
from sightline.meta.protocols import make_protocol
from sightline.meta.scoring import score_items
from sightline.pipeline.settings import Settings

Prepare = Callable[[Path, Path, int], ExperimentTask]
GROUNDING = ["groovist", "rovist-vg", "clipscore"]
REFERENCE = ["bleu-1", "bleu-4", "rouge-l", "cider", "meteor", "wmd"]
SCORE = partial(score_items, settings=Settings())


def random(data: Path, folder: Path, count: int) -> ExperimentTask:
    return ExperimentTask(made_stories(data, folder, count), GROUNDING, SCORE)


def ablation(data: Path, folder: Path, count: int) -> ExperimentTask:
    rated = make_protocol("flickr8k-expert-unanimous").items(data)
    return ExperimentTask([*rated, *made_stories(data, folder, count)], [], SCORE)


def references(data: Path, folder: Path, count: int) -> ExperimentTask:
    protocol = make_protocol("flickr8k-expert")
    return ExperimentTask(protocol.items(data, pictures=False), REFERENCE, SCORE, protocol.observations)


def splits(data: Path, folder: Path, count: int) -> ExperimentTask:
    return ExperimentTask(rated_stories(data, folder, count), GROUNDING, SCORE)


PREPARED: dict[str, Prepare] = {
    "random": random,
    "ablation": ablation,
    "references": references,
    "splits": splits,
}


def show(found: ExperimentTable) -> None:
    print("| " + " | ".join(found.columns) + " |")
    for row in found.rows:
        print("| " + " | ".join(cell(value) for value in row) + " |", flush=True)
    for note in found.notes:
        print(note)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("experiments", nargs="*")
    parser.add_argument("--stories", type=int, default=500)
    given = parser.parse_intermixed_args()
    given.out.mkdir(parents=True, exist_ok=True)
    for name in given.experiments or PREPARED:
        start = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            found = experiments.get(name)(PREPARED[name](given.data, Path(folder), given.stories))
        write_experiment(found, ResultFolder(given.out), name)
        print(f"\n{found.title} ({time.perf_counter() - start:.0f} s)")
        show(found)


if __name__ == "__main__":
    main()
