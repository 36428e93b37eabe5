"""From judgements and the pocket's cosine to one probability, fitted on pictures that nothing was learned from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.encoders.pocket import Pocket
from sightline.train.pocket_captioner.maps import Maps
from sightline.train.together.examples import FALSE, FOREIGN, OWN, Corpus, Text
from sightline.train.together.fit import Grades, Judged, judge, own_given
from sightline.train.together.network import JUDGEMENTS, TogetherNetwork

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Part:
    """Pictures that a network did not learn from, and what it says of their texts."""

    network: TogetherNetwork
    corpus: Corpus
    maps: Maps
    texts: Sequence[Sequence[Text]]
    """Of every picture of the corpus."""
    pictures: Sequence[int]
    judged: Judged


PENALTY = 1e-3
MASKED = 80
"""Pictures whose captions lose a word, to see what that usually changes."""
SELDOM = 1 / 7
"""Of the words of true captions so many are taken to speak against them, and so many for them."""
NEAR = 0.4
"""What `near` counts for beside the cosine, both brought to one width.

What fitted held-out captions best was more, and counted `exact` too; on captions by machines that was worse than the
cosine alone.
"""
TRUTH = {OWN: 0.5, FOREIGN: 0.25, FALSE: 0.25}
"""What counts for the probability: as many true texts as false ones."""


def fitted(parts: Sequence[Part], grades: Grades, narrow: bool = True) -> dict[str, Any]:
    """What `match.json` says: weights, with scale and shift by whose the texts are, and what masking changes."""
    pocket = Pocket()
    columns, kinds, nears = [], [], []
    for part in parts:
        rows = [part.corpus.views[n][0] for n in part.pictures]
        shown = pocket.in_space(np.asarray(part.maps.vector, np.float32)[rows])
        cosine = cosines(shown, [part.texts[n] for n in part.pictures], pocket)
        columns.append(np.column_stack([part.judged.judged.astype(np.float64), cosine]))
        kinds.append(part.judged.kind)
        nears.append(part.judged.near)
    x, kind, near = np.concatenate(columns), np.concatenate(kinds), np.concatenate(nears)
    graded = own_given(torch.from_numpy(near), grades.centre, grades.width).double().numpy()
    spread = x[kind != FALSE].std(0)
    weights = np.array([NEAR / spread[0], 0.0, 0.0, 1 / spread[3]])
    true = np.where(kind == OWN, 1.0, np.where(kind == FALSE, 0.0, graded))
    scale, shift = logistic((x @ weights)[:, None], true, _heavy(kind, TRUTH), rising=True)
    weights = weights * scale[0]
    named = dict(zip((*JUDGEMENTS, "cosine"), (round(float(w), 5) for w in weights), strict=True))
    changes = np.concatenate([masked_changes(part, weights[: len(JUDGEMENTS)], narrow) for part in parts])
    return {
        "weights": named,
        "shift": round(shift, 5),
        "masking": [round(float(np.quantile(changes, q)), 5) for q in (SELDOM, 1 - SELDOM)],
    }


def masked_changes(part: Part, weights: Floats, narrow: bool = True) -> Floats:
    """What each piece of true captions changes of the log-odds.

    A text with a word masked out claims less, so most words seem to speak against it; what goes further than nearly all
    of these does, and what goes further the other way speaks for it.
    """
    texts = []
    pictures = list(part.pictures)[:MASKED]
    for picture in pictures:
        n = part.corpus.own(picture)[0]
        ids = part.corpus.ids[n]
        rows = [ids, *([*ids[:k], -1, *ids[k + 1 :]] for k in range(len(ids)))]
        texts.append([Text(part.corpus.captions[n], row, OWN, 1.0) for row in rows if row])
    found = judge(part.network, part.corpus, part.maps, texts, pictures, narrow=narrow)
    odds = np.split(found.judged.astype(np.float64) @ weights, np.cumsum([len(row) for row in texts])[:-1])
    return np.concatenate([own[:1] - own[1:] for own in odds])


def _heavy(kind: NDArray[Any], shares: Mapping[int, float]) -> Floats:
    """A weight for each text, so that every kind has its share."""
    counts = {one: max(1, int((kind == one).sum())) for one in shares}
    return np.array([len(kind) * shares[one] / counts[one] for one in kind.tolist()])


def logistic(x: Floats, y: Floats, weight: Floats, rising: bool = False) -> tuple[Floats, float]:
    """Weights and shift for the columns as they are; targets may lie between 0 and 1. `rising`: no weight below 0."""
    mean, spread = x.mean(0), x.std(0) + 1e-9
    rows = torch.from_numpy((x - mean) / spread)
    line = torch.zeros(x.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([line], max_iter=300, line_search_fn="strong_wolfe")
    aim, heavy = torch.from_numpy(y), torch.from_numpy(weight)

    def slopes() -> torch.Tensor:
        return F.softplus(line[1:]) if rising else line[1:]

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        logits = rows @ slopes() + line[0]
        off = F.binary_cross_entropy_with_logits(logits, aim, heavy) + PENALTY * (slopes() ** 2).sum()
        off.backward()
        return off

    optimiser.step(loss)
    weights = slopes().detach().numpy() / spread
    return weights, float(line[0].detach()) - float(weights @ mean)


def cosines(pictures: NDArray[np.float32], texts: Sequence[Sequence[Text]], pocket: Pocket) -> Floats:
    """The pocket's cosine of each text and its picture."""
    vectors = pocket.encode_texts([one.text for row in texts for one in row])
    of = np.repeat(np.arange(len(texts)), [len(row) for row in texts])
    return np.einsum("nd,nd->n", vectors, pictures[of]).astype(np.float64)
