"""Every engine gives the same scores, to the bit, in the same order."""

from pathlib import Path

import numpy as np
import pytest
import ray
from PIL import Image

import sightline
from sightline.items import Item


@pytest.fixture
def stories(tmp_path: Path) -> list[Item]:
    """Enough pictures for several batches, and one story that cannot be scored."""
    paths = []
    for number in range(70):
        levels = np.random.default_rng(number).integers(0, 256, (24, 32, 3), dtype=np.uint8)
        paths.append(tmp_path / f"{number}.png")
        Image.fromarray(levels).save(paths[-1])
    told = ("A dog runs along the beach.", "Two boys eat ice cream.")
    items = [Item(f"s{n}", (paths[2 * n], paths[2 * n + 1]), sentences=told) for n in range(35)]
    return [*items, Item("lost", (tmp_path / "none.png", paths[0]), sentences=told)]


def test_a_cluster_scores_as_this_process_does(stories: list[Item]) -> None:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    try:
        found = {
            engine: sightline.score(
                stories,
                ["groovist", "clipscore"],
                regions="windows",
                cache=None,
                region_count=2,
                engine=engine,
            )
            for engine in ("local", "ray")
        }
    finally:
        ray.shutdown()
    assert len(found["local"].scores) == 70
    assert found["ray"].scores == found["local"].scores
    assert found["ray"].failures == found["local"].failures
    assert {failure.id for failure in found["ray"].failures} == {"lost"}
