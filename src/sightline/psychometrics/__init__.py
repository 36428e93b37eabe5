"""Whom to trust, and how hard each item is: measurement models and agreement coefficients."""
