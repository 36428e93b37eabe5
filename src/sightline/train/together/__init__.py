"""Training of the network that reads pictures and words together: a text made false, graded captions, the network."""
