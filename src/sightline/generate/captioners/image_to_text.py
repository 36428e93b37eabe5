"""Captioners of transformers: `git:NAME-or-PATH`, `blip:…`, and any other image-to-text model as `transformers:…`."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from PIL import Image

from sightline.errors import UsageError, extra
from sightline.generate.base import Axis, Decoding, captioners
from sightline.generate.decoding import Generating, Reading, readings, settings
from sightline.generate.trained import About
from sightline.hub import device, load_pretrained
from sightline.resources import shared

PREPARES = ("preprocessor_config.json", "processor_config.json")
"""Files that say how a model's pictures are prepared."""


@captioners.add("git")
def git(argument: str) -> "ImageToText":
    """GIT (Wang et al. 2022): `git:NAME-or-PATH`, as microsoft/git-base-coco."""
    return _load("git", argument, "microsoft/git-base-coco")


@captioners.add("blip")
def blip(argument: str) -> "ImageToText":
    """BLIP (Li et al. 2022): `blip:NAME-or-PATH`, as Salesforce/blip-image-captioning-base."""
    return _load("blip", argument, "Salesforce/blip-image-captioning-base")


@captioners.add("transformers")
def any_model(argument: str) -> "ImageToText":
    """Any other image-to-text model of transformers: `transformers:NAME-or-PATH`."""
    return _load("", argument, "nlpconnect/vit-gpt2-image-captioning")


def _load(kind: str, name: str, example: str) -> "ImageToText":
    """A model of this kind; of any where none is named."""
    if not name:
        spec = kind or "transformers"
        raise UsageError(f"--captioner {spec} needs a model: {spec}:NAME or {spec}:PATH, as {example}")
    found: ImageToText = image_to_text(name)
    if kind and found.kind != kind:
        raise UsageError(f"{name} is a {found.kind}, not a {kind}: write transformers:{name}")
    return found


@shared
def image_to_text(name: str) -> "ImageToText":
    return ImageToText(name)


class ImageToText(Generating):
    """An image-to-text model: fp32 on the CPU, fp16 on a GPU."""

    def __init__(self, name: str) -> None:
        self._torch = extra("torch", "torch")
        transformers = extra("transformers", "torch")
        folder = Path(name)
        if folder.is_dir() and not any((folder / file).is_file() for file in PREPARES):
            raise UsageError(
                f"{name} has no processor ({PREPARES[0]}), which says how its pictures are prepared: "
                "save the base model's beside it"
            )
        resource, (model, self.tokenizer, self.pictures) = load_pretrained(
            "captioner",
            name,
            transformers.AutoModelForImageTextToText.from_pretrained,
            transformers.AutoTokenizer.from_pretrained,
            transformers.AutoImageProcessor.from_pretrained,
        )
        self.device = device()
        gpu = self.device.split(":")[0] == "cuda"
        self._dtype = self._torch.float16 if gpu else self._torch.float32
        self.model: Any = model.eval().to(self.device, self._dtype)
        self.kind = str(model.config.model_type)
        self.resource = replace(resource, device=self.device, precision="fp16" if gpu else "fp32")
        self.axes: tuple[Axis, ...] = About.read(folder).axes
        self.ends = ends(self.tokenizer, model)

    @property
    def signature(self) -> str:  # type: ignore[override]
        return f"{self.kind}@{self.resource.digest}"

    def generate(self, pictures: Sequence[Image.Image], decoding: Decoding) -> list[Reading]:
        pixels = self.pictures(images=list(pictures), return_tensors="pt")["pixel_values"]
        pad = self.tokenizer.pad_token_id
        chosen = settings(decoding, self.ends, self.ends[0] if pad is None else pad)
        with self._torch.inference_mode():
            found = self.model.generate(
                pixel_values=pixels.to(self.device, self._dtype),
                generation_config=as_configured(self.model, chosen),
            )
        return readings(found, self.ends)

    def text(self, tokens: Sequence[int]) -> str:
        return str(self.tokenizer.decode(list(tokens), skip_special_tokens=True))


def as_configured(model: Any, chosen: dict[str, Any]) -> Any:
    """The model's own way of generating, with what is chosen here; the part that writes may be a model within it."""
    parts = [getattr(model, name, None) for name in ("text_decoder", "language_model")]
    owner: Any = next((part for part in parts if getattr(part, "generation_config", None)), model)
    config = copy.deepcopy(owner.generation_config)
    config.max_length = None
    config.update(**chosen)
    return config


def ends(tokenizer: Any, model: Any) -> tuple[int, ...]:
    """The tokens that end a text: the tokeniser's separator or end, else the model's own."""
    config = getattr(model.config, "text_config", model.config)
    told = (tokenizer.sep_token_id, tokenizer.eos_token_id, getattr(config, "eos_token_id", None))
    found = [one for given in told for one in (given if isinstance(given, list) else [given])]
    known = tuple(dict.fromkeys(one for one in found if one is not None))
    if not known:
        raise UsageError("the captioner's tokeniser has no token that ends a text (eos_token)")
    return known
