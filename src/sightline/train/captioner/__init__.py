"""Captioners made better with people's captions, by HL's recipe (Cafagna et al. 2023, sections 5 and 6); its tables."""
