"""Draws: temperature, top_k and top_p as they are defined, and seeds that know the picture and nothing else."""

import numpy as np
import pytest
from PIL import Image

from sightline.generate.base import Decoding
from sightline.generate.drawing import chances, drawn, picture_seed

LOGITS = np.log([[0.1, 0.5, 0.15, 0.25]])


@pytest.mark.parametrize(
    ("decoding", "wanted"),
    [
        (Decoding(samples=1), [0.1, 0.5, 0.15, 0.25]),
        (Decoding(samples=1, temperature=0.5), np.array([0.01, 0.25, 0.0225, 0.0625]) / 0.345),
        (Decoding(samples=1, top_k=2), [0, 2 / 3, 0, 1 / 3]),
        (Decoding(samples=1, top_p=0.6), [0, 2 / 3, 0, 1 / 3]),
        (Decoding(samples=1, top_p=0.4), [0, 1, 0, 0]),
        (Decoding(samples=1, top_k=3, top_p=0.8), [0, 2 / 3, 0, 1 / 3]),
    ],
)
def test_chances_follow_the_decoding(decoding: Decoding, wanted: list[float]) -> None:
    assert chances(LOGITS, decoding)[0] == pytest.approx(np.asarray(wanted))


def test_draws_come_as_often_as_they_should() -> None:
    many = drawn(np.repeat(LOGITS, 20_000, 0), Decoding(samples=1), np.random.default_rng(0))
    assert np.bincount(many, minlength=4) / 20_000 == pytest.approx(np.exp(LOGITS[0]), abs=0.015)


def test_a_seed_knows_the_picture() -> None:
    red, blue = (Image.new("RGB", (4, 4), colour) for colour in ("red", "blue"))
    seeds = {picture_seed(one, Decoding(samples=1, seed=seed)) for one in (red, blue) for seed in (0, 1)}
    assert len(seeds) == 4
    assert picture_seed(red, Decoding(samples=9)) == picture_seed(red.copy(), Decoding(samples=1))
