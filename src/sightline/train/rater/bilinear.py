"""The bilinear rater's fit: ridge regression on the cosine's curve, the picture, the text and their outer product.

With penalties it is the posterior mean of a Gaussian process with the kernel k_i <i, i'> + k_t <t, t'> +
k_p <i, i'> <t, t'>. The 65,000 weights of the outer product are never multiplied out for each pair: pairs share
pictures and captions, so a product with the design costs a few small matrix products, and conjugate gradients need
a hundred of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from sightline.encoders.rater import cosine_curve, standard
from sightline.train.rater.pairs import RatedSet

Floats = NDArray[np.float64]
CURVE = 4
READ = 500.0
"""Penalty of what was read of the pairs. With none it counted more, to no gain on Expert, and a loss on Composite."""
SMALLEST = 1e-6
FLAT = 1e-3
"""Penalty of the cosine's curve: next to none."""


@dataclass(frozen=True)
class BilinearRecipe:
    """How far each part may move, as variances before any rating is seen; the noise of a pair's mean rating is 1."""

    image: float = 0.01
    text: float = 0.02
    product: float = 0.1


CHOICES = (
    BilinearRecipe(product=0.03),
    BilinearRecipe(product=0.1),
    BilinearRecipe(product=0.3),
    BilinearRecipe(image=0.02, text=0.1),
)
READ_CHOICES = (
    BilinearRecipe(image=0.002, text=0.002, product=0.05),
    BilinearRecipe(image=0.002, text=0.002, product=0.1),
    BilinearRecipe(image=0.0005, text=0.0005, product=0.05),
)
"""Between these, where pairs are read too: single pictures and texts then matter less."""


class _Design:
    """Products with the pairs' design matrix and its transpose."""

    def __init__(self, one: RatedSet) -> None:
        self.image, self.text = one.image.astype(np.float64), one.text.astype(np.float64)
        self.width = self.image.shape[1]
        self.curve = cosine_curve(one.cosine)
        n, rows = len(one), np.arange(len(one))
        self.pick_i = sparse.csr_matrix((np.ones(n), (rows, one.picture)), shape=(n, len(self.image)))
        self.pick_t = sparse.csr_matrix((np.ones(n), (rows, one.caption)), shape=(n, len(self.text)))
        self.picture, self.caption = one.picture, one.caption
        self.read = (
            np.zeros((n, 0)) if one.read is None else standard(one.read.astype(np.float64), *spread_of(one))
        )

    def times(self, theta: Floats) -> Floats:
        beta, w_i, w_t, W, w_r = unpacked(theta, self.width)
        through = self.image @ W
        pair = np.einsum("nd,nd->n", through[self.picture], self.text[self.caption])
        found: Floats = (
            self.curve @ beta
            + (self.image @ w_i)[self.picture]
            + (self.text @ w_t)[self.caption]
            + pair
            + self.read @ w_r
        )
        return found

    def transposed(self, v: Floats) -> Floats:
        table = sparse.csr_matrix((v, (self.picture, self.caption)), shape=(len(self.image), len(self.text)))
        W = self.image.T @ (table @ self.text)
        parts = (self.curve.T @ v, self.image.T @ (self.pick_i.T @ v), self.text.T @ (self.pick_t.T @ v))
        return np.concatenate([*parts, W.ravel(), self.read.T @ v])


def unpacked(theta: Floats, width: int) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    ends = np.cumsum([CURVE, width, width, width * width])
    beta, w_i, w_t, W, w_r = np.split(theta, ends)
    return beta, w_i, w_t, W.reshape(width, width), w_r


def spread_of(one: RatedSet) -> tuple[Floats, Floats]:
    """Mean and spread of what was read of the pairs; what never changes is left where it is."""
    read = np.asarray(one.read, np.float64)
    spread = read.std(axis=0)
    return read.mean(axis=0), np.where(spread > SMALLEST, spread, 1.0)


def fit(pairs: RatedSet, recipe: BilinearRecipe, tolerance: float = 1e-4) -> dict[str, Floats]:
    """The weights for the pairs' mean ratings; few pairs leave little but the cosine's curve."""
    design = _Design(pairs)
    width = design.width
    penalty = np.concatenate(
        [
            np.full(CURVE, FLAT),
            np.full(width, 1 / recipe.image),
            np.full(width, 1 / recipe.text),
            np.full(width * width, 1 / recipe.product),
            np.full(design.read.shape[1], READ),
        ]
    )
    inverse = np.linalg.inv(design.curve.T @ design.curve + FLAT * np.eye(CURVE))

    def normal(theta: Floats) -> Floats:
        return penalty * theta + design.transposed(design.times(theta))

    def preconditioned(r: Floats) -> Floats:
        return np.concatenate([inverse @ r[:CURVE], r[CURVE:] / penalty[CURVE:]])

    size = len(penalty)
    theta, _ = cg(
        LinearOperator((size, size), matvec=normal),
        design.transposed(pairs.mean),
        rtol=tolerance,
        maxiter=1000,
        M=LinearOperator((size, size), matvec=preconditioned),
    )
    *plain, w_r = unpacked(theta, width)
    found = dict(zip(("beta", "w_i", "w_t", "W"), plain, strict=True))
    if pairs.read is not None:
        mean, spread = spread_of(pairs)
        found |= {"w_r": w_r, "read_mean": mean, "read_spread": spread}
    return found
