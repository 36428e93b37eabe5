"""The concreteness lexicon: from what a sentence model makes of a word to what people said of it.

Copies of a sentence model learn to predict the mean rating of a bare word and its variance. Each leaves out one
fold, and those folds say how far the predictions may be trusted. A tenth of the rated words is never learned from,
so that the shipped lexicon can be checked on them.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.text.concreteness import HIGHEST, LOWEST, ratings_from
from sightline.text.lexicon import STEP
from sightline.train.concreteness_network import NetworkRecipe, fit_network
from sightline.train.treebank import read_trees
from sightline.train.word_vectors import PieceTable, story_words

Floats = NDArray[np.float32]
VERSION = "2.0.0"
NETWORKS = 3
FOLDS = 7
"""Each network leaves out one fold of seven; by those it is known how far they may be off."""


@dataclass(frozen=True)
class Recipe:
    """What the training may vary. The defaults made the embedded lexicon."""

    network: NetworkRecipe = field(default_factory=NetworkRecipe)
    ridge: float = 300.0
    seed: int = 7


Progress = Callable[[str], None]


def read_ratings(data: Path) -> dict[str, float]:
    """Words and two-word expressions with their mean human rating."""
    return ratings_from(data / "concreteness.csv")


def is_held_out(word: str) -> bool:
    """One word in ten, chosen by its spelling, is never learned from."""
    return _slot(word, 10) == 0


def _slot(word: str, slots: int) -> int:
    return int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "big") % slots


def train(data: Path, teacher: Path, out: Path, recipe: Recipe, progress: Progress) -> dict[str, float]:
    """Learn from the ratings, write `lexicon.npz` to `out`, and return the correlations on held-out words."""
    ratings = read_ratings(data)
    pieces = PieceTable(teacher)
    learned = [word for word in ratings if not is_held_out(word)]
    words = sorted({*vocabulary(data, pieces), *(word for word in ratings if " " not in word)})
    every = [*words, *(word for word in ratings if " " in word)]
    progress(f"{len(words)} words; {len(learned)} ratings to learn from")
    row = {word: number for number, word in enumerate(every)}
    y = np.array([ratings[word] for word in learned], np.float32)
    value, spread = fit(teacher, learned, y, every, recipe, progress)
    piece_value, piece_spread = fit_pieces(pieces, learned, y, recipe)
    held = [word for word in ratings if is_held_out(word)]
    truth = np.array([ratings[word] for word in held])
    by_pieces = np.array([np.mean(piece_value[ids]) if ids else 3.0 for ids in pieces.ids(held)])
    seen = np.array([row[word] for word in held])
    scores = {
        "held-out": float(np.corrcoef(value[seen], truth)[0, 1]),
        "held-out by pieces": float(np.corrcoef(by_pieces, truth)[0, 1]),
        "held-out error in deviations": float(np.sqrt(np.mean(((value[seen] - truth) / spread[seen]) ** 2))),
    }
    out.mkdir(parents=True, exist_ok=True)
    known = [is_known(word, ratings) for word in words]
    _save(out / "lexicon.npz", words, known, value, spread, pieces.pieces, piece_value, piece_spread)
    return scores


def vocabulary(data: Path, pieces: PieceTable) -> set[str]:
    """Words of stories, captions, the treebank and the teacher that people could be asked about."""
    counts = Counter(
        word.lower() for tree in read_trees(data / "ud_ewt_train.conllu.gz") for word in tree.words
    )
    counts += story_words(data)
    seen = {word for word in counts if word.isascii() and any(c.isalpha() for c in word) and len(word) <= 24}
    return {word for word in seen if word.replace("-", "").replace("'", "").isalpha()} | set(
        pieces.whole_words
    )


def fit(
    teacher: Path, learned: Sequence[str], y: Floats, every: Sequence[str], recipe: Recipe, progress: Progress
) -> tuple[Floats, Floats]:
    """Ratings and uncertainties of every word: one network per fold left out, averaged."""
    fold = np.array([_slot(word, FOLDS) for word in learned])
    place = {word: number for number, word in enumerate(every)}
    values, variances = [], []
    z2, count = 0.0, 0
    for left_out in range(NETWORKS):
        inside = np.flatnonzero(fold != left_out).tolist()
        value, variance = fit_network(
            teacher,
            [learned[n] for n in inside],
            y[inside],
            every,
            recipe.network,
            recipe.seed + left_out,
            progress,
        )
        outside = np.flatnonzero(fold == left_out).tolist()
        unseen = [place[learned[n]] for n in outside]
        z2 += float(np.sum((value[unseen] - y[outside]) ** 2 / variance[unseen]))
        count += len(unseen)
        correlation = np.corrcoef(value[unseen], y[outside])[0, 1]
        progress(
            f"network {left_out + 1} of {NETWORKS}: correlation {correlation:.4f} on the fold it left out"
        )
        values.append(value)
        variances.append(variance)
    spread = np.sqrt((np.mean(variances, axis=0) * z2 / count) + np.var(values, axis=0))
    return np.clip(np.mean(values, axis=0), LOWEST, HIGHEST), spread


def fit_pieces(
    pieces: PieceTable, words: Sequence[str], y: Floats, recipe: Recipe
) -> tuple[NDArray[np.float64], float]:
    """A rating for each word piece, so that their mean predicts a word's: ridge regression."""
    x = pieces.of_words(words).astype(np.float64)
    mean, middle = x.mean(axis=0), float(y.mean())
    scale = x.std()
    centred = (x - mean) / scale
    several = np.array([len(ids) > 1 for ids in pieces.ids(words)])
    fold = np.array([_slot(word, FOLDS) for word in words])
    missed = np.zeros(len(words))
    for left_out in range(FOLDS):
        inside = fold != left_out
        missed[~inside] = centred[~inside] @ _ridge(centred[inside], y[inside] - middle, recipe.ridge)
    missed -= y - middle
    weights = _ridge(centred, y - middle, recipe.ridge)
    value = middle + ((pieces.vectors - mean) / scale) @ weights
    return value, float(np.sqrt(np.mean(missed[several] ** 2)))


