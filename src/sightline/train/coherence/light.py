"""The recipe of the embedded order model: only the upper layers learn, over states that are computed once.

Three losses: neighbours in order and swapped; pairs further apart in a story (weighing less); and, where
somebody published a RoViST-C for a story, the story's mean probability against it, through a temperature of
its own.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.errors import UsageError
from sightline.io.results import ResultFolder
from sightline.text.wordpiece import WordPiece
from sightline.train.coherence.export import write_coherence
from sightline.train.coherence.network import CoherenceNetwork, from_bert
from sightline.train.coherence.stories import CoherenceStory

Ints = NDArray[np.int64]
Log = Callable[[dict[str, float]], None]


@dataclass(frozen=True)
class LightRecipe:
    """As the embedded model was trained."""

    epochs: int = 6
    batch: int = 16
    """Stories."""
    rate: float = 1.5e-4
    decay: float = 0.01
    label: float = 0.97
    far: float = 0.5
    published: float = 1.0
    drop: float = 0.08
    """Share of the pieces that are not seen, anew for each batch."""
    averaging: float = 0.995
    longest: int = 48
    """Pieces of a sentence in training."""
    patience: int = 3
    seed: int = 0


class States:
    """The lower layers' states of every sentence, in one long array."""

    def __init__(
        self, network: CoherenceNetwork, words: WordPiece, sentences: Sequence[str], longest: int
    ) -> None:
        ends = words.id_of("[CLS]"), words.id_of("[SEP]")
        coded = [[ends[0], *words.ids(sentence)[:longest], ends[1]] for sentence in sentences]
        self.length = np.array([len(line) for line in coded])
        self.start = np.concatenate([[0], np.cumsum(self.length)])
        self.place = {sentence: number for number, sentence in enumerate(sentences)}
        width = network.segment.shape[1]
        self.states = torch.zeros(int(self.start[-1]), width, dtype=torch.bfloat16)
        order = np.argsort(self.length, kind="stable")
        network.eval()
        with torch.inference_mode():
            for begin in range(0, len(order), 128):
                rows = order[begin : begin + 128]
                ids = np.zeros((len(rows), int(self.length[rows].max())), np.int64)
                for line, row in zip(ids, rows, strict=True):
                    line[: self.length[row]] = coded[row]
                found = network.read(torch.from_numpy(ids), torch.from_numpy(_mask(self.length[rows])))
                for state, row in zip(found, rows, strict=True):
                    self.states[self.start[row] : self.start[row + 1]] = state[: self.length[row]].bfloat16()

    def pair(self, a: Ints, b: Ints) -> tuple[Any, Any, Any]:
        """`[CLS] a [SEP] b [SEP]` as states, segments and mask."""
        long_a = self.length[a][:, None]
        mask = _mask(self.length[a] + self.length[b] - 1)
        at = np.arange(mask.shape[1])[None]
        place = np.where(at < long_a, self.start[a][:, None] + at, self.start[b][:, None] + 1 + at - long_a)
        segments = torch.from_numpy((at >= long_a).astype(np.int64))
        return self.states[torch.from_numpy(place * mask)].float(), segments, torch.from_numpy(mask)


