"""Published evaluation protocols by name: which rows, which references, which correlation."""
