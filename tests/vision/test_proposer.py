"""The embedded region proposer, and the overlaps it is made with."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from sightline.vision import Pictures, load_regions
from sightline.vision.overlap import keep_apart, overlap

BOX = st.tuples(*[st.floats(0, 1)] * 4).map(
    lambda e: (min(e[0], e[2]), min(e[1], e[3]), max(e[0], e[2]) + 0.01, max(e[1], e[3]) + 0.01)
)


def test_overlap_by_hand() -> None:
    found = overlap(np.array([[0.0, 0, 2, 2]]), np.array([[1.0, 1, 3, 3], [0, 0, 2, 2], [5, 5, 6, 6]]))
    assert found[0].tolist() == pytest.approx([1 / 7, 1, 0])


@given(st.lists(BOX, min_size=3, max_size=40), st.integers(1, 8))
def test_kept_boxes_are_the_strongest_and_none_comes_twice(
    boxes: list[tuple[float, ...]], count: int
) -> None:
    rows = np.array(boxes)
    strength = np.arange(len(rows), 0, -1.0)
    kept = keep_apart(rows, strength, 0.5, count)
    assert len(kept) == min(count, len(rows)) == len(set(kept.tolist()))
    assert kept[0] == 0


@pytest.mark.parametrize("size", [(1, 1), (640, 480), (3000, 4), (5, 900)])
def test_ten_boxes_inside_every_picture(tmp_path: Path, size: tuple[int, int]) -> None:
    pixels = np.random.default_rng(0).integers(0, 255, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "p.png")
    (boxes,) = load_regions("proposer", 10).propose([Pictures().load(tmp_path / "p.png")])
    assert len(boxes) == 10
    for x0, y0, x1, y1 in boxes:
        assert 0 <= x0 < x1 <= size[0] + 1e-6
        assert 0 <= y0 < y1 <= size[1] + 1e-6
