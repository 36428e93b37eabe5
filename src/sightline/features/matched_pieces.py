"""Word pieces in context, each with its best match on the other side: what BERTScore is made of."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import Unscorable, UsageError, extra
from sightline.features.base import Feature, Features, Fit, Statistic, Tools
from sightline.hub import device, load_pretrained

TOGETHER = 64
"""Texts that go through the model at once."""
REMEMBERED = 4096


@dataclass(frozen=True)
class Matched:
    """One text against one reference: piece ids, and each piece's best cosine on the other side."""

    mine: tuple[int, ...]
    mine_best: tuple[float, ...]
    theirs: tuple[int, ...]
    theirs_best: tuple[float, ...]


@dataclass(frozen=True)
class MatchedAll:
    references: tuple[Matched, ...]


@dataclass(frozen=True)
class Encoded:
    """A text in a model's hidden states."""

    ids: tuple[int, ...]
    """Of its own pieces, the model's marks left out."""
    words: NDArray[np.bool_]
    """Which rows are its own pieces."""
    rows: NDArray[np.float32]
    """Unit vectors of all pieces, the model's marks included."""


class ContextModel:
    """A transformer whose hidden states stand for pieces in context."""

    def __init__(self, name: str) -> None:
        self._torch = extra("torch", "torch")
        transformers = extra("transformers", "torch")
        resource, (self._tokenizer, model) = load_pretrained(
            "model of bertscore",
            name,
            transformers.AutoTokenizer.from_pretrained,
            transformers.AutoModel.from_pretrained,
        )
        self._model: Any = model.eval().to(device())
        self.resource = replace(resource, device=device())
        self._remembered: dict[tuple[int, str], Encoded] = {}
        """What it made of the latest texts: references and captions come again and again."""

    @property
    def signature(self) -> str:
        return f"{self._model.config.model_type}@{self.resource.digest}"

    def encode(self, layer: int, texts: Collection[str]) -> dict[str, Encoded]:
        """Texts of equal length go through the model together: nothing is padded, so neighbours change nothing."""
        torch, remembered = self._torch, self._remembered
        depth = self._model.config.num_hidden_layers
        if not -depth <= layer <= depth:
            raise UsageError(f"bertscore:layer={layer}: the model has {depth} layers")
        longest = getattr(self._model.config, "max_position_embeddings", 512)
        limit = min(self._tokenizer.model_max_length, longest)
        found = {text: remembered[layer, text] for text in texts if (layer, text) in remembered}
        by_length: dict[int, list[tuple[str, list[int], list[int]]]] = {}
        for text in sorted(set(texts) - found.keys()):
            made = self._tokenizer(text, truncation=True, max_length=limit, return_special_tokens_mask=True)
            ids, marks = made["input_ids"], made["special_tokens_mask"]
            by_length.setdefault(len(ids), []).append((text, ids, marks))
        for alike in by_length.values():
            for start in range(0, len(alike), TOGETHER):
                some = alike[start : start + TOGETHER]
                with torch.inference_mode():
                    given = torch.tensor([ids for _, ids, _ in some], device=self._model.device)
                    states = self._model(input_ids=given, output_hidden_states=True).hidden_states[layer]
                    rows = torch.nn.functional.normalize(states, dim=-1).cpu().numpy()
                for (text, ids, marks), row in zip(some, rows, strict=True):
                    words = np.array(marks) == 0
                    found[text] = Encoded(tuple(np.array(ids)[words].tolist()), words, row)
        for text, value in found.items():  # the latest at the end
            remembered.pop((layer, text), None)
            remembered[layer, text] = value
        for key in list(remembered)[: max(len(remembered) - REMEMBERED, 0)]:
            del remembered[key]
        return found


@dataclass(frozen=True)
class ContextualMatches(Feature[MatchedAll]):
    """Greedy matching of the text's pieces with those of each reference, in a transformer's hidden states."""

    model: str
    layer: int = -1
    value = MatchedAll

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[MatchedAll | Unscorable]:
        texts = [
            (got.item.whole_text.strip(), [text.strip() for text in got.item.references if text.strip()])
            for got in batch
        ]
        every = {text for own, others in texts for text in (own, *others)}
        known = tools.held(ContextModel, self.model).encode(self.layer, every)
        return [self._match(own, others, known) for own, others in texts]

    def _match(
        self, own: str, others: Sequence[str], known: Mapping[str, Encoded]
    ) -> MatchedAll | Unscorable:
        if not own or not others:
            return Unscorable("the text has no words" if others else "there are no references")
        mine = known[own]
        pairs = []
        for text in others:
            theirs = known[text]
            # As in the published program, a word may match the other text's start or end mark.
            cosine = mine.rows @ theirs.rows.T
            best, their_best = cosine.max(axis=1)[mine.words], cosine.max(axis=0)[theirs.words]
            pairs.append(Matched(mine.ids, tuple(best.tolist()), theirs.ids, tuple(their_best.tolist())))
        return MatchedAll(tuple(pairs))

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"model": tools.held(ContextModel, self.model).signature, "layer": str(self.layer)}


@dataclass(frozen=True)
class PieceIdf(Statistic[dict[int, float]]):
    """How rare each piece is among the references: log((N + 1) / (df + 1))."""

    model: str
    layer: int = -1
    name = "idf"
    counts_documents = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (ContextualMatches(self.model, self.layer),)

    def partial(self, corpus: Iterable[Features]) -> tuple[int, dict[int, int]]:
        """How many references, and in how many of them each piece is."""
        (feature,) = self.needs()
        frequency: Counter[int] = Counter()
        documents = 0
        for got in corpus:
            if got.failure(feature) is None and self not in got.again:
                for reference in got[feature].references:
                    documents += 1
                    frequency.update(set(reference.theirs))
        return documents, dict(frequency)

    def merged(self, parts: Sequence[tuple[int, dict[int, int]]]) -> tuple[int, dict[int, int]]:
        frequency: Counter[int] = Counter()
        for _, counts in parts:
            frequency.update(counts)
        return sum(documents for documents, _ in parts), dict(frequency)

    def fitted(self, part: tuple[int, dict[int, int]], tools: Tools) -> Fit[dict[int, float]]:
        documents, frequency = part
        idf = {piece: log((documents + 1) / (times + 1)) for piece, times in frequency.items()}
        return Fit({**idf, -1: log(documents + 1)}, "corpus")

    def save(self, value: dict[int, float]) -> dict[str, NDArray[Any]]:
        pieces = sorted(value)
        return {"pieces": np.array(pieces, np.int64), "idf": np.array([value[piece] for piece in pieces])}

    def load(self, saved: Any) -> dict[int, float]:
        return dict(zip(saved["pieces"].tolist(), saved["idf"].tolist(), strict=True))
