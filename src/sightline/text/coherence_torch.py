"""Order models through transformers: any sequence classifier, or the published layout (encoder, dropout,
linear).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sightline.errors import UsageError, extra
from sightline.hub import device, pretrained_files, quiet
from sightline.resources import Resource
from sightline.text.pairs import Floats, SentencePair, batches_by_width, sigmoid

BATCH_PIECES = 2048
LONGEST_PAIR = 256
"""Pieces of a pair that are read; each sentence may have half of them."""

FOLLOWS = ("follow", "in_order", "in order", "next", "coheren", "positive")
"""What the label for sentences in order may be called; where none is, it is the last one."""


class TorchCoherence:
    """A model of sentence pairs by name or path, on the processor it finds."""

    def __init__(self, spec: str) -> None:
        self._torch = extra("torch", "torch")
        transformers = extra("transformers", "torch")
        folder, weights = _place(spec)
        quiet()
        try:
            config = transformers.AutoConfig.from_pretrained(folder)
            self._tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
            self._device = device()
            classifies = any("SequenceClassification" in name for name in config.architectures or ())
            if classifies and weights is None:
                self._model = transformers.AutoModelForSequenceClassification.from_pretrained(folder)
                self._follows = _label(config)
            else:
                state = _state(weights or _weights_in(Path(folder)))
                self._model, self._follows = pooled_classifier(config, state, folder), -1
        except UsageError:
            raise
        except Exception as fault:  # transformers raises whatever its parts raise
            reason = str(fault).strip().split("\n")[0]
            raise UsageError(f"--coherence {spec}: cannot be loaded ({reason})") from None
        self._model.to(self._device).eval()
        self._name = str(config.model_type)
        found = pretrained_files(folder, weights) or Resource(spec, ())
        self.resource = replace(found, given=spec, device=self._device)
        places = getattr(config, "max_position_embeddings", LONGEST_PAIR)
        self.longest = (min(LONGEST_PAIR, places - 2) - 4) // 2

    @property
    def signature(self) -> str:
        return f"{self._name}@{self.resource.digest}"

    def cut(self, sentence: str) -> bool:
        return len(self._pieces(sentence)) > self.longest

    def probabilities(self, pairs: Sequence[SentencePair]) -> Floats:
        read = {s: self._shortened(s) for s in dict.fromkeys(s for pair in pairs for s in pair)}
        rows = [self._tokenizer(read[a], read[b]) for a, b in pairs]
        found = np.zeros(len(pairs))
        for batch in batches_by_width([len(row["input_ids"]) for row in rows], BATCH_PIECES):
            feed = self._tokenizer.pad([rows[row] for row in batch], return_tensors="pt").to(self._device)
            with self._torch.inference_mode():
                logits = self._model(**feed).logits.double().cpu().numpy()
            found[batch] = _probability(logits, self._follows)
        return found

    def _pieces(self, sentence: str) -> list[int]:
        ids: list[int] = self._tokenizer(sentence, add_special_tokens=False)["input_ids"]
        return ids

    def _shortened(self, sentence: str) -> str:
        ids = self._pieces(sentence)
        return sentence if len(ids) <= self.longest else str(self._tokenizer.decode(ids[: self.longest]))


def pooled_classifier(config: Any, state: Mapping[str, Any], where: str) -> Any:
    """A model in the published layout from its weights."""
    inside, head = split_state(state, where)
    encoder = extra("transformers", "torch").AutoModel.from_config(config)
    missing, _ = encoder.load_state_dict(inside, strict=False)
    missing = [key for key in missing if not key.endswith("position_ids")]
    if missing:
        raise UsageError(f"{where}: the weights lack {missing[0]} and {len(missing) - 1} others")
    network = pooled_network(encoder, len(head["bias"]))
    network.head.load_state_dict(head)
    return network


def pooled_network(encoder: Any, outputs: int = 1, dropout: float = 0.4) -> Any:
    """The published layout: the encoder's pooled vector (equation 4), dropout, one linear layer (equation
    5).
    """
    torch, transformers = extra("torch", "torch"), extra("transformers", "torch")

    class Pooled(torch.nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.encoder = encoder
            self.dropout = torch.nn.Dropout(dropout)
            self.head = torch.nn.Linear(encoder.config.hidden_size, outputs)

        def forward(self, **feed: Any) -> Any:
            logits = self.head(self.dropout(self.encoder(**feed).pooler_output))
            return transformers.modeling_outputs.SequenceClassifierOutput(logits=logits)

    return Pooled()


def split_state(state: Mapping[str, Any], where: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """An encoder's weights and the one linear layer's, whatever both are called."""
    words = [key for key in state if key.endswith("embeddings.word_embeddings.weight")]
    if len(words) != 1:
        raise UsageError(f"{where}: no encoder with word embeddings among the weights")
    prefix = words[0].removesuffix("embeddings.word_embeddings.weight")
    inside = {key.removeprefix(prefix): value for key, value in state.items() if key.startswith(prefix)}
    outside = {key: value for key, value in state.items() if not (prefix and key.startswith(prefix))}
    heads = [key for key, value in outside.items() if key.endswith(".weight") and value.shape[0] in (1, 2)]
    heads = [key for key in heads if not key.startswith("embeddings.")]
    if len(heads) != 1:
        raise UsageError(f"{where}: expected one linear layer with one or two outputs beside the encoder")
    name = heads[0].removesuffix("weight")
    return inside, {"weight": state[f"{name}weight"], "bias": state[f"{name}bias"]}


def _place(spec: str) -> tuple[str, Path | None]:
    """The folder (or hub name) and, where the user named one, the file of weights."""
    path = Path(spec)
    if not path.is_file():
        return spec, None
    if not (path.parent / "config.json").is_file():
        raise UsageError(f"--coherence {spec}: put the encoder's config.json and tokeniser beside it")
    return str(path.parent), path


def _weights_in(folder: Path) -> Path:
    kinds = ("*.safetensors", "*.pt", "*.pth", "*.bin")
    found = [path for kind in kinds for path in sorted(folder.glob(kind))]
    if not found:
        raise UsageError(f"--coherence {folder}: neither a sequence classifier nor a file of weights")
    return found[0]


def _state(path: Path) -> dict[str, Any]:
    if path.suffix == ".safetensors":
        return dict(extra("safetensors.torch", "torch").load_file(path))
    found = extra("torch", "torch").load(path, map_location="cpu", weights_only=True)
    for key in ("state_dict", "model_state_dict"):
        found = found.get(key, found)
    return dict(found)


def _label(config: Any) -> int:
    names = {number: str(name).lower() for number, name in config.id2label.items()}
    for number, name in names.items():
        if any(word in name for word in FOLLOWS) and "not" not in name:
            return int(number)
    return -1


def _probability(logits: Any, follows: int) -> Floats:
    """One output: its sigmoid. Several: the softmax of the one that says so."""
    if logits.shape[1] == 1:
        return sigmoid(logits[:, 0])
    top = np.exp(logits - logits.max(axis=1, keepdims=True))
    share: Floats = top[:, follows] / top.sum(axis=1)
    return share
