"""Image and text into one space: the embedded `pocket`, or any CLIP-like model through transformers."""

from sightline.encoders.base import Embedder, Encoder, encoders, load_encoder

__all__ = ["Embedder", "Encoder", "encoders", "load_encoder"]
