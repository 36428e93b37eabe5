"""ClipCap: `clipcap:PATH`, a checkpoint of its authors (.pt) or a folder that `sightline train captioner` left."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from PIL import Image

from sightline.errors import UsageError, extra
from sightline.generate.base import Axis, Decoding, captioners
from sightline.generate.decoding import Generating, Reading, readings, settings
from sightline.generate.trained import FILE, About
from sightline.hub import device, load_pretrained
from sightline.resources import Resource, shared

WEIGHTS: Final = "model.safetensors"
CLIPS: Final = {512: "openai/clip-vit-base-patch32", 768: "openai/clip-vit-large-patch14"}
"""By the numbers of a vector: the CLIP that a checkpoint was made with, where none lies beside it."""
GPT2: Final = "gpt2"
WEIGHTS_OF: Final = (".safetensors", ".bin", ".pt")
"""How files of weights end; those of GPT-2 stand in the checkpoint itself."""


@captioners.add("clipcap")
def clipcap(argument: str) -> "ClipCap":
    """ClipCap (Mokady et al. 2021): `clipcap:PATH` of a checkpoint, its CLIP and GPT-2 beside it or from the hub."""
    if not argument:
        raise UsageError("--captioner clipcap needs a model: clipcap:PATH of a checkpoint or a folder")
    found: ClipCap = clip_cap(argument)
    return found


@shared
def clip_cap(name: str) -> "ClipCap":
    return ClipCap(Path(name))


def beside(folder: Path, name: str, instead: str) -> str:
    """The model in a folder beside the checkpoint, or the hub's."""
    return str(folder / name) if (folder / name / "config.json").is_file() else instead


class ClipCap(Generating):
    """CLIP's vector, a mapping network, GPT-2: fp32 on the CPU, fp16 on a GPU."""

    kind: Final = "clipcap"

    def __init__(self, path: Path) -> None:
        self._torch = extra("torch", "torch")
        folder, file = (path, path / WEIGHTS) if path.is_dir() else (path.parent, path)
        if not file.is_file():
            raise UsageError(f"clipcap:{path}: there is no {file.name}" + f" in {path}" * path.is_dir())
        weights = self._weights(file)
        transformers = extra("transformers", "torch")
        size = len(
            weights.get("clip_project.model.0.weight", weights.get("clip_project.linear.weight", [[]]))[0]
        )
        if size not in CLIPS and not (folder / "clip").is_dir():
            raise UsageError(
                f"{file} reads vectors of {size} numbers, and which CLIP makes them is not known: put it into "
                f"{folder / 'clip'}"
            )
        clip, (self.clip, self.pictures) = load_pretrained(
            "CLIP of a ClipCap", beside(folder, "clip", CLIPS.get(size, "")),
            transformers.AutoModel.from_pretrained, transformers.AutoImageProcessor.from_pretrained,
        )  # fmt: skip
        gpt, (config, self.tokenizer) = load_pretrained(
            "GPT-2 of a ClipCap", beside(folder, "gpt2", GPT2),
            transformers.AutoConfig.from_pretrained, transformers.AutoTokenizer.from_pretrained,
        )  # fmt: skip
        from sightline.generate.clipcap_network import loaded

        try:
            self.network: Any = loaded(weights, transformers.GPT2LMHeadModel(config)).eval()
        except (ValueError, RuntimeError) as fault:
            raise UsageError(f"{file} is no ClipCap: {fault}") from None
        self.device = device()
        gpu = self.device.split(":")[0] == "cuda"
        self._dtype = self._torch.float16 if gpu else self._torch.float32
        self.network.to(self.device, self._dtype)
        self.clip.eval().to(self.device, self._dtype)
        about = About.read(folder)
        files = [("weights", file)] + [(FILE, folder / FILE)] * (folder / FILE).is_file()
        files += [(f"clip/{name}", place) for name, place, _ in clip.files]
        files += [(f"gpt2/{name}", place) for name, place, _ in gpt.files if not name.endswith(WEIGHTS_OF)]
        precision = "fp16" if gpu else "fp32"
        self.resource = replace(Resource.of(str(path), files), device=self.device, precision=precision)
        self.axes: tuple[Axis, ...] = about.axes
        stops = [self.tokenizer.convert_tokens_to_ids(one) for one in about.ends] or [
            self.tokenizer.convert_tokens_to_ids(".")
        ]
        self.ends = tuple(
            dict.fromkeys(one for one in (self.tokenizer.eos_token_id, *stops) if one is not None)
        )

    @property
    def signature(self) -> str:  # type: ignore[override]
        return f"clipcap@{self.resource.digest}"

    def _weights(self, file: Path) -> Any:
        try:
            if file.suffix == ".safetensors":
                return extra("safetensors.torch", "torch").load_file(file)
            found = self._torch.load(file, map_location="cpu", weights_only=True)
        except Exception as fault:  # a damaged file fails in many ways
            raise UsageError(f"{file}: cannot be read ({' '.join(str(fault).split())[:120]})") from None
        if not isinstance(found, dict):
            raise UsageError(f"{file} is no ClipCap: it holds a {type(found).__name__}, not weights")
        return found

    def vectors(self, pictures: Sequence[Image.Image]) -> Any:
        """[picture, number]: CLIP's, as long as they come."""
        pixels = self.pictures(images=list(pictures), return_tensors="pt")["pixel_values"]
        found = self.clip.get_image_features(pixel_values=pixels.to(self.device, self._dtype))
        return getattr(found, "pooler_output", found)

    def generate(self, pictures: Sequence[Image.Image], decoding: Decoding) -> list[Reading]:
        with self._torch.inference_mode():
            before = self.network.prefixes(self.vectors(pictures))
            found = self.network.gpt.generate(
                inputs_embeds=before,
                attention_mask=before.new_ones(before.shape[:2], dtype=self._torch.long),
                **settings(decoding, self.ends, self.ends[0]),
            )
        return readings(found, self.ends)

    def text(self, tokens: Sequence[int]) -> str:
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))
