"""People grouped by what the likelihood knows of them: answered items, raw score, covariates.

In the Rasch family the raw score is sufficient for the ability, so a million people cost no more than their few
groups.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sightline.psychometrics.model.responses import Floats, Ints, Responses, distinct_rows

CHUNK = 4096


@dataclass(frozen=True)
class Groups:
    """People with the same answered items (`mask`), score and covariates, ordered by mask; one row a group."""

    masks: Floats
    """mask x item: 1 where answered"""
    mask: Ints
    score: Floats
    covariates: Floats
    """group x coefficient, the intercept first"""
    count: Floats
    of_person: Ints

    def chunks(self) -> Iterator[slice]:
        return (slice(at, at + CHUNK) for at in range(0, len(self.score), CHUNK))

    def masks_in(self, groups: slice) -> tuple[Floats, Ints, Ints]:
        """The distinct masks of some groups, which of them each group has, and where each begins."""
        mask, start, which = np.unique(self.mask[groups], return_index=True, return_inverse=True)
        return self.masks[mask], which, start


def group(responses: Responses) -> Groups:
    """Put people the likelihood cannot tell apart together."""
    answered = responses.answered
    pattern = distinct_rows(answered)
    score = np.where(answered, responses.levels, 0).sum(axis=1, dtype=np.int64)
    covariate = distinct_rows(responses.covariates)
    key = (pattern * (score.max() + 1) + score) * (covariate.max() + 1) + covariate
    _, first, of_person, count = np.unique(key, return_index=True, return_inverse=True, return_counts=True)
    _, mask_first = np.unique(pattern, return_index=True)
    return Groups(
        answered[mask_first].astype(float),
        pattern[first],
        score[first].astype(float),
        np.hstack([np.ones((len(first), 1)), responses.covariates[first]]),
        count.astype(float),
        of_person,
    )
