"""RoViST-VG's training: the loss by hand, the readers, and a tiny run from file to score."""

import gzip
import json
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
import transformers
from PIL import Image
from safetensors.torch import load_file

from sightline.encoders import load_encoder
from sightline.encoders.pieces import pieces
from sightline.encoders.vg import Grounding
from sightline.encoders.vg_vit import FineTuned
from sightline.errors import UsageError
from sightline.items import Item
from sightline.meta.scoring import score_items
from sightline.pipeline.settings import Settings
from sightline.resources import Resource
from sightline.text.vectors import WordVectors
from sightline.train.vg.algorithm import VgConfig, symmetric_loss
from sightline.train.vg.pairs import boxes_of, coco_pairs, learnable, mentions_of
from sightline.train.vg.run import train

PICTURES = Path(__file__).parents[2] / "src" / "sightline" / "demo" / "pictures"


def _softmax(rows: np.ndarray) -> np.ndarray:
    e = np.exp(rows - rows.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def test_algorithm_1_in_numpy() -> None:
    rng = np.random.default_rng(0)
    I_e, T_e = np.tanh(rng.normal(size=(2, 5, 8)))
    logits, labels = T_e @ I_e.T, (I_e @ I_e.T + T_e @ T_e.T) / 2
    text = -(_softmax(labels) * np.log(_softmax(logits))).sum(1).mean()
    image = -(_softmax(labels.T) * np.log(_softmax(logits.T))).sum(1).mean()
    found = symmetric_loss(torch.as_tensor(I_e), torch.as_tensor(T_e))
    assert float(found) == pytest.approx((image + text) / 2, abs=1e-12)


SENTENCE = "[/EN#1/people Two young guys] with [/EN#2/bodyparts shaggy hair] look at [/EN#1/people/other their hands] ."
ANNOTATION = """<annotation><filename>7.jpg</filename><size><width>100</width><height>50</height></size>
<object><name>1</name><name>2</name><bndbox><xmin>10</xmin><ymin>5</ymin><xmax>60</xmax><ymax>45</ymax></bndbox></object>
<object><name>3</name><scene>1</scene></object></annotation>"""


def test_flickr30k_entities_are_read() -> None:
    assert mentions_of(SENTENCE) == [("1", "two young guys"), ("2", "shaggy hair"), ("1", "their hands")]
    size, boxes = boxes_of(ANNOTATION)
    assert size == (100.0, 50.0)
    assert boxes == {"1": [(10.0, 5.0, 60.0, 45.0)], "2": [(10.0, 5.0, 60.0, 45.0)]}


def _picture(colour: str) -> bytes:
    out = BytesIO()
    Image.new("RGB", (32, 32), colour).save(out, "PNG")
    return out.getvalue()


def _files(folder: Path) -> tuple[Path, Path]:
    rows = [
        {
            "id": n,
            "image": _picture(("red", "blue")[n % 2]),
            "category": [16 if n % 2 else 5],
            "box": [0.5, 0.5, 0.8, 0.8],
        }
        for n in range(12)
    ]
    pq.write_table(pa.Table.from_pylist(rows), folder / "regions.parquet")
    with gzip.open(folder / "captions.jsonl.gz", "wt") as out:
        out.writelines(json.dumps({"id": n, "captions": ["A puppy on a bus"]}) + "\n" for n in range(6))
    return folder / "regions.parquet", folder / "captions.jsonl.gz"


def test_from_files_to_a_model_that_scores(tmp_path: Path) -> None:
    regions, captions = _files(tmp_path)
    out = tmp_path / "vg.npz"
    found = train(
        regions, out, captions, None, "pocket", None, 100, VgConfig(epochs=2, batch=4), log=lambda row: None
    )
    assert found["pairs"] == 12
    model = Grounding(out)
    model.fits(load_encoder("pocket").signature, pieces())
    rows = model.regions(np.eye(3, 256, dtype=np.float32))
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    with pytest.raises(UsageError, match="was trained on pocket@"):
        model.fits("clip@other", pieces())


def test_entities_from_files(tmp_path: Path) -> None:
    for name in ("Annotations", "Sentences", "images"):
        (tmp_path / name).mkdir()
    for number in (7, 8, 9):
        (tmp_path / "Annotations" / f"{number}.xml").write_text(ANNOTATION)
        (tmp_path / "Sentences" / f"{number}.txt").write_text(SENTENCE)
        Image.new("RGB", (100, 50), "green").save(tmp_path / "images" / f"{number}.jpg")
    vectors = tmp_path / "glove.txt"
    vectors.write_text("guys 0.1 0.2 0.3\nhair 0.3 0.1 0.0\n")
    config = VgConfig(epochs=1, batch=2, validation=0.4)
    out = tmp_path / "vg.npz"
    found = train(
        tmp_path, out, None, tmp_path / "images", "pocket", vectors, 50, config, log=lambda row: None
    )
    assert found["pairs"] == 6  # two known mentions in each of three pictures
    assert Grounding(out).vectors == Resource.file(vectors).digest


@pytest.mark.parametrize("text", ["", "a 1 2\nb 1\n", "a x y\n"])
def test_bad_vector_files_are_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / "v.txt"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"v\.txt"):
        WordVectors.from_file(path)


def test_a_model_that_is_none_is_told(tmp_path: Path) -> None:
    (tmp_path / "no.npz").write_bytes(b"PK nothing")
    with pytest.raises(UsageError, match="not a RoViST-VG model"):
        Grounding(tmp_path / "no.npz")


