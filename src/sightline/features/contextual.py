"""Word pieces in context, each with its best match on the other side: what BERTScore is made of."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log
from typing import Any

from sightline.errors import Unscorable, UsageError, extra
from sightline.features.base import Feature, Features, Fit, Statistic, Tools


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


@lru_cache(maxsize=1)
def _load(name: str) -> tuple[Any, Any]:
    transformers = extra("transformers", "torch")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(name)
        model = transformers.AutoModel.from_pretrained(name).eval()
    except (OSError, ValueError) as fault:
        reason = str(fault).splitlines()[0]
        raise UsageError(
            f"bertscore:model={name} cannot be loaded ({reason}); give a folder or a cached name"
        ) from None
    return tokenizer, model


@dataclass(frozen=True)
class ContextualMatches(Feature[MatchedAll]):
    """Greedy matching of the text's pieces with those of each reference, in a transformer's hidden states."""

    model: str
    layer: int = -1
    value = MatchedAll

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[MatchedAll | Unscorable]:
        found: list[MatchedAll | Unscorable] = []
        for got in batch:
            references = [text for text in got.item.references if text.strip()]
            if not references or not got.item.whole_text.strip():
                found.append(Unscorable("the text has no words" if references else "there are no references"))
                continue
            ids, rows = self._encode(got.item.whole_text)
            pairs = []
            for text in references:
                other_ids, others = self._encode(text)
                cosine = rows @ others.T
                best, their_best = cosine.max(axis=1).tolist(), cosine.max(axis=0).tolist()
                pairs.append(Matched(ids, tuple(best), other_ids, tuple(their_best)))
            found.append(MatchedAll(tuple(pairs)))
        return found

    def _encode(self, text: str) -> tuple[tuple[int, ...], Any]:
        """Ids and unit vectors of a text's pieces, one text at a time so that neighbours change nothing."""
        return _encode(self.model, self.layer, text)

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"model": self.model, "layer": str(self.layer)}


@lru_cache(maxsize=4096)
def _encode(name: str, layer: int, text: str) -> tuple[tuple[int, ...], Any]:
    torch = extra("torch", "torch")
    tokenizer, model = _load(name)
    limit = min(tokenizer.model_max_length, getattr(model.config, "max_position_embeddings", 512))
    given = tokenizer(
        text, return_tensors="pt", truncation=True, max_length=limit, return_special_tokens_mask=True
    )
    keep = given.pop("special_tokens_mask")[0] == 0
    with torch.inference_mode():
        states = model(**given, output_hidden_states=True).hidden_states[layer][0][keep]
    rows = torch.nn.functional.normalize(states, dim=-1).numpy()
    return tuple(given["input_ids"][0][keep].tolist()), rows


@dataclass(frozen=True)
class PieceIdf(Statistic[dict[int, float]]):
    """How rare each piece is among the references: log((N + 1) / (df + 1))."""

    model: str
    layer: int = -1
    name = "idf"

    def needs(self) -> tuple[Feature[Any], ...]:
        return (ContextualMatches(self.model, self.layer),)

    def fit(self, corpus: Iterable[Features], tools: Tools) -> Fit[dict[int, float]]:
        (feature,) = self.needs()
        frequency: dict[int, int] = {}
        documents = 0
        for got in corpus:
            if got.failure(feature) is None:
                for reference in got[feature].references:
                    documents += 1
                    for piece in set(reference.theirs):
                        frequency[piece] = frequency.get(piece, 0) + 1
        idf = {piece: log((documents + 1) / (times + 1)) for piece, times in frequency.items()}
        return Fit({**idf, -1: log(documents + 1)}, "corpus")
