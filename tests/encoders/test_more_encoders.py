"""Encoders beside `clip`: weights in OpenAI's layout, vectors computed before, other text models, long texts."""

import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

import sightline
from sightline.encoders import load_encoder
from sightline.encoders.clip import Clip
from sightline.errors import UsageError
from tiny_models import SIDE, clip_tokenizer

TEXTS = ["a dog", "two men and a red boat on the river", ""]


def noise(seed: int = 0) -> Image.Image:
    return Image.fromarray(np.random.default_rng(seed).integers(0, 256, (40, 50, 3), dtype=np.uint8))


def openai_layout(model: Any) -> dict[str, Any]:
    """A CLIP's weights as OpenAI's program names them."""
    names = {
        "embeddings.class_embedding": "class_embedding", "embeddings.position_embedding.weight": "positional_embedding",
        "embeddings.patch_embedding.weight": "conv1.weight",
        "embeddings.token_embedding.weight": "token_embedding.weight",
        "pre_layrnorm": "ln_pre", "post_layernorm": "ln_post", "final_layer_norm": "ln_final",
        "encoder.layers": "transformer.resblocks", "layer_norm1": "ln_1", "layer_norm2": "ln_2", "mlp.fc1": "mlp.c_fc",
        "mlp.fc2": "mlp.c_proj", "self_attn": "attn",
    }  # fmt: skip
    found: dict[str, Any] = {}
    for name, value in model.state_dict().items():
        if name.endswith("projection.weight"):
            found["visual.proj" if name.startswith("visual") else "text_projection"] = value.T
            continue
        for side, prefix in (("vision_model.", "visual."), ("text_model.", "")):
            name = prefix + name.removeprefix(side) if name.startswith(side) else name
        for theirs, ours in names.items():
            name = name.replace(theirs, ours)
        found[name] = value
    for name in [name for name in found if ".attn.q_proj." in name]:
        parts = [found.pop(name.replace("q_proj", f"{part}_proj")) for part in "qkv"]
        found[name.replace("q_proj.", "in_proj_")] = torch.cat(parts)
    return found


