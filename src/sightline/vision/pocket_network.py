"""The embedded image network: pictures to vectors and to the maps that the region proposer reads.

Pictures run eight at a time, on each core there is. The network works them off one after the other whatever the
batch, so that equal pictures give equal bits whatever they are asked for with; a test holds every size of batch to it.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from PIL import Image

from sightline.errors import UsageError
from sightline.resources import MODELS, Resource, shared
from sightline.threads import cores

FOLDER = MODELS / "pocket"
SIDE = 128
AT_ONCE = 8
"""Pictures of a batch: a quarter faster than one by one; more gain nothing."""

Floats = NDArray[np.float32]


def open_network(path: Path) -> Any:
    """An ONNX session of one thread; sessions may be shared by threads."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_cpu_mem_arena = False  # costs no speed here, and memory comes back
    options.add_session_config_entry(
        "session.disable_quant_qdq", "1"
    )  # weights are unfolded once, when loaded
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def squash(image: Image.Image) -> Floats:
    """A picture of any shape as 1 x 3 x 128 x 128 pixels 0-255, as in training."""
    small = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BICUBIC, reducing_gap=3.0)
    return np.asarray(small, np.float32).transpose(2, 0, 1)[None]


class PocketNetwork:
    """Runs the image network, eight pictures at a time on each core."""

    def __init__(self, folder: Path = FOLDER) -> None:
        self.resource = pocket_files(folder, "image.onnx")
        self._session = open_network(folder / "image.onnx")
        self._pool = ThreadPoolExecutor(cores(), thread_name_prefix="pocket")

    def run(self, images: Sequence[Image.Image], outputs: Sequence[str]) -> list[list[Floats]]:
        """The named outputs for each picture, each with a leading axis of one."""

        def some(part: Sequence[Image.Image]) -> list[list[Floats]]:
            pixels = np.concatenate([squash(image) for image in part])
            found: list[Floats] = self._session.run(list(outputs), {"pixels": pixels})
            return [[rows[number : number + 1] for rows in found] for number in range(len(part))]

        size = max(1, min(AT_ONCE, -(-len(images) // cores())))  # few pictures are shared out among the cores
        parts = [images[start : start + size] for start in range(0, len(images), size)]
        done = map(some, parts) if len(parts) == 1 else self._pool.map(some, parts)
        return [rows for part in done for rows in part]


@shared
def pocket_network(folder: Path = FOLDER) -> PocketNetwork:
    """Encoder and proposer share it."""
    return PocketNetwork(folder)


def pocket_files(folder: Path, *names: str) -> Resource:
    """Files of the embedded model, or of one that `sightline train pocket` made."""
    given = "embedded" if folder == FOLDER else str(folder)
    return Resource.folder(folder, [folder / name for name in names], given)


def folder_of(argument: str) -> Path:
    """The embedded model's folder, or the one in `pocket:FOLDER` and `proposer:FOLDER`."""
    folder = Path(argument) if argument else FOLDER
    if not (folder / "image.onnx").is_file():
        raise UsageError(f"{folder}: not a folder of `sightline train pocket`; there is no image.onnx in it")
    return folder
