"""One file per format. A reader streams items out of a file and says clearly what is wrong with a line."""

from sightline.io.base import Reader, guess, make_reader, read_items, readers
from sightline.io.items import item_from_dict
from sightline.io.source import BadLine, Source

__all__ = ["BadLine", "Reader", "Source", "guess", "item_from_dict", "make_reader", "read_items", "readers"]
