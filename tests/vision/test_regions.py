"""Sources of regions: fixed windows, given boxes, detectors."""

import hashlib
import socket
import subprocess
import sys
import threading
import types
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from sightline.errors import Unscorable, UsageError
from sightline.resources import Resource
from sightline.vision import Picture, Pictures, load_regions
from sightline.vision.detector import torchvision_models


@pytest.fixture
def picture(tmp_path: Path) -> Picture:
    return make(tmp_path / "p1.png", (120, 60))


def make(path: Path, size: tuple[int, int]) -> Picture:
    levels = np.random.default_rng(size[0]).integers(0, 256, (size[1], size[0], 3), dtype=np.uint8)
    Image.fromarray(levels).save(path)
    return Pictures().load(path)


def test_windows_begin_with_the_whole_picture_and_cover_several_scales(picture: Picture) -> None:
    (boxes,) = load_regions("windows", 10).propose([picture])
    assert len(boxes) == len(set(boxes)) == 10
    assert boxes[0] == (0, 0, 120, 60)
    assert len({round(x1 - x0) for x0, _, x1, _ in boxes}) == 3, "whole, two thirds, halves"
    for x0, y0, x1, y1 in boxes:
        assert 0 <= x0 < x1 <= 120 + 1e-9
        assert 0 <= y0 < y1 <= 60 + 1e-9
        picture.crop((x0, y0, x1, y1))


@pytest.mark.parametrize("count", [1, 2, 10, 19, 200])
def test_as_many_windows_as_asked_the_first_ones_the_same(picture: Picture, count: int) -> None:
    (few,), (many,) = (load_regions("windows", n).propose([picture]) for n in (count, 200))
    assert few == many[:count]


def test_windows_of_a_single_pixel(tmp_path: Path) -> None:
    dot = make(tmp_path / "dot.png", (1, 1))
    assert all(dot.crop(box).size == (1, 1) for box in load_regions("windows", 10).propose([dot])[0])


def test_boxes_without_boxes_cannot_be_scored(picture: Picture) -> None:
    with pytest.raises(Unscorable, match="no regions of its own"):
        load_regions("boxes", 10).propose([picture])


REGION_FILE = """image_name,image_id,bbox,object,score
./album/data/images/0007/panel_0.jpg,0007_0,"[1.5, 2.0, 30.25, 40.0]",lamp,0.95
./album/data/images/0007/panel_0.jpg,0007_0,"[0.0, 0.0, 10.0, 10.0]",wall,0.93
./album/data/images/0007/panel_0.jpg,0007_0,"[5, 5, 20, 20]",sky,0.5
,p1,"[2, 3, 44, 55]",boat,0.4
"""


