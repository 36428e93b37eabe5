"""Sentences, phrases, nouns and how concrete they are. Knows nothing of images."""
