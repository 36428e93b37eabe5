"""The embedded English pipeline: treebanks, lemma tables, word vectors, and the training."""
