"""The anatomy of a caption corpus (HL, Cafagna et al. 2023): words, PMI, diversity, purity, hard samples."""
