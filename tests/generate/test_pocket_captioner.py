"""The embedded captioner: what it says of a picture depends on that picture alone, and is worth something."""

import math
import shutil
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import sightline
from sightline.demo import STORIES
from sightline.errors import Unscorable, UsageError
from sightline.generate.base import Candidate, Decoding, load_captioner
from sightline.generate.captioners.pocket import FOLDER, PocketCaptioner, pocket_captioner
from sightline.generate.searching import END, joined, searched
from sightline.io.table import read_rows
from sightline.train.texts import FLICKR8K_CAPTIONS, flickr8k_captions

PICTURES = sorted((STORIES.parent / "pictures").glob("*.jpg"))


@pytest.fixture(scope="module")
def captioner() -> PocketCaptioner:
    found: PocketCaptioner = pocket_captioner(FOLDER)
    return found


@pytest.fixture(scope="module")
def photos() -> list[Image.Image]:
    return [Image.open(path).convert("RGB") for path in PICTURES]


@pytest.mark.parametrize("decoding", [Decoding(), Decoding(beams=1), Decoding(samples=3, seed=4)])
def test_a_picture_is_described_alike_alone_and_among_others(
    captioner: PocketCaptioner, photos: list[Image.Image], decoding: Decoding
) -> None:
    many = [*photos, *(photo.rotate(180) for photo in photos), *photos]  # more than go through at once
    together = captioner.describe(many, "object", decoding)
    assert [captioner.describe([one], "object", decoding)[0] for one in photos[2:4]] == list(together[2:4])
    assert together[: len(photos)] == together[-len(photos) :]
    for found in together:
        assert not isinstance(found, Unscorable) and found
        assert len({one.text for one in found}) == len(found) <= (decoding.samples or decoding.beams)
        assert all(one.log_probability is not None and one.log_probability < 0 for one in found)


def test_captions_are_sentences_and_texts_are_bounded(
    captioner: PocketCaptioner, photos: list[Image.Image]
) -> None:
    for told in captioner.describe(photos, "object", Decoding()):
        assert not isinstance(told, Unscorable)
        assert told[0].text[0].isupper() and told[0].text.endswith(".") and "##" not in told[0].text
    for told in captioner.describe(photos, "object", Decoding(length=3)):
        assert not isinstance(told, Unscorable)
        assert all(len(one.text.split()) <= 3 for one in told)
    assert captioner.describe([], "object", Decoding()) == []
    (wide,) = captioner.describe(photos[:1], "object", Decoding(beams=1, length=500))
    assert not isinstance(wide, Unscorable) and len(wide[0].text.split()) < 40


def test_draws_follow_the_seed(captioner: PocketCaptioner, photos: list[Image.Image]) -> None:
    def drawn(seed: int) -> list[Candidate]:
        (found,) = captioner.describe(photos[:1], "object", Decoding(samples=4, seed=seed))
        assert not isinstance(found, Unscorable)
        return list(found)

    assert drawn(1) == drawn(1) != drawn(2)


def test_it_is_small_and_has_a_card() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 12 * 2**20
    assert "## Sample captions" in (FOLDER / "card.md").read_text("utf-8")


def test_its_signature_knows_its_content_and_its_eyes(captioner: PocketCaptioner, tmp_path: Path) -> None:
    same, other = (shutil.copytree(FOLDER, tmp_path / name) for name in ("same", "other"))
    words = (other / "vocabulary.txt").read_text("utf-8")
    (other / "vocabulary.txt").write_text(words.replace("\ndog\n", "\nhound\n"), "utf-8")
    assert captioner.signature.startswith("pocket@")
    assert load_captioner(f"pocket:{same}").signature == captioner.signature
    assert load_captioner(f"pocket:{other}").signature != captioner.signature
    (same / "write.onnx").unlink()
    with pytest.raises(UsageError, match=r"there is no write\.onnx in it"):
        load_captioner(f"pocket:{tmp_path / 'same'}")


def test_the_search_finds_the_likeliest_texts() -> None:
    """Against all texts of up to three pieces, with as many beams as there are."""
    rng = np.random.default_rng(0)
    table = np.log(rng.dirichlet(np.ones(4), size=(4, 4)))
    state = np.zeros((64, 2), np.int64)
    step = 0

    def follow(rows: np.ndarray, pieces: np.ndarray) -> np.ndarray:
        nonlocal state, step
        state = np.stack([np.full(len(rows), step), pieces], 1)
        step += 1
        return table[np.minimum(state[:, 0], 3), state[:, 1]].astype(np.float32)

    (found,) = searched(follow, 1, Decoding(beams=64), 3, 1.0)
    wanted = {}
    for length in (1, 2, 3):
        for text in product((1, 2, 3), repeat=length):
            total = sum(
                table[min(n, 3), a, b]
                for n, (a, b) in enumerate(zip((END, *text), (*text, END), strict=True))
            )
            wanted[text] = total
    best = sorted(wanted, key=lambda text: -wanted[text] / (len(text) + 1))
    assert [one.tokens for one in found] == best
    assert all(math.isclose(one.log_probability, wanted[one.tokens], rel_tol=1e-5) for one in found)


def test_a_text_says_the_same_three_pieces_once() -> None:
    """The likeliest way on from (1, 2, 3, 1, 2) is 3 again."""
    table = np.full((5, 5), -9.0, np.float32)
    table[[0, 1, 2, 3, 4], [1, 2, 3, 1, END]] = -0.1
    table[2, 4] = -1
    (found,) = searched(lambda rows, pieces: table[pieces], 1, Decoding(beams=1), 12, 1.0)
    assert found[0].tokens == (1, 2, 3, 1, 2, 4)


def test_pieces_become_a_sentence() -> None:
    assert (
        joined(["a", "man", "'", "s", "snow", "##board", ",", "red", "-", "white"])
        == "A man's snowboard, red-white."
    )
    assert joined([]) == ""


def test_it_is_what_python_uses_if_nothing_else_is_said(photos: list[Image.Image]) -> None:
    found = sightline.caption(photos[:2])
    assert len(found.items) == 2 and not found.failures
    assert {item.system for item in found.items} == {"pocket"}


def test_captions_of_pictures_never_seen_are_worth_something(data: Path) -> None:
    said = flickr8k_captions(data / FLICKR8K_CAPTIONS)
    rows = [
        row.cells
        for row, _ in zip(read_rows(data / "flickr8k_eval.parquet", ["image"]), range(250), strict=False)
    ]
    items = [{"id": r["file"], "images": [r["image"]], "references": said[r["file"]][:5]} for r in rows]
    found = sightline.caption(items)
    assert not found.failures
    scores = sightline.score(list(found.items), ["cider", "bleu-4"], cache=None).summary["metrics"]
    assert scores["cider"]["corpus"] > 0.33  # the card tells what it is over all thousand
    assert scores["bleu-4"]["corpus"] > 0.14
