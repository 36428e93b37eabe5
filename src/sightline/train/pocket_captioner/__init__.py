"""Training of the embedded captioner: a small decoder on the pocket image network's maps."""