@pytest.fixture(scope="module")
def published(tiny_clip: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Fine-tuned weights as PAC-S publishes them, and the same model in transformers' form."""
    folder = tmp_path_factory.mktemp("pac")
    model = transformers.CLIPModel.from_pretrained(tiny_clip)
    torch.manual_seed(5)
    with torch.no_grad():
        for value in model.parameters():
            value.add_(torch.randn_like(value) * 0.02)
    state = openai_layout(model)
    assert "visual.transformer.resblocks.1.attn.in_proj_weight" in state and "positional_embedding" in state
    torch.save({"state_dict": state, "epoch": 3}, folder / "clip_tiny.pth")
    model.save_pretrained(folder / "same")
    for name in (
        "tokenizer.json",
        "tokenizer_config.json",
        "preprocessor_config.json",
        "vocab.json",
        "merges.txt",
    ):
        if (tiny_clip / name).is_file():
            (folder / "same" / name).write_bytes((tiny_clip / name).read_bytes())
    return folder / "clip_tiny.pth", folder / "same"


def test_weights_in_openais_layout_give_the_same_vectors(
    published: tuple[Path, Path], tiny_clip: Path
) -> None:
    weights, same = published
    mine, theirs = load_encoder(f"pac:{weights}@{tiny_clip}"), Clip(str(same))
    images = [noise(n) for n in range(3)]
    np.testing.assert_array_equal(mine.encode_images(images), theirs.encode_images(images))
    np.testing.assert_array_equal(mine.encode_texts(TEXTS), theirs.encode_texts(TEXTS))
    plain = Clip(str(tiny_clip))
    assert np.abs(mine.encode_texts(TEXTS) - plain.encode_texts(TEXTS)).max() > 1e-3
    assert mine.signature != plain.signature, "other weights, another signature"


def test_pac_s_is_on_its_own_scale(published: tuple[Path, Path], tiny_clip: Path, tmp_path: Path) -> None:
    weights, _ = published
    noise().save(tmp_path / "p.png")
    item = {"id": "a", "images": ["p.png"], "text": "a dog", "references": ["the dog", "a red boat"]}
    found = sightline.score(
        [item],
        ["pac-s", "refpac-s", "clipscore"],
        encoder=f"pac:{weights}@{tiny_clip}",
        base=tmp_path,
        cache=False,
    )
    score = {one.metric: one.score for one in found.scores}
    assert score["pac-s"] == pytest.approx(score["clipscore"] * 2 / 2.5)
    best = found.scores[1].evidence.parts["best reference"]
    assert score["refpac-s"] == pytest.approx(2 * score["pac-s"] * best / (score["pac-s"] + best))


def test_weights_that_do_not_fit_are_one_clear_line(
    tmp_path: Path, tiny_clip: Path, tiny_siglip: Path
) -> None:
    bad = tmp_path / "bad.pth"
    torch.save({"state_dict": {"visual.proj": torch.zeros(3, 3)}}, bad)
    for spec, told in (
        (f"pac:{bad}@{tiny_clip}", "not weights of this CLIP"),
        (f"pac:{bad}@{tiny_siglip}", "CLIP's, not siglip's"),
        ("pac:/no/such.pth", "there is no file"),
        ("pac", "needs the file"),
    ):
        with pytest.raises(UsageError, match=told) as caught:
            load_encoder(spec)
        assert "\n" not in str(caught.value)


def write_vectors(folder: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = [{"image": f"p{n}.png", "vector": rng.normal(size=4).tolist()} for n in range(2)]
    rows += [{"text": text, "vector": rng.normal(size=4).tolist()} for text in ("a dog", "a cat", "the dog")]
    rows.append({"image": "p0.png", "box": [0, 0, 10, 10], "vector": [1, 0, 0, 0]})
    path = folder / "vectors.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    for n in range(3):
        noise(n).save(folder / f"p{n}.png")
    return path


def test_vectors_computed_before(tmp_path: Path) -> None:
    path = write_vectors(tmp_path)
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    vectors = {row.get("text") or row["image"]: np.array(row["vector"]) for row in rows[:-1]}
    items = [
        {"id": "a", "images": ["p0.png"], "text": "a dog", "references": ["the dog"]},
        {"id": "b", "images": ["p1.png"], "text": "a bus"},
        {"id": "c", "images": ["p2.png"], "text": "a cat"},
    ]
    found = sightline.score(items, ["clipscore"], encoder=f"vectors:{path}", base=tmp_path, cache=False)
    (score,) = found.scores
    one, two = vectors["p0.png"], vectors["a dog"]
    cosine = one @ two / np.linalg.norm(one) / np.linalg.norm(two)
    assert score.score == pytest.approx(2.5 * max(0, cosine), abs=1e-6)
    assert "encoder:vectors@" in score.signature
    reasons = {failure.id: failure.reason for failure in found.failures}
    assert (
        "no vector of the text 'a bus'" in reasons["b"] and "no vector of the picture p2.png" in reasons["c"]
    )


def test_vectors_of_regions(tmp_path: Path) -> None:
    path = write_vectors(tmp_path)
    item = {"id": "a", "images": ["p0.png"], "text": "a dog", "regions": [[[0, 0, 10, 10]]]}
    found = sightline.score(
        [item], ["groovist:weights=none"], encoder=f"vectors:{path}", base=tmp_path, cache=False, theta=0.5
    )
    assert len(found.scores) == 1, found.failures


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (['{"text": "a", "vector": [1, 2]}'], "needs rows with image and vector"),
        (
            ['{"text": "a", "vector": [1, 2]}', '{"image": "p", "vector": [1]}'],
            "1 numbers beside others of 2",
        ),
        (['{"vector": [1, 2]}'], "neither 'image' nor 'text'"),
        (['{"text": "a", "vector": "x"}'], "'vector' is not a list of numbers"),
        (['{"text": "a", "vector": [1, NaN]}'], "not JSON|not a list"),
        (['{"image": "p", "vector": [1, 2], "box": [1, 2]}'], "a box is four numbers"),
    ],
)
def test_files_of_vectors_that_are_none(tmp_path: Path, lines: list[str], told: str) -> None:
    path = tmp_path / "v.jsonl"
    path.write_text("\n".join(lines))
    with pytest.raises(UsageError, match=told):
        load_encoder(f"vectors:{path}")


