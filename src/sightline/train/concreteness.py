"""The concreteness lexicon: from what a sentence model makes of a word to what people said of it.

Small networks read a frozen teacher's layers for the bare word and predict the mean rating and its
variance. Each network leaves out one fold, and those folds say how far the predictions may be trusted. A
tenth of the rated words is never learned from, so that the shipped lexicon can be checked on them.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.errors import extra
from sightline.io.results import ResultFolder
from sightline.text.concreteness import ratings_from
from sightline.text.lexicon import HIGHEST, LOWEST, STEP
from sightline.train.english.treebank import read_trees
from sightline.train.english.word_vectors import PieceTable, story_words

Floats = NDArray[np.float32]
VERSION = "1.1.0"
FOLDS = 3


@dataclass(frozen=True)
class ConcretenessRecipe:
    """What the training may vary. The defaults made the embedded lexicon."""

    epochs: int = 12
    hidden: int = 256
    learning_rate: float = 1e-3
    batch: int = 256
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


def train(
    data: Path, teacher: Path, out: Path, recipe: ConcretenessRecipe, progress: Progress
) -> dict[str, float]:
    """Learn from the ratings, write `lexicon.npz` to `out`, and return the correlations on held-out words."""
    with ResultFolder(out) as results:
        return _learned(data, teacher, results, recipe, progress)


def _learned(
    data: Path, teacher: Path, results: ResultFolder, recipe: ConcretenessRecipe, progress: Progress
) -> dict[str, float]:
    ratings = read_ratings(data)
    pieces = PieceTable(teacher)
    learned = [word for word in ratings if not is_held_out(word)]
    words = sorted({*vocabulary(data, pieces), *(word for word in ratings if " " not in word)})
    every = [*words, *(word for word in ratings if " " in word)]
    progress(f"{len(words)} words; {len(learned)} ratings to learn from")
    x = features(every, teacher, progress)
    row = {word: number for number, word in enumerate(every)}
    y = np.array([ratings[word] for word in learned], np.float32)
    value, spread = fit(
        x, [row[word] for word in learned], y, [_slot(word, 7) % FOLDS for word in learned], recipe, progress
    )
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
    known = [is_known(word, ratings) for word in words]
    with results.staged() as place:
        _save(place / "lexicon.npz", words, known, value, spread, pieces.pieces, piece_value, piece_spread)
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


def features(words: Sequence[str], teacher: Path, progress: Progress) -> Floats:
    """The teacher's layers for each bare word, each the mean over the word's pieces."""
    torch, transformers = extra("torch", "train"), extra("transformers", "train")
    model = transformers.AutoModel.from_pretrained(str(teacher)).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(teacher))
    order = sorted(range(len(words)), key=lambda n: (len(words[n]), words[n]))
    layers = range(0, model.config.num_hidden_layers + 1, 2)  # before the first layer, and after every second
    found = np.zeros((len(words), len(layers) * model.config.hidden_size), np.float32)
    for start in range(0, len(order), 512):
        chunk = order[start : start + 512]
        coded = tokenizer([words[n] for n in chunk], padding=True, return_tensors="pt")
        with torch.inference_mode():
            states = model(**coded, output_hidden_states=True).hidden_states
        place = torch.arange(coded["input_ids"].shape[1])[None, :]
        inside = (place >= 1) & (place < coded["attention_mask"].sum(1, keepdim=True) - 1)
        mask = inside.float()[..., None]
        means = [(states[layer] * mask).sum(1) / mask.sum(1).clamp(min=1) for layer in layers]
        found[chunk] = torch.cat(means, dim=1).numpy()
        if start // 512 % 10 == 0:
            progress(f"{start + len(chunk)} of {len(words)} words read")
    return found


def fit(
    x: Floats,
    rows: Sequence[int],
    y: Floats,
    folds: Sequence[int],
    recipe: ConcretenessRecipe,
    progress: Progress,
) -> tuple[Floats, Floats]:
    """Ratings and uncertainties of every row of `x`: one network per fold left out, averaged."""
    mean, deviation = x[rows].mean(axis=0), x[rows].std(axis=0) + 1e-6
    scaled = (x - mean) / deviation
    place, fold = np.array(rows), np.array(folds)
    values, variances = [], []
    z2, count = 0.0, 0
    for left_out in range(FOLDS):
        inside = fold != left_out
        value, variance = _network(scaled, place[inside], y[inside], recipe, recipe.seed + left_out)
        outside = place[~inside]
        z2 += float(np.sum((value[outside] - y[~inside]) ** 2 / variance[outside]))
        count += len(outside)
        correlation = np.corrcoef(value[outside], y[~inside])[0, 1]
        progress(f"network {left_out + 1} of {FOLDS}: correlation {correlation:.4f} on the fold it left out")
        values.append(value)
        variances.append(variance)
    spread = np.sqrt((np.mean(variances, axis=0) * z2 / count) + np.var(values, axis=0))
    return np.clip(np.mean(values, axis=0), LOWEST, HIGHEST), spread


def _network(
    x: Floats, rows: NDArray[Any], y: Floats, recipe: ConcretenessRecipe, seed: int
) -> tuple[Floats, Floats]:
    torch: Any = extra("torch", "train")
    nn = torch.nn
    torch.manual_seed(seed)
    net = nn.Sequential(
        *(nn.Dropout(0.2), nn.Linear(x.shape[1], recipe.hidden), nn.GELU()),
        *(nn.Dropout(0.4), nn.Linear(recipe.hidden, 128), nn.GELU()),
        *(nn.Dropout(0.2), nn.Linear(128, 2)),
    )
    inputs, targets = torch.from_numpy(x[rows]), torch.from_numpy(y)
    steps = recipe.epochs * -(-len(rows) // recipe.batch)
    optimizer = torch.optim.AdamW(net.parameters(), recipe.learning_rate, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.learning_rate, total_steps=steps)
    middle = (LOWEST + HIGHEST) / 2
    for _ in range(recipe.epochs):
        for batch in torch.randperm(len(rows)).split(recipe.batch):
            said = net(inputs[batch])
            value, log_variance = said[:, 0] + middle, said[:, 1].clamp(-4, 2)
            missed = (value - targets[batch]) ** 2
            likelihood = 0.5 * log_variance + 0.5 * missed.detach() / log_variance.exp()
            loss = missed.mean() + 0.1 * likelihood.mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
    net.eval()
    with torch.inference_mode():
        said = torch.cat([net(part) for part in torch.from_numpy(x).split(4096)])
    return (said[:, 0] + middle).numpy(), said[:, 1].clamp(-4, 2).exp().numpy()


def fit_pieces(
    pieces: PieceTable, words: Sequence[str], y: Floats, recipe: ConcretenessRecipe
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
