"""PAC-S's fine-tuned CLIP (Sarto et al., CVPR 2023): `pac:FILE[@BASE]`.

The published file holds weights alone, in OpenAI's layout. Tokeniser, picture size and activation are those of the CLIP
in transformers' form that it was fine-tuned from: BASE, by default CLIP ViT-B/32.
"""

from pathlib import Path
from typing import Final

from sightline.encoders.base import encoders
from sightline.encoders.clip import Clip
from sightline.errors import UsageError

BASE: Final = "openai/clip-vit-base-patch32"


@encoders.add("pac")
def pac(argument: str) -> Clip:
    """A CLIP with PAC-S's fine-tuned weights, or any in OpenAI's layout: `pac:FILE`, or `pac:FILE@BASE-CLIP`."""
    file, _, base = argument.partition("@")
    if not file:
        raise UsageError("--encoder pac needs the file of the weights: pac:clip_ViT-B-32.pth")
    if not Path(file).is_file():
        raise UsageError(f"--encoder pac: there is no file {file}")
    return Clip(base or BASE, Path(file))
