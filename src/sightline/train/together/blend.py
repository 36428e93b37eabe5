"""From judgements and the pocket's cosine to one probability, fitted on pictures that nothing was learned from."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional as F  # noqa: N812 - the usual name

from sightline.encoders.pocket import Pocket
from sightline.train.pocket_captioner.maps import Maps
from sightline.train.together.examples import FALSE, FOREIGN, OWN, Corpus, Text
from sightline.train.together.fit import Judged, judge
from sightline.train.together.network import JUDGEMENTS, TogetherNetwork

Floats = NDArray[np.float64]
Looked = tuple[Corpus, Maps, Sequence[Sequence[Text]]]
PENALTY = 1e-3


def columns(found: Judged, cosine: Floats) -> Floats:
    """The judgements and the cosine of every text."""
    return np.column_stack([found.judged.astype(np.float64), cosine])


def logistic(x: Floats, y: Floats, weight: Floats) -> tuple[Floats, float]:
    """Weights and shift for the columns as they are; targets may lie between 0 and 1."""
    mean, spread = x.mean(0), x.std(0) + 1e-9
    rows = torch.from_numpy((x - mean) / spread)
    line = torch.zeros(x.shape[1] + 1, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.LBFGS([line], max_iter=200, line_search_fn="strong_wolfe")
    aim, heavy = torch.from_numpy(y), torch.from_numpy(weight)

    def loss() -> torch.Tensor:
        optimiser.zero_grad()
        off = F.binary_cross_entropy_with_logits(rows @ line[1:] + line[0], aim, heavy) + PENALTY * (line[1:] ** 2).sum()
        off.backward()
        return off

    optimiser.step(loss)
    found = line.detach().numpy()
    weights = found[1:] / spread
    return weights, float(found[0] - weights @ mean)


def fitted(network: TogetherNetwork, looked: Sequence[Looked], narrow: bool = True) -> dict[str, Any]:
    """What `match.json` says: the share of own texts among own, foreign and exchanged ones that look so."""
    x, y, weight = [], [], []
    pocket = Pocket()
    for corpus, maps, texts in looked:
        found = judge(network, corpus, maps, texts, range(len(corpus)), narrow=narrow)
        pictures = pocket.in_space(np.asarray(maps.vector, np.float32))[[views[0] for views in corpus.views]]
        x.append(columns(found, cosines(pictures, texts, pocket)))
        y.append((found.kind == OWN).astype(np.float64))
        # As many true texts as false ones, and of the false ones as many foreign as exchanged.
        counts = {kind: max(1, int((found.kind == kind).sum())) for kind in (OWN, FOREIGN, FALSE)}
        shares = {OWN: 0.5, FOREIGN: 0.25, FALSE: 0.25}
        weight.append(np.array([len(found.kind) * shares[kind] / counts[kind] for kind in found.kind.tolist()]))
    weights, shift = logistic(np.concatenate(x), np.concatenate(y), np.concatenate(weight))
    named = dict(zip((*JUDGEMENTS, "cosine"), (round(float(value), 5) for value in weights), strict=True))
    return {"weights": named, "shift": round(shift, 5)}


def cosines(pictures: NDArray[np.float32], texts: Sequence[Sequence[Text]], pocket: Pocket) -> Floats:
    """The pocket's cosine of each text and its picture."""
    vectors = pocket.encode_texts([one.text for row in texts for one in row])
    of = np.repeat(np.arange(len(texts)), [len(row) for row in texts])
    return np.einsum("nd,nd->n", vectors, pictures[of]).astype(np.float64)
