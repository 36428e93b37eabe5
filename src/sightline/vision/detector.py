"""Regions from an object detector: `detector:NAME`, a torchvision or transformers model by name or path."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from PIL import Image

from sightline.errors import UsageError, extra
from sightline.hub import device, load_pretrained
from sightline.items import Box
from sightline.resources import Resource
from sightline.vision.pictures import Picture
from sightline.vision.regions import RegionSource, region_sources

BATCH = 8
TORCHVISION = ("fasterrcnn_", "fcos_", "maskrcnn_", "retinanet_", "ssd300_", "ssdlite320_")
"""How torchvision's detectors are called."""

Scored = list[tuple[float, Box]]


class Model(Protocol):
    """A loaded detector: for each image its boxes with their confidence, in pixels of that image."""

    name: str
    resource: Resource

    def detect(self, images: Sequence[Image.Image]) -> list[Scored]: ...


@region_sources.add("detector")
def detector(argument: str, count: int) -> RegionSource:
    """What an object detector finds, most confident first; torchvision or transformers, by name or path."""
    if not argument:
        raise UsageError("--regions detector needs a model: detector:NAME or detector:PATH")
    model: Model = Torchvision(argument) if argument.startswith(TORCHVISION) else Transformers(argument)
    return Detector(model, count)


class Detector:
    """The most confident boxes of a detector; a picture in which it finds nothing is looked at whole."""

    def __init__(self, model: Model, count: int) -> None:
        self._model = model
        self._count = count
        self.resource = model.resource

    @property
    def signature(self) -> str:
        return f"{self._model.name}-{self._count}@{self.resource.digest}"

    def propose(self, pictures: Sequence[Picture]) -> list[list[Box]]:
        found: list[list[Box]] = []
        for start in range(0, len(pictures), BATCH):
            some = pictures[start : start + BATCH]
            images = [picture.crop() for picture in some]
            for picture, image, boxes in zip(some, images, self._model.detect(images), strict=True):
                found.append(self._best(boxes, image.size, picture.size))
        return found

    def _best(self, boxes: Scored, seen: tuple[int, int], size: tuple[int, int]) -> list[Box]:
        across, down = size[0] / seen[0], size[1] / seen[1]
        best: list[Box] = []
        for _, (x0, y0, x1, y1) in sorted(boxes, key=lambda pair: -pair[0]):
            box = (
                max(0.0, x0 * across),
                max(0.0, y0 * down),
                min(float(size[0]), x1 * across),
                min(float(size[1]), y1 * down),
            )
            if box[2] - box[0] >= 1 and box[3] - box[1] >= 1:
                best.append(box)
            if len(best) == self._count:
                break
        return best or [(0.0, 0.0, float(size[0]), float(size[1]))]


class Transformers:
    """DETR, YOLOS, RT-DETR and their like."""

    def __init__(self, name: str) -> None:
        self._torch = extra("torch", "torch")
        transformers = extra("transformers", "torch")
        resource, (self._processor, model) = load_pretrained(
            "detector",
            name,
            transformers.AutoImageProcessor.from_pretrained,
            transformers.AutoModelForObjectDetection.from_pretrained,
        )
        self._device = device()
        self._model: Any = model.eval().to(self._device)
        self.resource = replace(resource, device=self._device)
        self.name = str(model.config.model_type)

    def detect(self, images: Sequence[Image.Image]) -> list[Scored]:
        # One by one: batches are padded to the largest picture, and neighbours must not change what is found.
        return [self._detect(image) for image in images]

    def _detect(self, image: Image.Image) -> Scored:
        torch = self._torch
        with torch.inference_mode():
            batch = self._processor(images=image, return_tensors="pt").to(self._device)
            found = self._processor.post_process_object_detection(
                self._model(**batch), threshold=0.0, target_sizes=[(image.height, image.width)]
            )[0]
        return [
            (float(score), tuple(box))
            for score, box in zip(found["scores"].tolist(), found["boxes"].tolist(), strict=True)
        ]


def torchvision_models() -> Any:
    """torchvision's models; a build that does not fit the installed PyTorch is told in one line."""
    try:
        return extra("torchvision.models", "detector")
    except RuntimeError as fault:  # its operators are missing
        raise UsageError(
            f"torchvision and PyTorch do not fit each other ({str(fault).splitlines()[0]}): install builds of one "
            "kind, both for this processor or both for the same CUDA"
        ) from None


class Torchvision:
    """Faster R-CNN, RetinaNet, SSD and their like, with their published weights."""

    def __init__(self, name: str) -> None:
        self._torch = extra("torch", "torch")
        models = torchvision_models()
        try:
            weights = models.get_model_weights(name).DEFAULT
            model = models.get_model(name, weights=weights)
        except ValueError:
            raise UsageError(f"torchvision has no detector '{name}'") from None
        except OSError as fault:
            raise UsageError(f"the weights of torchvision's {name} cannot be fetched ({fault})") from None
        self._transform = weights.transforms()
        self._device = device()
        self._model: Any = model.eval().to(self._device)
        self.name = name
        fetched = Path(self._torch.hub.get_dir()) / "checkpoints" / Path(weights.url).name
        self.resource = replace(Resource.file(fetched, name), device=self._device)

    def detect(self, images: Sequence[Image.Image]) -> list[Scored]:
        with self._torch.inference_mode():
            found = [self._model([self._transform(image).to(self._device)])[0] for image in images]
        return [
            [(float(s), tuple(b)) for s, b in zip(one["scores"].tolist(), one["boxes"].tolist(), strict=True)]
            for one in found
        ]
