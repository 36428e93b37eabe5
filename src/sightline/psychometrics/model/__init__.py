"""Partial credit and its kin: responses, the likelihoods, and what a fit says of items and people."""