def tiny_vit(folder: Path, width: int = 64) -> Path:
    """A vision transformer of random weights, as the hub's are saved."""
    config = transformers.ViTConfig(
        hidden_size=width, num_hidden_layers=2, num_attention_heads=1, intermediate_size=96, patch_size=8, image_size=32
    )  # fmt: skip
    torch.manual_seed(0)
    transformers.ViTModel(config).save_pretrained(folder)
    return folder


def glove(folder: Path) -> Path:
    vectors = folder / "glove.txt"
    rows = np.random.default_rng(0).normal(size=(6, 300)).round(3)
    words = ("puppy", "bus", "dog", "man", "rocket", "camera")
    vectors.write_text(
        "".join(f"{w} {' '.join(map(str, row))}\n" for w, row in zip(words, rows, strict=True))
    )
    return vectors


def test_a_vision_transformer_learns_along_and_scores(tmp_path: Path) -> None:
    """The paper's recipe, from files to `rovist-vg`: its checkpoint needs no encoder, and reads GloVe's vectors."""
    regions, captions = _files(tmp_path)
    vectors, out = glove(tmp_path), tmp_path / "vg.pth.tar"
    before = transformers.ViTModel.from_pretrained(tiny_vit(tmp_path / "vit"))
    rows: list[dict[str, float]] = []
    recipe = VgConfig(epochs=3, batch=4, rate=1e-3, validation=0.4)
    train(regions, out, captions, None, "pocket", vectors, None, recipe, rows.append, str(tmp_path / "vit"))
    assert [row["epoch"] for row in rows] == [1, 2, 3] and rows[-1]["loss"] < rows[0]["loss"]
    learned = FineTuned(out)
    weight = "embeddings.patch_embeddings.projection.weight"
    assert not torch.equal(learned._vit.state_dict()[weight], before.state_dict()[weight])
    items = [
        Item("a", images=(PICTURES / "camera.jpg",), text="A man with a camera."),
        Item("b", images=(PICTURES / "rocket.jpg",), text="A rocket and a dog."),
    ]
    chosen = Settings(cache=None).with_options(vg=str(out), vectors=str(vectors))
    scored = score_items(items, ["rovist-vg"], chosen)
    assert len(scored.scores["rovist-vg"]) == 2
    assert f"vg:{learned.signature}" in scored.signatures["rovist-vg"]
    assert "encoder:" not in scored.signatures["rovist-vg"]  # what the run's encoder is has no say
    (tmp_path / "narrow.txt").write_text("rocket 0.1 0.2 0.3\n")
    with pytest.raises(UsageError, match="reads word vectors of 300 numbers, these have 3:"):
        score_items(items, ["rovist-vg"], chosen.with_options(vectors=str(tmp_path / "narrow.txt")))
    with pytest.raises(UsageError, match=r"call it NAME\.pth\.tar"):
        train(
            regions,
            tmp_path / "vg.npz",
            captions,
            None,
            "pocket",
            vectors,
            None,
            recipe,
            vit=str(tmp_path / "vit"),
        )


def test_the_published_checkpoints_layout(tmp_path: Path) -> None:
    """Keys and shapes as the authors' program saves them (its transformer's names are those of 2021), values random."""
    vit = transformers.ViTModel.from_pretrained(tiny_vit(tmp_path / "vit"))
    inside = load_file(tmp_path / "vit" / "model.safetensors")
    assert "encoder.layer.0.attention.attention.query.weight" in inside
    draw = torch.Generator().manual_seed(1)
    state = {f"image_encoder.image_model.{name}": value for name, value in inside.items()}
    state |= {
        "image_encoder.linear.weight": torch.randn(1024, 64, generator=draw),
        "image_encoder.linear.bias": torch.randn(1024, generator=draw),
        "text_encoder.linear.weight": torch.randn(1024, 300, generator=draw),
        "text_encoder.linear.bias": torch.randn(1024, generator=draw),
    }
    path = tmp_path / "r2p_model_epoch2.pth.tar"
    torch.save({"epoch": 2, "model": state, "valid_loss": 3.1, "train_loss": 3.0}, path)
    model = FineTuned(path)
    image = Image.open(PICTURES / "rocket.jpg").convert("RGB")
    own = transformers.ViTImageProcessor(size={"height": 32, "width": 32})(images=image, return_tensors="pt")
    with torch.inference_mode():
        expected = vit.eval()(own["pixel_values"]).pooler_output.numpy()
    assert np.allclose(model.encode_images([image]), expected, atol=1e-5)
    assert np.array_equal(model.encode_images([image] * 3)[2], model.encode_images([image])[0])
    del state["image_encoder.image_model.pooler.dense.weight"]
    torch.save({"model": state}, path)
    with pytest.raises(UsageError, match=r"not RoViST-VG's checkpoint \(missing keys .*pooler"):
        FineTuned(path)
    path.write_bytes(b"no checkpoint")
    with pytest.raises(UsageError, match="cannot be read as a PyTorch checkpoint"):
        FineTuned(path)


def test_regions_are_drawn_at_random_where_fewer_are_asked_for(tmp_path: Path) -> None:
    regions, captions = _files(tmp_path)
    every = learnable(coco_pairs(regions, captions), pieces(), None)
    some = learnable(coco_pairs(regions, captions), pieces(), 5, seed=3)
    numbers = [one.pair.picture for one in some]
    assert len(every) == 12 and len(some) == 5 and numbers != list(range(5)) and numbers == sorted(numbers)
    assert learnable(coco_pairs(regions, captions), pieces(), 5, seed=4) != some
