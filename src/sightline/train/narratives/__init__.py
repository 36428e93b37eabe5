"""Narratives by HL's loop (Cafagna et al. 2023, section 6.1): a paraphraser learns from what people correct."""
