"""Formulas that score a caption against its picture, from what a model says of both."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sightline.errors import UsageError
from sightline.metrics import chair as _chair
from sightline.metrics import clipscore as _clipscore
from sightline.metrics import pacs as _pacs
from sightline.metrics import tiger as _tiger
from sightline.metrics import unsupported as _unsupported


def clipscore(cosine: float) -> float:
    """CLIP-S = 2.5 x max(0, cosine) (Hessel et al. 2021).

    Arguments: `cosine` of the picture's and the caption's vectors. Raises nothing.

    >>> clipscore(0.3)
    0.75
    """
    return _clipscore.clipscore(cosine)


def refclipscore(cosine: float, reference_cosines: Sequence[float]) -> float:
    """RefCLIP-S, the harmonic mean of CLIP-S and the best reference's cosine (Hessel et al. 2021).

    Arguments: `cosine` of picture and caption; `reference_cosines` of the caption and each reference.
    Raises UsageError where there are no references.

    >>> round(refclipscore(0.3, [0.8, 0.6]), 4)
    0.7742
    """
    if not len(reference_cosines):
        raise UsageError("there are no references")
    return _clipscore.refclipscore(_clipscore.clipscore(cosine), reference_cosines)


def tiger(relevance: ArrayLike, references: ArrayLike) -> float:
    """TIGEr: half region rank similarity, half weight distribution similarity (Jiang et al. 2019).

    Arguments: `relevance`, how well the text matches each region of the picture (cosines, at least two regions);
    `references`, a row of the same for each reference.
    Raises UsageError where there are fewer than two regions, no reference, or rows of another length.

    >>> round(tiger([0.3, 0.2, 0.1], [[0.3, 0.1, 0.2], [0.4, 0.2, 0.1]]), 4)
    0.733
    """
    own, theirs = np.asarray(relevance, np.float64), np.atleast_2d(np.asarray(references, np.float64))
    if own.ndim != 1 or len(own) < 2:
        raise UsageError("relevance is a list: a number for each region, at least two")
    if not theirs.size or theirs.ndim != 2 or theirs.shape[1] != len(own):
        raise UsageError(f"references is a table: a row per reference, {len(own)} regions in each")
    return _tiger.tiger(own, theirs)


def pac_s(cosine: float) -> float:
    """PAC-S = 2 x max(0, cosine) of a CLIP fine-tuned with positive augmentation (Sarto et al. 2023).

    Arguments: `cosine` of the picture's and the caption's vectors. Raises nothing.

    >>> pac_s(0.3)
    0.6
    """
    return _pacs.pac_s(cosine)


def refpac_s(cosine: float, reference_cosines: Sequence[float]) -> float:
    """RefPAC-S, the harmonic mean of PAC-S and the best reference's cosine (Sarto et al. 2023).

    Arguments: `cosine` of picture and caption; `reference_cosines` of the caption and each reference.
    Raises UsageError where there are no references.

    >>> round(refpac_s(0.3, [0.8, 0.6]), 4)
    0.6857
    """
    if not len(reference_cosines):
        raise UsageError("there are no references")
    return _pacs.refpac_s(_pacs.pac_s(cosine), reference_cosines)


def chair(named: Sequence[str], there: Collection[str]) -> float:
    """CHAIR-i: the share of mentioned objects that are not on the picture (Rohrbach et al. 2018).

    Arguments: `named`, the class of each object the text mentions; `there`, the classes on the picture. Raises nothing.

    >>> chair(["dog", "dog", "cat", "person"], {"dog", "person"})
    0.25
    """
    return _chair.chair(named, there)


def unsupported(similarity: ArrayLike, threshold: float) -> float:
    """The share of phrases that no picture supports.

    Arguments: `similarity`, each phrase's best match over all regions, on CLIPScore's scale; the `threshold` below
    which nothing is seen.
    Raises UsageError where there is no phrase.

    >>> unsupported([0.8, 0.4, 0.7, 0.5], 0.58)
    0.5
    """
    rows = np.asarray(similarity, np.float64)
    if rows.ndim != 1 or not len(rows):
        raise UsageError("similarity is a list of numbers, one for each phrase")
    return _unsupported.unsupported(rows, threshold)