def test_the_text_limit_is_read_from_the_model(tiny_clip: Path, tmp_path: Path) -> None:
    """LongCLIP and its kin have more places; RoBERTa's kin, of multilingual models, leave the first ones free."""
    model = transformers.CLIPModel.from_pretrained(tiny_clip)
    model.config.text_config.max_position_embeddings = 248
    long = transformers.CLIPModel(model.config)
    long.save_pretrained(tmp_path / "long")
    clip_tokenizer().save_pretrained(tmp_path / "long")
    size = {"height": SIDE, "width": SIDE}
    transformers.CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size=size).save_pretrained(
        tmp_path / "long"
    )
    encoder = Clip(str(tmp_path / "long"))
    assert not encoder.truncated("dog " * 240) and encoder.truncated("dog " * 260)
    assert np.isfinite(encoder.encode_texts(["dog " * 240, "dog " * 400])).all()
    from sightline.encoders.clip import longest_text

    roberta = transformers.XLMRobertaConfig(max_position_embeddings=514, pad_token_id=1)
    assert longest_text(roberta, types.SimpleNamespace(model_max_length=1e30)) == 512
    assert longest_text(roberta, types.SimpleNamespace(model_max_length=128)) == 128


def test_a_multilingual_model(tmp_path: Path) -> None:
    """AltCLIP: XLM-RoBERTa on the text side."""
    torch.manual_seed(0)
    shape: dict[str, Any] = {
        "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
    }  # fmt: skip
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained
    folder = tmp_path / "alt"
    from tiny_models import save_llava

    save_llava(tmp_path / "letters")
    letters = tokenizer(tmp_path / "letters")
    text = {
        **shape,
        "vocab_size": len(letters),
        "max_position_embeddings": 66,
        "pad_token_id": 1,
        "project_dim": 16,
    }
    config = transformers.AltCLIPConfig(
        text_config=text, vision_config={**shape, "image_size": SIDE, "patch_size": 8}, projection_dim=16
    )
    transformers.AltCLIPModel(config).save_pretrained(folder)
    letters.save_pretrained(folder)
    size = {"height": SIDE, "width": SIDE}
    transformers.CLIPImageProcessorPil(size={"shortest_edge": SIDE}, crop_size=size).save_pretrained(folder)
    encoder = Clip(str(folder))
    rows = encoder.encode_texts(["ein Hund", "狗", "x" * 500])
    assert rows.shape == (3, 16) and np.isfinite(rows).all()
    assert encoder.truncated("x" * 70) and not encoder.truncated("x" * 60)


def test_siglip_2_with_pictures_in_their_own_shapes(tiny_siglip: Path, tmp_path: Path) -> None:
    """NaFlex: a picture is patches, as many as its shape asks for."""
    torch.manual_seed(0)
    plain = transformers.AutoConfig.from_pretrained(tiny_siglip)
    vision = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = transformers.Siglip2Config(
        text_config=plain.text_config.to_dict(), vision_config={**vision, "patch_size": 8, "num_patches": 16}
    )
    folder = tmp_path / "naflex"
    transformers.Siglip2Model(config).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(tiny_siglip).save_pretrained(folder)
    processor = transformers.Siglip2ImageProcessorPil(patch_size=8, max_num_patches=16)
    processor.save_pretrained(folder)
    encoder = load_encoder(f"clip:{folder}")
    images = [noise(0), noise(1).resize((90, 20)), noise(2).resize((20, 90))]
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        found = model.get_image_features(**processor(images=images, return_tensors="pt"))
    rows = torch.nn.functional.normalize(getattr(found, "pooler_output", found), dim=-1).numpy()
    np.testing.assert_allclose(encoder.encode_images(images), rows, atol=1e-5)
    np.testing.assert_array_equal(encoder.encode_images(images[1:2]), encoder.encode_images(images)[1:2])
    assert encoder.encode_texts(TEXTS).shape[1] == rows.shape[1] and encoder.signature.startswith("siglip2@")


