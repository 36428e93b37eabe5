"""The embedded network that reads pictures and words together: size, bits, what is kept, hostile texts and pictures."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from sightline.encoders.together import FOLDER, Maps, Together
from sightline.vision import Pictures


class Kept(dict[str, bytes]):
    """A store of vectors that counts what is put in."""

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]:
        return {key: self[key] for key in keys if key in self}

    def put_many(self, pairs: Sequence[tuple[str, bytes]]) -> None:
        self.update(pairs)


@pytest.fixture(scope="module")
def reader() -> Together:
    return Together()


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("photos")
    rng = np.random.default_rng(0)
    for number in range(3):
        pixels = rng.integers(0, 255, (40 + 9 * number, 60, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / f"{number}.png")
    Image.new("RGB", (1, 1), "red").save(folder / "pixel.png")
    return sorted(folder.iterdir())


@pytest.fixture(scope="module")
def maps(reader: Together, photos: list[Path]) -> list[Maps]:
    loader = Pictures()
    return reader.maps([loader.load(path) for path in photos])


def test_it_stays_under_ten_mebibytes() -> None:
    assert sum(file.stat().st_size for file in FOLDER.iterdir()) <= 10 << 20


def test_kept_maps_are_the_new_ones_to_the_bit(
    reader: Together, photos: list[Path], maps: list[Maps]
) -> None:
    loader, store = Pictures(), Kept()
    pictures = [loader.load(path) for path in photos]
    first = reader.maps(pictures[:2], store)
    again = reader.maps([*pictures, pictures[0]], store)
    assert len(store) == len(photos)
    for one, other in zip([*first, *again], [*maps[:2], *maps, maps[0]], strict=True):
        assert all(np.array_equal(getattr(one, part), getattr(other, part)) for part in vars(one))
    store[next(iter(store))] = b"damaged"
    mended = reader.maps(pictures[:1], store)[0]
    assert np.array_equal(mended.map16, maps[0].map16)


def test_a_text_reads_the_same_whatever_was_read_before(reader: Together, maps: list[Maps]) -> None:
    alone = reader.read(maps[0], "two dogs run on the beach")
    reader.read(maps[1], "a cat")
    again = reader.read(maps[0], "two dogs run on the beach")
    assert (alone.probability, alone.words) == (again.probability, again.words)
    assert [(word.start, word.end) for word in alone.words] == [(0, 3), (4, 8), (9, 12), (13, 15), (20, 25)]
    assert reader.read(maps[0], "two dogs run on the beach", words=False).probability == pytest.approx(
        alone.probability, abs=1e-6
    )


def test_long_unknown_and_empty_texts_are_defined(reader: Together, maps: list[Maps]) -> None:
    long = "a dog and " * 60
    read = reader.read(maps[0], long)
    assert read.cut
    assert all(word.end < len(long) / 2 for word in read.words)
    for text in ("", "  ", "\U0001f600", "ёж бежит", "\udcff", "!!!"):
        read = reader.read(maps[-1], text)
        assert 0 <= read.probability <= 1
        assert read.known == 0


@settings(max_examples=40, deadline=None)
@given(text=st.text(max_size=80))
def test_any_text_is_read_and_its_words_lie_within_it(reader: Together, maps: list[Maps], text: str) -> None:
    read = reader.read(maps[0], text)
    assert np.isfinite(read.probability)
    ends = [0]
    for word in read.words:
        assert ends[-1] <= word.start < word.end <= len(text)
        ends.append(word.end)
