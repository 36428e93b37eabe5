"""A study's data in and out, in the contract's form and the published ones; nameless by default."""

from sightline.server.exchange.export import Form, What, export
from sightline.server.exchange.imports import import_ratings

__all__ = ["Form", "What", "export", "import_ratings"]