def test_a_published_region_file(tmp_path: Path, picture: Picture) -> None:
    file = tmp_path / "regions.csv"
    file.write_text(REGION_FILE)
    source = load_regions(f"boxes:{file}", 2)
    (tmp_path / "0007").mkdir()
    panel = make(tmp_path / "0007" / "panel_0.jpg", (50, 50))
    named = make(tmp_path / "0007_0.png", (50, 50))
    assert source.propose([panel]) == source.propose([named]) == [[(1.5, 2.0, 30.25, 40.0), (0, 0, 10, 10)]]
    assert source.propose([picture]) == [[(2, 3, 44, 55)]]
    with pytest.raises(Unscorable, match="no region for image_id 'other'"):
        source.propose([make(tmp_path / "other.png", (5, 5))])
    file.write_text(REGION_FILE + ',p2,"[2, 3, 44, 55]",boat,0.4\n')
    assert load_regions(f"boxes:{file}", 2).signature != source.signature, "the signature names the content"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "0 bytes"),
        ("id,box\n1,2\n", "image_id and bbox"),
        ("image_id,bbox\np1,\"[1, 2, 3]\"\n", r"regions.csv:2: field 'bbox'"),
        ("image_id,bbox\np1,\"[9, 2, 3, 4]\"\n", r"regions.csv:2: .*empty"),
        ("image_id,bbox\np1,\"[NaN, 2, 3, 4]\"\n", r"regions.csv:2"),
        ("image_id,bbox\n,\"[1, 2, 3, 4]\"\n", r"regions.csv:2: field 'image_id'"),
    ],
)  # fmt: skip
def test_a_bad_region_file_is_told_by_line(tmp_path: Path, text: str, told: str) -> None:
    file = tmp_path / "regions.csv"
    file.write_text(text)
    with pytest.raises(UsageError, match=told):
        load_regions(f"boxes:{file}", 10)


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ("window", "did you mean 'windows'"),
        ("windows:7", "takes no argument"),
        ("boxes:/no/such.csv", "no such file"),
        ("detector", "needs a model"),
        ("detector:/no/such/folder", "no such folder"),
    ],
)
def test_wrong_names_are_told(spec: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        load_regions(spec, 10)


def test_a_detector_loaded_from_disk(tmp_path: Path, tiny_detector: Path, picture: Picture) -> None:
    source = load_regions(f"detector:{tiny_detector}", 10)
    pictures = [picture, make(tmp_path / "two.png", (33, 90)), make(tmp_path / "three.png", (200, 40))]
    together = source.propose(pictures)
    for one, boxes in zip(pictures, together, strict=True):
        assert 1 <= len(boxes) <= 10
        assert source.propose([one]) == [boxes], "what is found does not depend on the other pictures"
        width, height = one.size
        for x0, y0, x1, y1 in boxes:
            assert 0 <= x0 < x1 <= width
            assert 0 <= y0 < y1 <= height
    assert source.signature.startswith("yolos-10@")
    assert load_regions(f"detector:{tiny_detector}", 3).propose([picture]) == [together[0][:3]]


def test_a_detector_that_is_none(tiny_clip: Path) -> None:
    with pytest.raises(UsageError, match="as detector"):
        load_regions(f"detector:{tiny_clip}", 10)


LOAD = """
import sys
from sightline.errors import UsageError
from sightline.vision.regions import load_regions
try:
    found = load_regions(sys.argv[1], 10)
    print(found.signature, found.resource.place)
except UsageError as told:
    print(told)
"""


def load_from(hub: str, home: Path, spec: str, environment: dict[str, str]) -> str:
    """What comes of a detector by name, where this is the hub's address: it is read when Python starts."""
    env = {**environment, "HF_ENDPOINT": hub, "HF_HOME": str(home), "HF_HUB_OFFLINE": "0", "NO_PROXY": "*"}
    words = [sys.executable, "-c", LOAD, spec]
    return subprocess.run(words, env=env, capture_output=True, text=True, check=True, timeout=90).stdout


@pytest.fixture
def hub(tiny_detector: Path) -> Iterator[str]:
    """A hub on this machine that has one model, and is busy when it is first asked."""

    class Hub(BaseHTTPRequestHandler):
        asked = 0

        def do_HEAD(self) -> None:
            self.answer()

        def do_GET(self) -> None:
            self.wfile.write(self.answer())

        def answer(self) -> bytes:
            Hub.asked += 1
            found = tiny_detector / self.path.removeprefix("/someone/tiny/resolve/main/")
            known = self.path.startswith("/someone/tiny/resolve/main/") and found.is_file()
            self.send_response(503 if Hub.asked == 1 else 200 if known else 404)
            body = found.read_bytes() if known else b""
            self.send_header("X-Repo-Commit", "c0ffee00" * 5)
            self.send_header("ETag", f'"{hashlib.sha256(body).hexdigest()}"')
            self.send_header("Content-Length", str(len(body)))
            if not known:
                missing = "EntryNotFound" if "/tiny/" in self.path else "RepoNotFound"
                self.send_header("X-Error-Code", missing)
            self.end_headers()
            return body

        def log_message(self, format: str, *args: object) -> None:
            """Nothing among the tests' own lines."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_a_name_that_cannot_be_had_is_told_without_delay(
    tmp_path: Path, environment: dict[str, str], hub: str
) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # not listening: a connection is refused
        nowhere = f"http://127.0.0.1:{closed.getsockname()[1]}"
        told = load_from(nowhere, tmp_path, "detector:nope", environment)
    assert "the detector 'nope' is neither a folder here nor to be had" in told
    assert "neither a folder here" in load_from(hub, tmp_path, "detector:someone/else", environment)


def test_a_detector_from_the_hub_and_later_from_its_cache(
    tmp_path: Path, environment: dict[str, str], hub: str, tiny_detector: Path
) -> None:
    found = load_from(hub, tmp_path, "detector:someone/tiny", environment)
    assert found.split()[1] == f"someone/tiny@{'c0ffee00' * 5}", "the commit stands beside the content"
    assert found.split()[0] == load_regions(f"detector:{tiny_detector}", 10).signature, "as from the folder"
    without_network = load_from("http://127.0.0.1:1", tmp_path, "detector:someone/tiny", environment)
    assert without_network == found


def test_torchvision_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "torchvision.models", None)
    with pytest.raises(UsageError, match=r"pip install 'sightline\[detector\]'"):
        load_regions("detector:fasterrcnn_resnet50_fpn", 10)


class TinyWeights:
    """As torchvision's enumerations of weights are used: where they lie, and how pictures are prepared."""

    url = "https://download.example/models/ssdlite320_tiny-0c12.pth"

    def transforms(self) -> Callable[[Image.Image], torch.Tensor]:
        return lambda image: torch.from_numpy(np.asarray(image, np.float32).transpose(2, 0, 1) / 255)


class TinyDetections(torch.nn.Module):
    """Random weights behind torchvision's contract: a list of pictures in, boxes and scores of each out."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Conv2d(3, 5, 8, stride=8)

    def forward(self, pictures: list[torch.Tensor]) -> list[dict[str, torch.Tensor]]:
        found = []
        for picture in pictures:
            maps = self.layer(picture[None])[0].flatten(1)
            _, high, wide = picture.shape
            size = torch.tensor([wide, high])
            start = maps[:2].sigmoid().T * size * 0.6
            found.append(
                {
                    "boxes": torch.cat([start, start + maps[2:4].sigmoid().T * size * 0.4], 1),
                    "scores": maps[4].sigmoid(),
                }
            )
        return found


def test_a_detector_of_torchvisions_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its models as they are called, on random weights: its own operators do not load beside a CPU build of PyTorch."""
    model = TinyDetections()
    places = tmp_path / "checkpoints"
    places.mkdir()
    torch.save(model.state_dict(), places / "ssdlite320_tiny-0c12.pth")
    monkeypatch.setattr(torch.hub, "get_dir", lambda: str(tmp_path))

    def get_model(name: str, weights: TinyWeights) -> TinyDetections:
        if name != "ssdlite320_tiny":
            raise ValueError(name)
        return model

    library = types.ModuleType("torchvision.models")
    library.__dict__.update(
        get_model=get_model, get_model_weights=lambda name: types.SimpleNamespace(DEFAULT=TinyWeights())
    )
    monkeypatch.setitem(sys.modules, "torchvision", types.ModuleType("torchvision"))
    monkeypatch.setitem(sys.modules, "torchvision.models", library)
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8))
    image.save(tmp_path / "p.png")
    regions = load_regions("detector:ssdlite320_tiny", 4)
    (boxes,) = regions.propose([Pictures().load(tmp_path / "p.png")])
    told = model([TinyWeights().transforms()(image)])[0]
    best = told["boxes"][told["scores"].argsort(descending=True)[:4]]
    assert np.allclose(boxes, best.detach().numpy(), atol=1e-4)
    digest = Resource.file(places / "ssdlite320_tiny-0c12.pth").digest
    assert regions.signature == f"ssdlite320_tiny-4@{digest}"
    with pytest.raises(UsageError, match="torchvision has no detector 'ssdlite320_huge'"):
        load_regions("detector:ssdlite320_huge", 4)


def test_a_torchvision_that_does_not_fit_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(name: str) -> None:
        raise RuntimeError("operator torchvision::nms does not exist\nand more")

    monkeypatch.setattr("sightline.errors.importlib.import_module", broken)
    with pytest.raises(
        UsageError, match=r"do not fit each other \(operator torchvision::nms does not exist\)"
    ):
        torchvision_models()
