"""Embedded weights, each with a card that says what it learned from and how good it is."""
