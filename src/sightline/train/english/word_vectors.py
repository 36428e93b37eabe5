"""Word vectors from a teacher: what a BERT-like model knows of a word before it reads any context."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sightline.errors import UsageError, extra
from sightline.train.texts import COCO_CAPTIONS, coco_captions, told_stories

Floats = NDArray[np.float32]


class PieceTable:
    """The teacher's word pieces and their input vectors. A word is the mean of its pieces."""

    def __init__(self, folder: Path) -> None:
        safetensors = extra("safetensors.numpy", "train")
        tokenizers = extra("tokenizers", "train")
        try:
            weights = safetensors.load_file(folder / "model.safetensors")
            self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        except Exception as fault:  # the readers raise their own kinds for a missing or broken file
            raise UsageError(f"{folder}: not the folder of a BERT-like teacher ({fault})") from None
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        name = next(name for name in weights if name.endswith("word_embeddings.weight"))
        self.vectors: Floats = weights[name].astype(np.float32)
        pieces = self._tokenizer.get_vocab()
        self.pieces: list[str] = sorted(pieces, key=pieces.__getitem__)

    @property
    def whole_words(self) -> list[str]:
        """Pieces that are words of their own, the frequent ones first."""
        return [piece for piece in self.pieces if piece.isalpha() and piece.isascii()]

    def ids(self, words: Sequence[str]) -> list[list[int]]:
        coded = self._tokenizer.encode_batch(list(words), add_special_tokens=False)
        return [encoding.ids for encoding in coded]

    def of_words(self, words: Sequence[str]) -> Floats:
        rows = [
            self.vectors[ids].mean(axis=0) if ids else np.zeros(self.vectors.shape[1])
            for ids in self.ids(words)
        ]
        return np.stack(rows).astype(np.float32)


def reduce(vectors: Floats, dimensions: int) -> Floats:
    """Principal components, scaled to a mean squared length of `dimensions`."""
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    axes *= np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])[
        :, None
    ]  # SVD leaves the sign open
    reduced = centred @ axes[:dimensions].T
    scale = np.sqrt(dimensions / np.mean((reduced**2).sum(axis=1)))
    return np.ascontiguousarray(reduced * scale, dtype=np.float32)


def story_words(folder: Path) -> Counter[str]:
    """How often words stand in the training-side stories and captions of the data folder."""
    counts: Counter[str] = Counter()
    for text in training_texts(folder):
        counts.update(text.lower().split())
    return counts


def training_texts(folder: Path) -> Iterator[str]:
    """Sentences and captions that may be learned from: never those that anything is measured on."""
    for sentences in told_stories(folder):
        yield from sentences
    for said in coco_captions(folder / COCO_CAPTIONS).values():
        yield from said