def train_light(
    network: CoherenceNetwork,
    words: WordPiece,
    training: Sequence[CoherenceStory],
    validation: Sequence[CoherenceStory],
    recipe: LightRecipe,
    log: Log,
) -> list[dict[str, float]]:
    """Fine-tune the upper layers in place; the network ends as the average of the best epoch's weights."""
    if not training or not validation:
        raise UsageError(
            "too few stories: training and validation each need a story of two sentences or more"
        )
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    sentences = list(dict.fromkeys(s for story in (*training, *validation) for s in story.sentences))
    states = States(network, words, sentences, recipe.longest)
    numbered = [np.array([states.place[s] for s in story.sentences]) for story in training]
    sharpness = nn.Parameter(torch.tensor(0.7))
    learned = [*network.upper, sharpness]
    optimiser = torch.optim.AdamW(
        [
            {
                "params": [p for p in network.upper if p.dim() > 1],
                "weight_decay": recipe.decay,
                "factor": 1.0,
            },
            {"params": [p for p in network.upper if p.dim() <= 1], "weight_decay": 0.0, "factor": 1.0},
            {"params": [sharpness], "weight_decay": 0.0, "factor": 20.0},
        ],
        lr=recipe.rate,
        betas=(0.9, 0.98),
    )
    average = [p.detach().clone() for p in learned]
    total = recipe.epochs * -(-len(training) // recipe.batch)
    best, kept, waited, step = float("inf"), average, 0, 0
    history: list[dict[str, float]] = []
    for epoch in range(1, recipe.epochs + 1):
        network.train()
        losses = []
        for batch in _batches(numbered, states.length, recipe.batch, rng):
            step += 1
            rate = recipe.rate * min(1.0, step / 60) * max(0.02, 1 - step / total)
            for group in optimiser.param_groups:
                group["lr"] = rate * group["factor"]
            stories = [(numbered[n], training[n].score) for n in batch]
            loss = _loss(network, states, stories, sharpness, recipe, rng)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimiser.step()
            keep = min(recipe.averaging, (1 + step) / (10 + step))
            with torch.no_grad():
                torch._foreach_lerp_(average, [p.data for p in learned], 1 - keep)
            losses.append(float(loss.detach()))
        present = _exchange(learned, average)
        history.append({"epoch": epoch, "loss": float(np.mean(losses)), **judge(network, states, validation)})
        log(history[-1])
        _exchange(learned, present)
        if history[-1]["validation_loss"] < best:
            best, kept, waited = history[-1]["validation_loss"], [p.clone() for p in average], 0
        else:
            waited += 1
            if waited >= recipe.patience:
                break
    _exchange(learned, kept)
    network.eval()
    return history


@torch.no_grad()
def judge(network: CoherenceNetwork, states: States, stories: Sequence[CoherenceStory]) -> dict[str, float]:
    """Accuracy and loss over neighbouring pairs, both orders read as in scoring."""
    network.eval()
    pairs = np.array(
        [(states.place[a], states.place[b]) for s in stories for a, b in pairwise(s.sentences) if a != b]
    )
    order = np.argsort(states.length[pairs].sum(axis=1), kind="stable")
    z = [
        (network(*states.pair(part[:, 0], part[:, 1])) - network(*states.pair(part[:, 1], part[:, 0]))) / 2
        for part in (pairs[order[begin : begin + 128]] for begin in range(0, len(order), 128))
    ]
    logits = torch.cat(z)
    return {
        "validation_loss": float(F.softplus(-logits).mean()),
        "accuracy": float((logits > 0).float().mean()),
    }


def _loss(
    network: CoherenceNetwork,
    states: States,
    stories: Sequence[tuple[Ints, float | None]],
    sharpness: Any,
    recipe: LightRecipe,
    rng: np.random.Generator,
) -> Any:
    near = np.concatenate([np.column_stack([s[:-1], s[1:]]) for s, _ in stories])
    counts = [len(s) - 1 for s, _ in stories]
    equal = near[:, 0] == near[:, 1]
    pairs, weight = near, (~equal).astype(np.float32)
    if recipe.far and (long := [s for s, _ in stories if len(s) > 2]):
        first = [int(rng.integers(len(s) - 2)) for s in long]
        far = [(s[i], s[int(rng.integers(i + 2, len(s)))]) for s, i in zip(long, first, strict=True)]
        pairs = np.concatenate([near, far])
        weight = np.concatenate([weight, np.full(len(far), recipe.far, np.float32)])
    a, b = pairs.T
    x, segments, mask = states.pair(np.concatenate([a, b]), np.concatenate([b, a]))
    seen = torch.rand(mask.shape) >= recipe.drop
    seen[:, 0] = True
    z1, z2 = network(x, segments, mask & seen).chunk(2)
    w, label = torch.from_numpy(weight), torch.full_like(z1, recipe.label)
    hard = F.binary_cross_entropy_with_logits(z1, label, reduction="none")
    hard = hard + F.binary_cross_entropy_with_logits(z2, 1 - label, reduction="none")
    loss = (hard * w).sum() / 2 / w.sum().clamp(min=1)
    known = [n for n, (_, score) in enumerate(stories) if score is not None]
    if not (recipe.published and known):
        return loss
    owner = torch.from_numpy(np.repeat(np.arange(len(stories)), counts))
    target = torch.tensor([stories[n][1] for n in known]).clamp(0.001, 0.999)
    p = torch.sigmoid(sharpness.exp() * (z1 - z2)[: len(near)] / 2) * torch.from_numpy(~equal)
    mean = torch.zeros(len(stories)).index_add(0, owner, p) / torch.tensor(counts)
    told = F.binary_cross_entropy(mean[known].clamp(1e-4, 1 - 1e-4), target, reduction="sum")
    return loss + recipe.published * told / len(stories)


def _batches(stories: Sequence[Ints], length: Ints, size: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Story numbers in batches of like sentence length, in random order."""
    order = rng.permutation(len(stories))
    batches: list[Ints] = []
    for begin in range(0, len(order), 64 * size):
        part = order[begin : begin + 64 * size]
        part = part[np.argsort([length[stories[n]].mean() for n in part], kind="stable")]
        batches += [part[x : x + size] for x in range(0, len(part), size)]
    rng.shuffle(batches)
    yield from batches


def _exchange(parameters: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Put values into parameters and give back what was there."""
    before = [p.detach().clone() for p in parameters]
    with torch.no_grad():
        for parameter, value in zip(parameters, values, strict=True):
            parameter.copy_(value)
    return before


def _mask(lengths: Ints) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = np.arange(lengths.max())[None] < lengths[:, None]
    return found


def kept_pieces(vocabulary: Sequence[str], words: WordPiece, sentences: Sequence[str]) -> list[int]:
    """The pieces a pruned vocabulary keeps: what the stories use, single characters, and common English."""
    used = {number for sentence in sentences for number in words.ids(sentence)}
    kept = []
    for number, piece in enumerate(vocabulary):
        bare = piece.removeprefix("##")
        special = piece.startswith("[") and piece.endswith("]") and len(piece) > 2
        plain = bare.isascii() and bare.isalpha()
        common = number < 13_500 or (piece.startswith("##") and number < 21_000 and len(bare) <= 5)
        if special:
            if piece in ("[PAD]", "[UNK]", "[CLS]", "[SEP]"):
                kept.append(number)
        elif number in used or (len(bare) == 1 and bare.isascii()) or (plain and common):
            kept.append(number)
    return kept


def train_folder(
    encoder: str,
    alone: int,
    training: Sequence[CoherenceStory],
    validation: Sequence[CoherenceStory],
    recipe: LightRecipe,
    out: ResultFolder,
    log: Log,
    *,
    longest: int = 100,
    temperature: float = 2.0,
    name: str | None = None,
) -> None:
    """From an encoder and stories to a folder that `--coherence` takes."""
    _, tokenizer = from_bert(encoder, alone, longest)
    vocabulary = tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    sentences = [sentence for story in (*training, *validation) for sentence in story.sentences]
    keep = kept_pieces(vocabulary, WordPiece(vocabulary), sentences)
    network, _ = from_bert(encoder, alone, longest, keep)
    words = WordPiece([vocabulary[number] for number in keep])
    history = train_light(network, words, training, validation, recipe, log)
    with out.staged() as folder:
        write_coherence(
            folder,
            network.exported(temperature),
            words.vocabulary,
            alone=alone,
            heads=network.heads,
            longest=len(network.places.weight) - 2,
            name=name or out.path.name,
        )
    out.json("training.json", {"recipe": asdict(recipe), "temperature": temperature, "history": history})
