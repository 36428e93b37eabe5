"""Training of the pocket encoder, whole but tiny, and parity of its networks with their ONNX files."""

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from sightline.encoders import load_encoder
from sightline.encoders.pocket import FOLDER
from sightline.train.pocket import run
from sightline.train.pocket.export import export_image, export_proposer, export_text
from sightline.train.pocket.networks import ImageConfig, ImageNetwork, ProposerHead, TextNetwork
from sightline.train.pocket.phrases import phrases_of
from sightline.train.pocket.propose import assign, generous_iou
from tiny_models import save_bert


@pytest.fixture(scope="module")
def teacher(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT of random weights, saved in the real format."""
    known = (FOLDER / "vocabulary.txt").read_text("utf-8").split("\n")[2:402]
    return save_bert(tmp_path_factory.mktemp("teacher"), known)


def test_a_tiny_training_run_leaves_a_whole_model(data: Path, teacher: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    found = run.train(data, str(teacher), tmp_path, run.TINY, device="cpu", made=50, log=lines.append)
    assert 0 <= found["r10"] <= 1
    assert 0 <= found["proposer_recall"] <= 1
    files = {
        "image.onnx",
        "text.onnx",
        "proposer.onnx",
        "pieces.npz",
        "vocabulary.txt",
        "space.json",
        "calibration.json",
    }
    assert files <= {path.name for path in tmp_path.iterdir()}
    space = json.loads((tmp_path / "space.json").read_text())
    assert len(space["image_centre"]) == len(space["text_centre"]) == 256
    assert lines
    trained = load_encoder(f"pocket:{tmp_path}")
    assert trained.signature != load_encoder("pocket").signature
    assert trained.encode_texts(["a dog"]).shape == (1, 256)


def _run(path: Path, inputs: dict[str, torch.Tensor]) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(str(path))
    return session.run(None, {name: value.numpy() for name, value in inputs.items()})


def _cosine(one: np.ndarray, other: np.ndarray) -> float:
    one, other = one.reshape(len(one), -1), other.reshape(len(other), -1)
    norms = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return float(((one * other).sum(1) / norms).min())


@torch.inference_mode()
def test_onnx_files_say_what_the_networks_say(tmp_path: Path) -> None:
    torch.manual_seed(0)
    config = ImageConfig(side=64, widths=(32, 32, 48, 64), depths=(1, 1, 2, 1))
    image, text = ImageNetwork(config).eval(), TextNetwork(torch.randn(50, 40)).eval()
    head = ProposerHead(config.widths, inner=16).eval()
    pixels = torch.randint(0, 255, (3, 3, 64, 64)).float()
    export_image(image, tmp_path / "image.onnx")
    vector, *maps = _run(tmp_path / "image.onnx", {"pixels": pixels})
    assert _cosine(vector, image(pixels)[1].numpy()) > 0.999  # weights are stored in eight bits
    for found, wanted in zip(maps, image.maps(pixels)[1:], strict=True):
        assert _cosine(found, wanted.numpy()) > 0.998

    ids = torch.randint(1, 50, (4, 7))
    export_text(text, tmp_path / "text.onnx")
    (vector,) = _run(tmp_path / "text.onnx", {"pieces": text.table[ids]})
    assert _cosine(vector, text(ids).numpy()) > 0.999

    export_proposer(head, 64, tmp_path / "proposer.onnx")
    inputs = dict(zip(("map8", "map16", "map32"), map(torch.as_tensor, maps), strict=True))
    logits, boxes = _run(tmp_path / "proposer.onnx", inputs)
    wanted_logits, wanted_boxes = head([None, *inputs.values()])
    assert np.abs(logits - wanted_logits.numpy()).max() < 0.05
    assert np.abs(boxes - wanted_boxes.numpy()).max() < 0.02


def test_padding_does_not_change_a_text() -> None:
    torch.manual_seed(0)
    text = TextNetwork(torch.randn(50, 40)).eval()
    ids = torch.randint(1, 50, (2, 5))
    padded = torch.cat([ids, torch.zeros(2, 3, dtype=torch.long)], 1)
    with torch.inference_mode():
        assert torch.allclose(text(ids), text(padded), atol=1e-5)


def test_phrases_of_captions_name_their_class() -> None:
    found = dict(phrases_of("Two small dogs run past a man in a red shirt near a yellow bus."))
    assert found["two small dogs"] == 16
    assert "a man" in found
    assert "a yellow bus" in found


def test_a_cell_answers_for_the_smallest_box_around_it() -> None:
    boxes = torch.tensor([[[0.0, 0, 1, 1], [0.4, 0.4, 0.6, 0.6], [0, 0, 0, 0]]])
    mine, wanted = assign(boxes, 4, 0.3)
    assert wanted[0, 5].tolist() == pytest.approx([0.4, 0.4, 0.6, 0.6])
    assert bool(mine[0, 5])
    assert not bool(mine[0, 0])


def test_generous_iou_by_hand() -> None:
    iou, generous = generous_iou(torch.tensor([0.0, 0, 2, 2]), torch.tensor([1.0, 1, 3, 3]))
    assert float(iou) == pytest.approx(1 / 7)
    assert float(generous) == pytest.approx(1 / 7 - 2 / 9)
