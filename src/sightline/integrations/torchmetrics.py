"""Sightline's metrics as torchmetrics': `update`, `compute`, `reset`, in a MetricCollection, over many processes.

>>> from sightline.integrations.torchmetrics import CLIPScore  # doctest: +SKIP
>>> metric = CLIPScore()  # doctest: +SKIP
>>> metric.update(images, captions)  # doctest: +SKIP
>>> metric.compute()  # doctest: +SKIP

A metric that looks at all items together (CIDEr's idf, GROOViST's theta, BLEU of a corpus) keeps the items until
`compute`; any other scores what `update` brings and keeps the scores.
"""

import io
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from PIL import Image

import sightline
from sightline.errors import UsageError, extra
from sightline.integrations.texts import items_of, needs_all, scores_of
from sightline.metrics import make_metric

torch = extra("torch", "torch")
if TYPE_CHECKING:
    from torchmetrics import Metric
else:
    Metric = extra("torchmetrics", "integrations").Metric


class SightlineMetric(Metric):
    """Any metric of Sightline by its name with options, as `groovist:weights=idf`.

    `options` are those of `sightline.score`: `encoder`, `regions`, `theta`, … `compute` gives the number that is
    published (the corpus-level value where there is one, else the mean), or with `per_item` every item's score, NaN
    where there is none, in the order of the updates, process by process. `failures` then holds the reasons, `signature`
    how it was measured.
    """

    full_state_update = False
    is_differentiable = False

    def __init__(
        self, metric: str, *, per_item: bool = False, options: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.metric, self.per_item, self.options = metric, per_item, dict(options or {})
        self._counts_faults = make_metric(metric).lower_is_better
        self.failures: dict[int, str] = {}
        self.signature = ""
        self._whole = needs_all(metric)
        self._holder = sightline.Holder()
        if self._whole:  # items as bytes, one behind the other: what processes can exchange are tensors
            self.add_state("packed", default=[], dist_reduce_fx="cat")
            self.add_state("lengths", default=[], dist_reduce_fx="cat")
        else:
            self.add_state("scores", default=[], dist_reduce_fx="cat")

    @property
    def higher_is_better(self) -> bool:
        return not self._counts_faults

    def update(
        self, texts: Sequence[str] | str, images: Any = None, references: Iterable[Any] | None = None
    ) -> None:
        """Texts with their pictures (paths, PIL images, tensors C x H x W; or a list for a story) and references."""
        texts = [texts] if isinstance(texts, str) else list(texts)
        items = items_of(texts, None if images is None else pictures_of(images, len(texts)), references)
        if self._whole:
            rows = [
                msgspec.msgpack.encode({**item, "images": [kept(image) for image in item["images"]]})
                for item in items
            ]
            data = np.frombuffer(b"".join(rows), np.uint8).copy()
            self.packed.append(torch.from_numpy(data).to(self.device))
            self.lengths.append(
                torch.tensor([len(row) for row in rows], dtype=torch.int64, device=self.device)
            )
        else:
            found = scores_of(items, self.metric, holder=self._holder, **self.options)
            self._tell(found.failures, sum(map(len, self.scores)), found.signature, len(items))
            self.scores.append(torch.tensor(found.by_item, dtype=torch.float64, device=self.device))

    def compute(self) -> Any:
        """The number, or every item's score. NaN where no item could be scored."""
        if self._whole:
            items = self._items()
            if not items:
                return torch.tensor(torch.nan, dtype=torch.float64, device=self.device)
            self.failures = {}
            found = scores_of(items, self.metric, holder=self._holder, **self.options)
            self._tell(found.failures, 0, found.signature, len(items))
            value, scores = found.value, torch.tensor(found.by_item, dtype=torch.float64, device=self.device)
            return scores if self.per_item else torch.tensor(value, dtype=torch.float64, device=self.device)
        scores = joined(self.scores, torch.float64, self.device)
        return scores if self.per_item else scores.nanmean()

    def reset(self) -> None:
        super().reset()
        self.failures = {}

    def _items(self) -> list[dict[str, Any]]:
        data = joined(self.packed, torch.uint8, self.device).cpu().numpy().tobytes()
        items, start = [], 0
        for number, length in enumerate(joined(self.lengths, torch.int64, self.device).tolist(), 1):
            items.append({**msgspec.msgpack.decode(data[start : start + length]), "id": str(number)})
            start += length
        return items

    def _tell(self, failures: dict[int, str], before: int, signature: str, among: int) -> None:
        self.signature = signature
        self.failures |= {place + before: reason for place, reason in failures.items()}
        if failures:
            first = next(iter(failures.values()))
            warnings.warn(
                f"{self.metric}: {len(failures)} of {among} items could not be scored ({first})", stacklevel=3
            )

    def __getstate__(self) -> dict[str, Any]:
        """For copies and other processes: what is loaded stays here."""
        return {name: value for name, value in super().__getstate__().items() if name != "_holder"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._holder = sightline.Holder()


class CLIPScore(SightlineMetric):
    """`clipscore` with torchmetrics' order of arguments: `update(images, text)`.

    On CLIPScore's own scale, 2.5 x max(0, cosine); torchmetrics' own class gives 100 x max(0, cosine).
    """

    def __init__(
        self,
        encoder: str = "pocket",
        *,
        per_item: bool = False,
        options: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(
            "clipscore", per_item=per_item, options={"encoder": encoder, **(options or {})}, **kwargs
        )

    def update(self, images: Any, text: Sequence[str] | str) -> None:  # type: ignore[override]
        super().update(text, images)


def joined(parts: Any, kind: Any, device: Any) -> Any:
    """A state of lists as one tensor: torchmetrics joins it itself where processes exchanged it."""
    parts = parts if isinstance(parts, list) else [parts]
    return torch.cat(parts) if parts else torch.zeros(0, dtype=kind, device=device)


def pictures_of(images: Any, count: int) -> list[Any]:
    """One entry for each text, tensors as arrays that Sightline reads."""
    if isinstance(images, torch.Tensor):
        images = [images] if images.ndim == 3 else list(images)
    elif isinstance(images, str | bytes | Image.Image) or not isinstance(images, Iterable):
        images = [images]
    found = [
        [array(one) for one in image] if isinstance(image, list | tuple) else array(image) for image in images
    ]
    if len(found) != count:
        raise UsageError(
            f"{count} texts, but {len(found)} images: one for each text, or a list of lists for stories"
        )
    return found


def array(image: Any) -> Any:
    """A tensor C x H x W as an array H x W x C of bytes; anything else as it is."""
    if not isinstance(image, torch.Tensor):
        return image
    if image.ndim != 3 or image.shape[0] not in (1, 3):
        raise UsageError(
            f"a tensor of the shape {tuple(image.shape)} is no picture; give C x H x W with 1 or 3 channels"
        )
    values = image.detach().cpu()
    if values.is_floating_point():
        if float(values.min()) < 0 or float(values.max()) > 1:
            raise UsageError(
                "a picture of floating-point numbers lies in 0..1; undo its normalisation, or give uint8"
            )
        values = (values * 255).round()
    whole = values.to(torch.uint8).permute(1, 2, 0).numpy()
    return np.repeat(whole, 3, axis=2) if whole.shape[2] == 1 else whole


def kept(image: Any) -> Any:
    """A picture as something that bytes can hold: its path, or a lossless file of it."""
    if isinstance(image, bytes | str):
        return image
    if isinstance(image, Image.Image | np.ndarray):
        out = io.BytesIO()
        (image if isinstance(image, Image.Image) else Image.fromarray(image)).save(out, "PNG")
        return out.getvalue()
    return str(image)
