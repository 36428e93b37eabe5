"""Formulas that score a story: grounded in its pictures, coherent, without repetition, near to what people write."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sightline.errors import UsageError
from sightline.meta.comparison import distance
from sightline.metrics import groovist as _groovist
from sightline.metrics import rovist as _rovist
from sightline.metrics import rovist_c as _rovist_c
from sightline.metrics import rovist_nr as _rovist_nr
from sightline.metrics import rovist_vg as _rovist_vg


def groovist(similarity: ArrayLike, weight: ArrayLike, theta: float, penalty: bool = True) -> float:
    """GROOViST (Surikuchi et al. 2023, equation 2): the mean over noun phrases of similarity times weight.

    Arguments: `similarity`, each phrase's best one over all regions of all pictures, on CLIPScore's scale (2.5 times
    the cosine); `weight`, each phrase's (concreteness); `theta`, below which a similarity is replaced by its negative
    distance from theta, unless `penalty` is False. Raises UsageError where there is no phrase or the lengths differ.

    >>> round(groovist([0.7, 0.5], [4.9, 2.0], theta=0.6), 4)
    1.615
    """
    values, weights = _row("similarity", similarity), _row("weight", weight)
    if len(values) != len(weights):
        raise UsageError(f"{len(values)} similarities but {len(weights)} weights")
    return _groovist.groovist(values, weights, theta, penalty)


def temporal_misalignment(similarity: ArrayLike, sentence: Sequence[int], theta: float) -> float:
    """T (Surikuchi et al. 2023, equation 3): phrases that match a picture other than their sentence's own.

    Arguments: `similarity`, a table with a row per phrase and a column per picture; `sentence`, each phrase's, from 0;
    `theta`, the similarity from which on a phrase matches. Raises UsageError where the shapes do not fit.

    >>> temporal_misalignment([[0.8, 0.7], [0.2, 0.9]], [0, 1], theta=0.6)
    0.5
    """
    table, places = np.asarray(similarity, np.float64), np.asarray(sentence, np.int64)
    if table.ndim != 2 or not table.size or len(table) != len(places):
        raise UsageError(
            "similarity is a table: a row per phrase, each with its sentence, a column per picture"
        )
    return _groovist.temporal_misalignment(table, places, theta)


def rovist_vg(cosine: ArrayLike, idf: ArrayLike, form: Literal["raw", "scaled"] = "raw") -> float:
    """RoViST-VG (Wang et al. 2022, equations 2 and 3): log-sum-exp over nouns of idf times the best cosine.

    Arguments: `cosine`, each noun's largest over all regions; `idf`, each noun's; `form`, "scaled" for the value
    brought to about [0, 1]. Raises UsageError where there is no noun or the lengths differ.

    >>> round(rovist_vg([0.5, 0.2], [4.0, 3.0]), 4)
    2.2204
    """
    values, weights = _row("cosine", cosine), _row("idf", idf)
    if len(values) != len(weights):
        raise UsageError(f"{len(values)} cosines but {len(weights)} idf values")
    raw = _rovist_vg.s_vg(weights, values)
    return raw if form == "raw" else _rovist_vg.scaled(raw)


def rovist_c(probabilities: Sequence[float], sentences: Sequence[str] | None = None) -> float:
    """RoViST-C (Wang et al. 2022, section 3.2): the mean probability that a sentence follows the one before.

    Arguments: `probabilities`, one for each sentence but the first; with `sentences`, one that only repeats the last
    counts 0. Raises UsageError where there is no probability, or not one for each neighbouring pair.

    >>> round(rovist_c([0.9, 0.6]), 4)
    0.75
    >>> round(rovist_c([0.9, 0.6], ["A dog ran.", "It fell.", "It fell."]), 4)
    0.45
    """
    if not len(probabilities):
        raise UsageError("there is no pair of neighbouring sentences")
    if sentences is None:
        return _rovist_c.rovist_c(probabilities)
    if len(sentences) != len(probabilities) + 1:
        raise UsageError(f"{len(sentences)} sentences but {len(probabilities)} probabilities of neighbours")
    return _rovist_c.rovist_c(_rovist_c.judged(sentences, probabilities))


def rovist_nr(sentences: Sequence[str], variant: _rovist_nr.Variant = "paper") -> float:
    """RoViST-NR (Wang et al. 2022, equation 7): 1 - repetition between sentences and within them.

    Arguments: `sentences` of the story; `variant`, "paper" for the formula over sets of words, "published" for what the
    authors' program computes. Raises Unscorable where no sentence has a word, and for one sentence in "published".

    >>> rovist_nr(["The dog runs.", "The dog sleeps."])
    0.75
    """
    if isinstance(sentences, str):
        raise UsageError("sentences is a list of sentences")
    found = _rovist_nr.repeated(sentences, variant)
    return _rovist_nr.non_redundancy(found.inter, found.intra)


def rovist(vg: float, c: float, nr: float) -> float:
    """RoViST (Wang et al. 2022, section 6.2): the sum of its three criteria.

    Arguments: `vg`, grounding (scaled, or raw as in the paper); `c`, coherence; `nr`, non-redundancy. Raises nothing.

    >>> round(rovist(0.5, 0.75, 0.9), 4)
    2.15
    """
    return _rovist.rovist(vg, c, nr)


def d_hm(human: Mapping[str, Mapping[str, float]], generated: Mapping[str, Mapping[str, float]]) -> float:
    """d_HM (Surikuchi et al. 2024): how far generated stories are from people's, the mean over three criteria.

    Arguments: scores of `human` and of `generated` stories by metric and then by story: groovist (compared as tanh),
    rovist-c and rovist-nr. Raises UsageError where a metric is missing or the two share no story in it.

    >>> people = {"groovist": {"a": 0.5}, "rovist-c": {"a": 0.6}, "rovist-nr": {"a": 0.9}}
    >>> model = {"groovist": {"a": 0.5}, "rovist-c": {"a": 0.9}, "rovist-nr": {"a": 0.6}}
    >>> round(d_hm(people, model), 4)
    0.2
    """
    found = distance.distance(human, generated)
    if found.d_hm is None:
        here = {metric.partition(":")[0] for metric in found.parts}
        missing = ", ".join(metric for metric in distance.PARTS if metric not in here)
        raise UsageError(f"d_HM needs stories that both sides have scores for, also in {missing}")
    return found.d_hm


def _row(name: str, given: ArrayLike) -> NDArray[np.float64]:
    values = np.asarray(given, np.float64)
    if values.ndim != 1 or not values.size:
        raise UsageError(f"{name} is a row of at least one number")
    return values
