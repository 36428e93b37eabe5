"""Which of the two forms a RoViST-VG model has: projections on an encoder's vectors, or a transformer of its own."""

from pathlib import Path
from typing import TYPE_CHECKING

from sightline.encoders.vg import Grounding

if TYPE_CHECKING:
    from sightline.encoders.vg_vit import FineTuned

CHECKPOINTS = (".pth", ".pt", ".tar")
"""Endings of checkpoints of PyTorch; a model of projections alone is an `.npz`."""


def load_grounding(given: str | None) -> "Grounding | FineTuned":
    """The embedded model, projections in an `.npz`, or a checkpoint with a vision transformer of its own."""
    if given and given.endswith(CHECKPOINTS):
        from sightline.encoders.vg_vit import FineTuned  # needs PyTorch

        return FineTuned(Path(given))
    return Grounding(given)
