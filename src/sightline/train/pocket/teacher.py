"""The teacher: a frozen sentence model gives every training text a vector, and every word piece one of its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

WORD_DIMENSIONS = 300


class Teacher:
    """A BERT-like sentence model (MiniLM) with mean pooling, loaded by name or path."""

    def __init__(self, name: str | Path, device: str) -> None:
        from transformers import AutoModel, AutoTokenizer

        self.device = device
        self.tokenizer = AutoTokenizer.from_pretrained(str(name))
        self.model = AutoModel.from_pretrained(str(name), dtype=torch.float32).to(device).eval()

    @torch.inference_mode()
    def _pool(self, ids: Any, mask: Any) -> Any:
        with torch.autocast(self.device, torch.bfloat16, enabled=self.device == "cuda"):
            hidden = self.model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        return nn.functional.normalize(mean, dim=-1)

    def embed(self, texts: Sequence[str], longest: int = 48, batch: int = 2048) -> tuple[Any, Any]:
        """Sentence vectors [n, d] and token ids [n, longest] (0 = padding), both on the device."""
        vectors, tokens = [], []
        for start in range(0, len(texts), batch):
            coded = self.tokenizer(
                list(texts[start : start + batch]), padding="max_length", truncation=True, max_length=longest
            )
            ids = torch.tensor(coded["input_ids"], device=self.device)
            mask = torch.tensor(coded["attention_mask"], device=self.device)
            width = int(mask.sum(1).max())
            vectors.append(self._pool(ids[:, :width], mask[:, :width]))
            tokens.append((ids * mask).int())
        return torch.cat(vectors), torch.cat(tokens)

    def kept_pieces(self) -> tuple[NDArray[np.int64], list[str]]:
        """Ids and texts of the word pieces an English text can hold; the first is padding, the second unknown."""
        pieces = self.tokenizer.convert_ids_to_tokens(range(len(self.tokenizer)))
        special = [self.tokenizer.pad_token, self.tokenizer.unk_token]
        plain = [
            (number, piece)
            for number, piece in enumerate(pieces)
            if piece.removeprefix("##").isascii() and not piece.startswith("[") and piece not in special
        ]
        numbers = [pieces.index(name) for name in special] + [number for number, _ in plain]
        return np.array(numbers), special + [piece for _, piece in plain]

    def piece_vectors(self, numbers: NDArray[np.int64]) -> NDArray[np.float32]:
        """Each piece as the teacher says it alone, reduced to 300 dimensions and scaled by how rarely it is a filler.

        Whitened principal components: the common direction of all pieces carries no meaning and is removed.
        """
        cls, sep = self.tokenizer.cls_token_id, self.tokenizer.sep_token_id
        rows = []
        for start in range(0, len(numbers), 4096):
            ids = torch.tensor(
                [[cls, int(n), sep] for n in numbers[start : start + 4096]], device=self.device
            )
            rows.append(self._pool(ids, torch.ones_like(ids)))
        vectors = torch.cat(rows)
        centred = vectors - vectors.mean(0)
        _, _, directions = torch.linalg.svd(centred[2:], full_matrices=False)
        reduced = centred @ directions[:WORD_DIMENSIONS].T
        reduced = reduced / reduced.std()
        reduced[0] = 0
        found: NDArray[np.float32] = reduced.float().cpu().numpy()
        return found
