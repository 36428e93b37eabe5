"""The `clip` encoder against transformers' own, on tiny random-weight models saved in the real format."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from sightline.encoders import load_encoder
from sightline.encoders.base import Embedder
from sightline.encoders.clip import Clip, quick_gelu, thetas_of
from sightline.encoders.preprocess import Preprocess
from sightline.errors import UsageError

TEXTS = ["a dog", "two men and a red boat on the river", "", "é – 日本", "x" * 60, "the dog " * 200]


def noise(width: int, height: int, seed: int = 0) -> Image.Image:
    levels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    return Image.fromarray(levels)


@pytest.fixture(scope="module", params=["clip", "siglip"])
def folder(request: pytest.FixtureRequest, tiny_clip: Path, tiny_siglip: Path) -> Path:
    return tiny_clip if request.param == "clip" else tiny_siglip


@pytest.fixture(scope="module")
def encoder(folder: Path) -> Clip:
    return load_encoder(f"clip:{folder}")


def theirs(folder: Path, found: object) -> np.ndarray:
    rows = found.pooler_output if hasattr(found, "pooler_output") else found
    return torch.nn.functional.normalize(rows, dim=-1).detach().numpy()


def test_images_as_transformers_encodes_them(folder: Path, encoder: Clip) -> None:
    images = [noise(*size) for size in [(64, 48), (30, 30), (31, 200), (500, 20), (7, 9)]]
    model = transformers.AutoModel.from_pretrained(folder).eval()
    pixels = transformers.AutoImageProcessor.from_pretrained(folder)(images=images, return_tensors="pt")
    rows = encoder.encode_images(images)
    np.testing.assert_allclose(rows, theirs(folder, model.get_image_features(**pixels)), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)


def test_texts_as_transformers_encodes_them(folder: Path, encoder: Clip) -> None:
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    length = model.config.text_config.max_position_embeddings
    padded = tokenizer(TEXTS, padding="max_length", truncation=True, max_length=length, return_tensors="pt")
    if model.config.model_type == "siglip":
        padded = {"input_ids": padded["input_ids"]}
    rows = encoder.encode_texts(TEXTS)
    np.testing.assert_allclose(rows, theirs(folder, model.get_text_features(**padded)), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
    assert encoder.dimensions == rows.shape[1]


def test_rows_do_not_depend_on_their_neighbours(encoder: Clip) -> None:
    """Not even in the last bit: a resumed run must repeat the numbers of an unbroken one."""
    images = [noise(20 + n, 40 - n, n) for n in range(21)]
    texts = [f"a dog and {n} boats" * (1 + n % 5) for n in range(40)]
    image_rows, text_rows = encoder.encode_images(images), encoder.encode_texts(texts)
    shuffled = np.random.default_rng(1).permutation(21)
    assert np.array_equal(encoder.encode_images([images[n] for n in shuffled]), image_rows[shuffled])
    assert np.array_equal(encoder.encode_texts(texts[::-1]), text_rows[::-1])
    for number in (0, 20):
        assert np.array_equal(encoder.encode_images([images[number]])[0], image_rows[number])
        assert np.array_equal(encoder.encode_texts([texts[number]])[0], text_rows[number])


def test_the_activation_in_one_buffer_gives_the_same_bits() -> None:
    from transformers.activations import QuickGELUActivation

    x = torch.randn(1000, generator=torch.Generator().manual_seed(0)) * 4
    with torch.inference_mode():
        assert torch.equal(quick_gelu(x), QuickGELUActivation()(x))


def test_the_dimensions_are_those_of_the_vectors(encoder: Clip) -> None:
    assert encoder.encode_texts(["a dog"]).shape == (1, encoder.dimensions)


def test_long_text_keeps_its_end_token_and_is_said_to_be_cut(folder: Path, encoder: Clip) -> None:
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    length = transformers.AutoConfig.from_pretrained(folder).text_config.max_position_embeddings
    long = "the dog " * 200
    assert encoder._ids([long], truncation=True)[0][-1] == tokenizer.eos_token_id
    assert len(encoder._ids([long], truncation=True)[0]) == length
    assert encoder.truncated(long)
    assert not encoder.truncated("a dog")
    fits = next(n for n in range(1, 200) if len(tokenizer("dog " * (n + 1))["input_ids"]) > length)
    assert not encoder.truncated("dog " * fits)
    assert encoder.truncated("dog " * (fits + 1))


@settings(max_examples=40, deadline=None)
@given(width=st.integers(1, 300), height=st.integers(1, 300))
def test_pixels_equal_the_processors_own(width: int, height: int) -> None:
    if max(width, height) > 16 * min(width, height):
        width = height  # very long pictures have a test of their own
    processor = transformers.CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    image = noise(width, height)
    mine = Preprocess.of(processor)([image])
    np.testing.assert_allclose(
        mine, processor(images=[image], return_tensors="np")["pixel_values"], atol=1e-5
    )


def test_pixels_of_the_published_sizes() -> None:
    for processor in (transformers.CLIPImageProcessorPil(), transformers.SiglipImageProcessorPil()):
        images = [noise(*size) for size in [(640, 480), (224, 224), (100, 333)]]
        mine = Preprocess.of(processor)(images)
        np.testing.assert_allclose(
            mine, processor(images=images, return_tensors="np")["pixel_values"], atol=1e-5
        )


def test_a_very_long_picture_is_seen_by_its_middle(encoder: Clip) -> None:
    long = Image.new("RGB", (1, 40_000), "red")
    long.paste("blue", (0, 19_000, 1, 21_000))
    rows = encoder.encode_images([long, long.rotate(90, expand=True), Image.new("RGB", (9, 9), "blue")])
    assert np.isfinite(rows).all()
    if encoder._preprocess.shortest_edge:
        np.testing.assert_allclose(rows[0], rows[2], atol=1e-6)
        np.testing.assert_allclose(rows[1], rows[2], atol=1e-6)


def test_a_processor_that_pads_is_refused() -> None:
    with pytest.raises(UsageError, match="not supported"):
        Preprocess.of(transformers.CLIPImageProcessorPil(size={"shortest_edge": 20}))


def test_signature_tells_weights_apart(
    tmp_path: Path, encoder: Clip, folder: Path, make_tiny_clip: Callable[[Path, int], Path]
) -> None:
    assert encoder.signature.startswith(("clip@", "siglip@"))
    same = make_tiny_clip(tmp_path / "one" / "tiny", 1)
    other = make_tiny_clip(tmp_path / "two" / "tiny", 2)
    assert Clip(str(same)).signature != Clip(str(other)).signature


def test_theta_is_shipped_for_the_one_model_it_was_measured_with(tiny_clip: Path, tiny_siglip: Path) -> None:
    """VIST's theta was measured with OpenAI's ViT-B/32; a model of another shape or name has none."""
    assert not Clip(str(tiny_clip)).calibration.thetas
    assert not Clip(str(tiny_siglip)).calibration.thetas
    published = transformers.CLIPConfig(
        vision_config={"hidden_size": 768, "num_hidden_layers": 12, "patch_size": 32, "image_size": 224}
    )
    known = thetas_of("openai/clip-vit-base-patch32", published)
    assert known["phrases"] == known["nouns"] == 0.6159241924121119
    assert thetas_of("hub/models--openai--clip-vit-base-patch32/snapshots/3d74", published)
    assert not thetas_of("openai/clip-vit-large-patch14", published)
    assert not thetas_of(
        "openai/clip-vit-base-patch32", transformers.CLIPConfig(vision_config={"patch_size": 16})
    )


def test_calibration_changes_nothing_and_nothing_in_nothing_out(encoder: Clip) -> None:
    cosines = np.linspace(-1, 1, 9)
    assert np.array_equal(encoder.calibration(cosines), cosines)
    assert encoder.encode_images([]).shape == (0, encoder.dimensions)
    assert encoder.encode_texts([]).shape == (0, encoder.dimensions)


def test_the_embedder_encodes_equal_texts_once(encoder: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    encode = encoder.encode_texts
    monkeypatch.setattr(encoder, "encode_texts", lambda texts: asked.extend(texts) or encode(texts))
    rows = Embedder(encoder).texts(["a dog", "a cat", "a dog"])
    assert asked == ["a dog", "a cat"]
    assert np.array_equal(rows[0], rows[2])


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("clip", "needs a model"),
        ("clip:/no/such/folder", "no such folder"),
        ("clip:sightline-tests/there-is-no-such-model", "neither a folder here nor"),
        ("klip:x", "did you mean 'clip'"),
    ],
)
def test_a_missing_model_gives_one_clear_line(spec: str, told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "huggingface_hub.constants.HF_HUB_OFFLINE", True
    )  # without, it tries for half a minute
    with pytest.raises(UsageError, match=told) as caught:
        load_encoder(spec)
    assert "\n" not in str(caught.value)


def test_a_folder_that_holds_no_model_gives_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{")
    with pytest.raises(UsageError, match="cannot load it as encoder") as caught:
        Clip(str(tmp_path))
    assert "\n" not in str(caught.value)
