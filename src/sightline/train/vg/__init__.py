"""RoViST-VG's projections: pairs of regions and nouns, and the training."""
