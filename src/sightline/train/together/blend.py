"""From judgements and the pocket's cosine to one probability, fitted on pictures that nothing was learned from."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.encoders.pocket import Pocket
from sightline.train.pocket_captioner.maps import Maps
from sightline.train.together.examples import FALSE, FOREIGN, OWN, Corpus, Text
from sightline.train.together.fit import Grades, judge, own_given
from sightline.train.together.network import JUDGEMENTS, TogetherNetwork

Floats = NDArray[np.float64]
Looked = tuple[Corpus, Maps, Sequence[Sequence[Text]]]
PENALTY = 1e-3
MASKED = 150
"""Pictures whose captions lose a word, to see what that usually changes."""
SELDOM = 1 / 7
ORDER = {OWN: 0.2, FOREIGN: 0.7, FALSE: 0.1}
"""What counts for the order of texts: graded ones above all."""
TRUTH = {OWN: 0.5, FOREIGN: 0.25, FALSE: 0.25}
"""What counts for the probability: as many true texts as false ones."""


def fitted(
    network: TogetherNetwork, looked: Sequence[Looked], grades: Grades, narrow: bool = True
) -> dict[str, Any]:
    """What `match.json` says. First the weights, by how close texts are to what people say; then their scale and
    shift, by whose the texts are."""
    parts = []
    pocket = Pocket()
    for corpus, maps, texts in looked:
        found = judge(network, corpus, maps, texts, range(len(corpus)), narrow=narrow)
        pictures = pocket.in_space(np.asarray(maps.vector, np.float32))[[views[0] for views in corpus.views]]
        cosine = cosines(pictures, texts, pocket)
        parts.append((np.column_stack([found.judged.astype(np.float64), cosine]), found.kind, found.near))
    x, kind, near = (np.concatenate(column) for column in zip(*parts, strict=True))
    graded = own_given(torch.from_numpy(near), grades.centre, grades.width).double().numpy()
    weights, _ = logistic(x, np.where(kind == FALSE, 0.0, graded), _heavy(kind, ORDER), rising=True)
    true = np.where(kind == OWN, 1.0, np.where(kind == FALSE, 0.0, graded))
    scale, shift = logistic((x @ weights)[:, None], true, _heavy(kind, TRUTH), rising=True)
    weights = weights * scale[0]
    named = dict(zip((*JUDGEMENTS, "cosine"), (round(float(w), 5) for w in weights), strict=True))
    corpus, maps, _ = looked[0]
    masking = usual_change(network, corpus, maps, weights[: len(JUDGEMENTS)], narrow)
    return {"weights": named, "shift": round(shift, 5), "masking": round(masking, 5)}


def usual_change(
    network: TogetherNetwork, corpus: Corpus, maps: Maps, weights: Floats, narrow: bool = True
) -> float:
    """What a piece of a true caption changes of the log-odds, the least one in seven of them left out.

    A text with a word masked out claims less, so most words seem to speak against it; what goes further than this does.
    """
    texts = []
    for picture in range(min(MASKED, len(corpus))):
        n = corpus.own(picture)[0]
        ids = corpus.ids[n]
        rows = [ids, *([*ids[:k], -1, *ids[k + 1 :]] for k in range(len(ids)))]
        texts.append([Text(corpus.captions[n], row, OWN, 1.0) for row in rows if row])
    found = judge(network, corpus, maps, texts, range(len(texts)), narrow=narrow)
    odds = found.judged.astype(np.float64) @ weights
    changes, start = [], 0
    for row in texts:
        own = odds[start : start + len(row)]
        changes.append(own[:1] - own[1:])
        start += len(row)
    return float(np.quantile(np.concatenate(changes), SELDOM))


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