def test_a_caption_too_long_for_the_encoder_is_read_sentence_by_sentence(
    tiny_clip: Path, tmp_path: Path
) -> None:
    noise().save(tmp_path / "p.png")
    parts = [
        "The dog runs near the boat on the river and a small cat sits on the red boat near a tree.",
        "A man and a woman sit near the red house, and the dog runs near the blue tree.",
    ]
    long = " ".join(parts)
    rows = [
        {"id": name, "images": ["p.png"], "text": text}
        for name, text in zip("lab", (long, *parts), strict=True)
    ]
    about = {"encoder": f"clip:{tiny_clip}", "base": tmp_path, "cache": False}
    score = {one.id: one for one in sightline.score(rows, ["clipscore:long=mean"], **about).scores}
    assert score["l"].score == pytest.approx((score["a"].score + score["b"].score) / 2, abs=1e-6)
    assert any("the mean over 2 parts" in note for note in score["l"].evidence.notes)
    cut = sightline.score(rows[:1], ["clipscore"], **about).scores[0]
    assert any("was cut" in note for note in cut.evidence.notes) and cut.signature != score["l"].signature


class FakeOpenClip(types.ModuleType):
    """What of OpenCLIP's package is used, around a model of transformers."""

    context_length = 40

    def __init__(self, folder: Path) -> None:
        super().__init__("open_clip")
        self._model = transformers.CLIPModel.from_pretrained(folder)
        self._words = transformers.AutoTokenizer.from_pretrained(folder)
        self._pictures = transformers.AutoImageProcessor.from_pretrained(folder)

    def create_model_and_transforms(self, architecture: str, pretrained: str, device: str) -> Any:
        if architecture != "ViT-tiny":
            raise RuntimeError(f"Model config for {architecture} not found.")
        model = self._model
        model.encode_image = lambda batch: model.get_image_features(pixel_values=batch).pooler_output
        model.encode_text = lambda ids: model.get_text_features(input_ids=ids).pooler_output
        return model, None, lambda image: self._pictures(image, return_tensors="pt")["pixel_values"][0]

    def get_tokenizer(self, architecture: str) -> Any:
        def tokenizer(texts: list[str], context_length: int = 40) -> Any:
            return self._words(
                texts, padding="max_length", truncation=True, max_length=context_length, return_tensors="pt"
            )["input_ids"]

        tokenizer.context_length = 40
        return tokenizer


def test_openclip_by_its_own_package(
    tiny_clip: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "open_clip", FakeOpenClip(tiny_clip))
    encoder = load_encoder("openclip:ViT-tiny/laion")
    same = Clip(str(tiny_clip))
    images = [noise(n) for n in range(11)]
    np.testing.assert_allclose(encoder.encode_images(images), same.encode_images(images), atol=1e-5)
    np.testing.assert_array_equal(encoder.encode_images(images[3:5]), encoder.encode_images(images)[3:5])
    np.testing.assert_allclose(encoder.encode_texts(TEXTS), same.encode_texts(TEXTS), atol=1e-5)
    full, longer = "dog " * 38, "dog " * 39  # beside what opens and closes a text
    assert not encoder.truncated(full) and encoder.truncated(longer) and not encoder.truncated("river " * 9)
    assert encoder.signature == "openclip:ViT-tiny/laion" and encoder.calibration.prompt == "A photo depicts "
    weights = tmp_path / "w.pt"
    weights.write_bytes(b"x")
    assert load_encoder(f"openclip:ViT-tiny/{weights}").signature.startswith("openclip:ViT-tiny@")
    for spec, told in (
        ("openclip:ViT-no/x", "OpenCLIP cannot load it"),
        ("openclip:ViT-tiny", "needs a model"),
    ):
        with pytest.raises(UsageError, match=told):
            load_encoder(spec)
