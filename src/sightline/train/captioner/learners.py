"""Captioners that can learn: how likely each makes a text for a picture, and how it is saved so that it loads again."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.errors import UsageError, extra
from sightline.generate.captioners.clipcap import GPT2, WEIGHTS, ClipCap
from sightline.generate.captioners.image_to_text import ImageToText
from sightline.generate.clipcap_network import begun
from sightline.generate.decoding import AT_ONCE, in_groups
from sightline.generate.trained import FILE
from sightline.hub import load_pretrained

LONGEST = 60
"""Tokens of a caption that are learned."""


class Learner(Protocol):
    network: nn.Module
    """What learns."""
    ends: tuple[str, ...]
    """Tokens that end its texts, where the tokeniser's own end does not."""

    def inputs(self, pictures: Sequence[Image.Image]) -> Tensor:
        """What the network sees of pictures; does not depend on what is learned."""
        ...

    def losses(self, seen: Tensor, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """For each text minus its log-probability, the end included, and how many tokens that are."""
        ...

    def lengths(self, texts: Sequence[str]) -> Tensor:
        """How many tokens of each text are learned, its end included."""
        ...

    def save(self, folder: Path) -> None: ...


class Coder:
    """Texts as padded rows of tokens, each with its end."""

    def __init__(self, tokenizer: Any, end: int, device: str) -> None:
        self._tokenizer, self._end, self._device = tokenizer, end, device

    def __call__(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Tokens, and which are more than padding."""
        rows = self._rows(texts)
        ids = torch.full((len(rows), max(map(len, rows))), self._end)
        mask = torch.zeros_like(ids)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        return ids.to(self._device), mask.to(self._device)

    def lengths(self, texts: Sequence[str]) -> Tensor:
        return torch.tensor([len(row) for row in self._rows(texts)])

    def _rows(self, texts: Sequence[str]) -> list[list[int]]:
        coded = [
            self._tokenizer(" ".join(text.split()), add_special_tokens=False)["input_ids"] for text in texts
        ]
        return [[*row[:LONGEST], self._end] for row in coded]


def summed(logits: Tensor, ids: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    loss = F.cross_entropy(logits.float().transpose(1, 2), ids, reduction="none") * mask
    return loss.sum(1), mask.sum(1)


class ImageToTextLearner:
    """GIT, BLIP, or an encoder with a decoder."""

    ends: tuple[str, ...] = ()

    def __init__(self, name: str) -> None:
        self._home = ImageToText(name)
        self.network: Any = self._home.model.float()
        self._start = self._begins()
        self._code = Coder(self._home.tokenizer, self._home.ends[0], self._home.device)

    def _begins(self) -> int:
        """The token that a text begins after, as the model generates."""
        config = self.network.config
        places = {
            "git": [config],
            "blip": [getattr(config, "text_config", None)],
            "vision-encoder-decoder": [self.network.generation_config, config],
        }
        names = ("decoder_start_token_id", "bos_token_id")
        for place in places.get(self._home.kind, ()):
            for name in names:
                if isinstance(found := getattr(place, name, None), int):
                    return found
        known = ", ".join((*places, "clipcap"))
        raise UsageError(f"a {self._home.kind} cannot be trained here; what can is {known}")

    def inputs(self, pictures: Sequence[Image.Image]) -> Tensor:
        found = self._home.pictures(images=list(pictures), return_tensors="pt")["pixel_values"]
        return found.to(self._home.device)

    def losses(self, seen: Tensor, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        ids, mask = self._code(texts)
        before = torch.cat((torch.full_like(ids[:, :1], self._start), ids[:, :-1]), 1)
        looked = torch.cat((torch.ones_like(mask[:, :1]), mask[:, :-1]), 1)
        given = (
            {"decoder_input_ids": before, "decoder_attention_mask": looked}
            if self._home.kind == "vision-encoder-decoder"
            else {"input_ids": before, "attention_mask": looked}
        )
        logits = self.network(pixel_values=seen, **given).logits
        return summed(logits[:, -ids.shape[1] :], ids, mask)

    def lengths(self, texts: Sequence[str]) -> Tensor:
        return self._code.lengths(texts)

    def save(self, folder: Path) -> None:
        for part in (self.network, self._home.tokenizer, self._home.pictures):
            part.save_pretrained(folder)


class ClipCapLearner:
    """ClipCap: the mapping network and GPT-2 learn, CLIP stays as it is."""

    def __init__(self, home: ClipCap) -> None:
        self._home = home
        self.network: Any = home.network.float()
        self.ends: tuple[str, ...] = (str(home.tokenizer.eos_token),)
        self._code = Coder(home.tokenizer, int(home.tokenizer.eos_token_id), home.device)

    def inputs(self, pictures: Sequence[Image.Image]) -> Tensor:
        """In groups of one size: a vector does not depend on what it is computed beside."""
        with torch.no_grad():
            found = [
                self._home.vectors(group)[:meant].float()
                for group, meant in in_groups(pictures, AT_ONCE["cpu"])
            ]
        return torch.cat(found)

    def losses(self, seen: Tensor, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        ids, mask = self._code(texts)
        return summed(self.network(seen, ids, mask), ids, mask)

    def lengths(self, texts: Sequence[str]) -> Tensor:
        return self._code.lengths(texts)

    def save(self, folder: Path) -> None:
        for part in (self._home.clip, self._home.pictures):
            part.save_pretrained(folder / "clip")
        for part in (self.network.gpt.config, self._home.tokenizer):
            part.save_pretrained(folder / "gpt2")
        save_tensors(folder / WEIGHTS, self.network.state())


def learner(base: str, clip: str | None, gpt2: str | None, folder: Path, seed: int) -> Learner:
    """The captioner of this name, ready to learn.

    `clipcap:mlp` and `clipcap:transformer` are new mapping networks between a CLIP and a GPT-2; they are put together
    in the folder.
    """
    kind, _, name = base.partition(":")
    if kind == "clipcap" and name in ("mlp", "transformer"):
        return ClipCapLearner(ClipCap(_new_clipcap(name, clip, gpt2, folder / "base", seed)))
    if clip or gpt2:
        raise UsageError("--clip and --gpt2 belong to --base clipcap:mlp or clipcap:transformer")
    if kind == "clipcap" and name:
        return ClipCapLearner(ClipCap(Path(name)))
    if kind in ("git", "blip", "transformers") and name:
        found = ImageToTextLearner(name)
        actual = found.network.config.model_type
        if kind not in (actual, "transformers"):
            raise UsageError(f"{name} is a {actual}, not a {kind}: write transformers:{name}")
        return found
    raise UsageError(
        f"--base {base}: what can be trained is git:NAME, blip:NAME, transformers:NAME, clipcap:PATH, or a new "
        "clipcap:mlp or clipcap:transformer"
    )


def _new_clipcap(kind: str, clip: str | None, gpt2: str | None, folder: Path, seed: int) -> Path:
    """A ClipCap whose mapping knows nothing yet, as a folder that loads."""
    transformers = extra("transformers", "torch")
    _, (seeing, pictures) = load_pretrained(
        "CLIP", clip or "openai/clip-vit-base-patch32",
        transformers.AutoModel.from_pretrained, transformers.AutoImageProcessor.from_pretrained,
    )  # fmt: skip
    _, (gpt, tokenizer) = load_pretrained(
        "GPT-2", gpt2 or GPT2,
        transformers.GPT2LMHeadModel.from_pretrained, transformers.AutoTokenizer.from_pretrained,
    )  # fmt: skip
    torch.manual_seed(seed)
    folder.mkdir(parents=True, exist_ok=True)
    for part in (seeing, pictures):
        part.save_pretrained(folder / "clip")
    for part in (gpt.config, tokenizer):
        part.save_pretrained(folder / "gpt2")
    network = begun(gpt, int(seeing.config.projection_dim), kind)
    save_tensors(folder / WEIGHTS, network.state())
    (folder / FILE).write_text(json.dumps({"ends": [tokenizer.eos_token]}))
    return folder


def save_tensors(path: Path, tensors: Mapping[str, Tensor], about: Mapping[str, str] | None = None) -> None:
    """A file that appears when it is whole."""
    from sightline.io.results import whole

    content = extra("safetensors.torch", "train").save(
        {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()},
        dict(about or {}) or None,
    )
    with whole(path) as file:
        file.write(content)
