"""Scene, action and rationale joined into one sentence by grammar alone: a baseline that needs no model of its own."""

from sightline.generate.compose.sentence import Composer

__all__ = ["Composer"]
