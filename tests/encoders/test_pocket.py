"""The embedded encoder: sizes, bits, hostile pictures and texts."""

import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import sightline.models
from sightline.encoders import load_encoder
from sightline.encoders.pocket import Pocket
from sightline.errors import UsageError

MODELS = Path(sightline.models.__file__).parent


@pytest.fixture(scope="module")
def pocket() -> Pocket:
    return Pocket()


def _noise(width: int, height: int, seed: int = 0) -> Image.Image:
    pixels = np.random.default_rng(seed).integers(0, 255, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(pixels)


def test_encoder_proposer_and_grounding_stay_under_thirty_mebibytes() -> None:
    files = [*(MODELS / "pocket").iterdir(), *(MODELS / "vg").iterdir()]
    assert sum(file.stat().st_size for file in files) <= 30 << 20


def test_rows_are_equal_to_the_bit_whatever_stands_beside_them(pocket: Pocket) -> None:
    images = [_noise(60 + 7 * n, 50, n) for n in range(19)]  # batches of eight, and what is left
    together = pocket.encode_images(images)
    assert np.array_equal(together, np.concatenate([pocket.encode_images([image]) for image in images]))
    texts = [
        "a cat",
        "a dog",
        "two dogs run on the beach",
        "the red bus",
        "a man",
        *(f"thing {n}" for n in range(40)),
    ]
    assert np.array_equal(
        pocket.encode_texts(texts), np.concatenate([pocket.encode_texts([t]) for t in texts])
    )


def test_threads_get_the_same_numbers(pocket: Pocket) -> None:
    image, found = _noise(80, 80), []
    workers = [threading.Thread(target=lambda: found.append(pocket.encode_images([image]))) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(np.array_equal(rows, found[0]) for rows in found)


@pytest.mark.parametrize(
    "image",
    [
        Image.new("RGB", (1, 1)),
        Image.new("RGB", (300, 200)),
        Image.new("L", (5000, 3), 255),
        Image.new("RGBA", (3, 4000)),
        Image.new("RGB", (10_000, 10_000), "navy"),
    ],
    ids=["one pixel", "black", "wide", "tall", "100 megapixels"],
)
def test_strange_pictures_have_unit_vectors(pocket: Pocket, image: Image.Image) -> None:
    row = pocket.encode_images([image])[0]
    assert np.isfinite(row).all()
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-4)


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_every_text_has_a_finite_vector(text: str) -> None:
    row = load_encoder("pocket").encode_texts([text])[0]
    assert np.isfinite(row).all()
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-4) or not row.any()


def test_a_text_without_a_known_piece_matches_nothing(pocket: Pocket) -> None:
    assert not pocket.encode_texts(["", "   ", "😀", "日本語"]).any()


def test_long_texts_are_cut_and_said_so(pocket: Pocket) -> None:
    long = "a dog and " * 40
    assert pocket.truncated(long)
    assert not pocket.truncated("a dog")
    assert np.array_equal(pocket.encode_texts([long]), pocket.encode_texts([long + " and a whale"]))


def test_calibration_is_strictly_increasing_and_positive(pocket: Pocket) -> None:
    cosine = np.linspace(-1, 1, 20_001)
    calibrated = pocket.calibration(cosine)
    assert (np.diff(calibrated) > 0).all()
    assert calibrated[0] > 0


def test_pocket_takes_a_folder() -> None:
    with pytest.raises(UsageError, match="there is no image"):
        load_encoder("pocket:large")
