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
from PIL import Image

from sightline.encoders import load_encoder
from sightline.encoders.pieces import pieces
from sightline.encoders.vg import Grounding
from sightline.errors import UsageError
from sightline.resources import Resource
from sightline.text.vectors import WordVectors
from sightline.train.vg.pairs import boxes_of, mentions_of
from sightline.train.vg.run import VgConfig, symmetric_loss, train


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
    encoder, vectors = load_encoder("pocket").signature, pieces().resource.digest
    model.fits(encoder, vectors)
    rows = model.regions(np.eye(3, 256, dtype=np.float32))
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1, abs=1e-5)
    with pytest.raises(UsageError, match="was trained on pocket@"):
        model.fits("clip@other", vectors)


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
