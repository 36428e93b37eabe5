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

from sightline.encoders.rater import cosine_curve
from sightline.train.rater.pairs import RatedSet

Floats = NDArray[np.float64]
CURVE = 4
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
"""Between these the validation pictures choose."""


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

    def times(self, theta: Floats) -> Floats:
        beta, w_i, w_t, W = unpacked(theta, self.width)
        through = self.image @ W
        pair = np.einsum("nd,nd->n", through[self.picture], self.text[self.caption])
        found: Floats = (
            self.curve @ beta + (self.image @ w_i)[self.picture] + (self.text @ w_t)[self.caption] + pair
        )
        return found

    def transposed(self, v: Floats) -> Floats:
        table = sparse.csr_matrix((v, (self.picture, self.caption)), shape=(len(self.image), len(self.text)))
        W = self.image.T @ (table @ self.text)
        parts = (self.curve.T @ v, self.image.T @ (self.pick_i.T @ v), self.text.T @ (self.pick_t.T @ v))
        return np.concatenate([*parts, W.ravel()])


def unpacked(theta: Floats, width: int) -> tuple[Floats, Floats, Floats, Floats]:
    ends = np.cumsum([CURVE, width, width])
    beta, w_i, w_t, W = np.split(theta, ends)
    return beta, w_i, w_t, W.reshape(width, width)


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
    return dict(zip(("beta", "w_i", "w_t", "W"), unpacked(theta, width), strict=True))
