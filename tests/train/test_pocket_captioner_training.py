"""Training of the embedded captioner, whole but tiny, and parity of its decoder with the ONNX files."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.errors import Unscorable, UsageError
from sightline.generate.base import Decoding, load_captioner
from sightline.generate.captioners.pocket import MAPS, PocketCaptioner
from sightline.io.results import ResultFolder
from sightline.train.pocket_captioner.export import export
from sightline.train.pocket_captioner.fit import batches
from sightline.train.pocket_captioner.network import DecoderConfig, DecoderNetwork, NextPiece
from sightline.train.pocket_captioner.run import FEW, TINY, train
from sightline.train.pocket_captioner.texts import Vocabulary, batch, gather_vocabulary, packed
from sightline.vision.pocket_network import pocket_network

NAMES = ("[END]", "a", "dog", "cat", "runs", "##ning", "run", "red", ",", "on", "grass", "the")


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)  # networks so small only wait for each other's threads


def small() -> DecoderNetwork:
    torch.manual_seed(3)
    network = DecoderNetwork(DecoderConfig(len(NAMES), width=32, layers=2, heads=2, longest=12)).eval()
    with torch.no_grad():
        network.embedding.mul_(3)  # so that it means what it says
    return network


def test_a_tiny_training_run_leaves_a_captioner_and_goes_on_where_it_was_stopped(
    data: Path, tmp_path: Path
) -> None:
    lines: list[str] = []
    with ResultFolder(tmp_path / "out") as out:
        found = train(data, out, TINY, tmp_path / "kept", lines.append, FEW)
    assert 0 < found < 20
    captioner = load_captioner(f"pocket:{tmp_path / 'out'}")
    assert captioner.axes == ("object",)
    assert captioner.signature != load_captioner("pocket").signature
    picture = Image.new("RGB", (40, 30), (90, 120, 40))
    (told,) = captioner.describe([picture], "object", Decoding(beams=2, length=5))
    assert not isinstance(told, Unscorable) and told
    history = json.loads((tmp_path / "out" / "sightline.json").read_text())["recipe"]["history"]
    assert history[-1]["step"] > 0 and history[-1]["dev"] == found
    with ResultFolder(tmp_path / "out") as out, pytest.raises(UsageError, match="holds a captioner already"):
        train(data, out, TINY, tmp_path / "kept", limit=FEW)
    again: list[str] = []
    with ResultFolder(tmp_path / "more") as out:
        train(data, out, TINY, tmp_path / "kept", again.append, FEW)
    assert not any("views" in line for line in again), "maps are made once"
    assert (tmp_path / "more" / "write.onnx").read_bytes() == (tmp_path / "out" / "write.onnx").read_bytes()


@pytest.mark.parametrize(("whole", "close"), [(True, 1e-4), (False, 0.15)])
def test_onnx_files_say_what_the_network_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: bool, close: float
) -> None:
    """The probability of a text by one pass of the network is that of the ONNX files, piece by piece; in eight bits
    about so."""
    if whole:
        monkeypatch.setattr("sightline.train.pocket_captioner.export.in_eight_bits", lambda model: model)
    network = small()
    export(network, Vocabulary(NAMES, (1,) * len(NAMES)), ["object"], tmp_path, {})
    captioner = PocketCaptioner(tmp_path)
    rng = np.random.default_rng(0)
    pictures = [Image.fromarray(rng.integers(0, 255, (40, 50, 3), dtype=np.uint8)) for _ in range(3)]
    maps = pocket_network().run(pictures, MAPS)
    for told, (map16, map32, vector) in zip(captioner._searched(maps, Decoding(length=6)), maps, strict=True):
        assert len(told) == 3
        for reading in told:
            row = batch([packed([reading.tokens])], torch.float32)
            shown = [torch.tensor(one).flatten(2).transpose(1, 2) for one in (map16, map32)]
            with torch.inference_mode():
                states = network(network.memory(*shown, torch.tensor(vector)), row.read, row.order, row.mask)
                chances = network.chances(states[0])[range(len(row.write)), row.write]
            assert reading.log_probability == pytest.approx(float(chances.sum()), abs=close * len(chances))


def test_captions_in_one_row_do_not_see_each_other() -> None:
    network = small()
    maps = torch.rand(2, 64, 256), torch.rand(2, 16, 512), torch.rand(2, 256)
    first, second = [1, 2, 4], [11, 3, 6, 5, 9, 10]
    row = batch([packed([first, second]), packed([second])], torch.float32)
    with torch.inference_mode():
        states = network(network.memory(*maps), row.read, row.order, row.mask)
        alone = batch([packed([second])], torch.float32)
        memory = network.memory(*(one[:1] for one in maps))
        wanted = network(memory, alone.read, alone.order, alone.mask)[0]
    assert torch.allclose(states[0, len(first) + 1 :], wanted, atol=1e-5)
    assert row.write.tolist() == [*first, 0, *second, 0, *second, 0]


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_and_its_gradient_are_cross_entropys(smoothing: float) -> None:
    torch.manual_seed(0)
    states, table, bias = (torch.randn(*shape, requires_grad=True) for shape in ((500, 8), (30, 8), (30,)))
    targets, weights = torch.randint(0, 30, (500,)), torch.randn(500)
    loss, each = NextPiece.apply(states, table, bias, targets, weights, smoothing, False)
    found = torch.autograd.grad(loss, (states, table, bias))
    logits = F.linear(states, table, bias)
    apart = F.cross_entropy(logits, targets, reduction="none", label_smoothing=smoothing)
    wanted = torch.autograd.grad((apart * weights).sum(), (states, table, bias))
    assert float(loss.detach()) == pytest.approx(float((apart * weights).sum().detach()), rel=1e-4)
    assert torch.allclose(each, F.cross_entropy(logits, targets, reduction="none"), atol=1e-5)
    for mine, theirs in zip(found, wanted, strict=True):
        assert torch.allclose(mine, theirs, atol=1e-4)


def test_pieces_are_those_that_captions_use_often_enough() -> None:
    vocabulary = gather_vocabulary(["A dog runs.", "A dog!", "a cat"], least=2)
    assert vocabulary.names == ("[END]", "a", "dog") and vocabulary.counts == (3, 3, 2)
    assert vocabulary.vectors().shape[0] == 3


def test_batches_hold_each_row_once() -> None:
    found = batches([n % 17 for n in range(1000)], 32, np.random.default_rng(0))
    assert sorted(n for part in found for n in part) == list(range(1000))
    assert max(map(len, found)) == 32
