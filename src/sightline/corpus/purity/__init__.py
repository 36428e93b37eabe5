"""Purity: how alike the captions of one picture are in what they mean (HL, A.3). Any scorer can be added by name."""

from sightline.corpus.purity.base import UNSCORED, PurityScorer, load_scorer, scorers

__all__ = ["UNSCORED", "PurityScorer", "load_scorer", "scorers"]