def _ridge(x: NDArray[np.float64], y: NDArray[Any], strength: float) -> NDArray[np.float64]:
    solved: NDArray[np.float64] = np.linalg.solve(x.T @ x + strength * np.eye(x.shape[1]), x.T @ y)
    return solved


INFLECTIONS = (
    ("s", ""),
    ("es", ""),
    ("ies", "y"),
    ("ves", "f"),
    ("ves", "fe"),
    ("ing", ""),
    ("ing", "e"),
    ("ed", ""),
)
SHORTEST_STEM = 3


def is_known(word: str, listed: Container[str]) -> bool:
    """Whether people were asked about the word, or about what it is a form of.

    The study lists words that most people know. Names, fragments and misspellings are not among them; by the
    published rule they do not weigh.
    """
    if word in listed:
        return True
    stems = [
        word.removesuffix(ending) + rest
        for ending, rest in INFLECTIONS
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST_STEM
    ]
    doubled = [stem[:-1] for stem in stems if len(stem) > SHORTEST_STEM and stem[-1] == stem[-2]]
    return any(stem in listed for stem in [*stems, *doubled])


def _save(
    path: Path,
    words: Sequence[str],
    known: Sequence[bool],
    value: Floats,
    spread: Floats,
    pieces: Sequence[str],
    piece_value: NDArray[np.float64],
    piece_spread: float,
) -> None:
    plain = [
        n
        for n, piece in enumerate(pieces)
        if piece.isascii() and any(c.isalpha() for c in piece) and piece[0] != "["
    ]
    shown = slice(len(words))
    np.savez_compressed(
        path,
        words=np.frombuffer("\n".join(words).encode(), np.uint8),
        known=np.packbits(np.array(known)),
        values=np.rint((value[shown] - LOWEST) / STEP).astype(np.uint8),
        spreads=np.clip(np.rint(spread[shown] / STEP), 1, 255).astype(np.uint8),
        pieces=np.frombuffer("\n".join(pieces[n] for n in plain).encode(), np.uint8),
        piece_values=piece_value[plain].astype(np.float16),
        spread=np.float64(piece_spread),
        version=np.array(VERSION),
    )
