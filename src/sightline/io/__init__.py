"""One file per format. A reader streams items out of a file and says clearly what is wrong with a line."""

from sightline.errors import BadLine
from sightline.io.base import Reader, guess, make_reader, read_items, readers
from sightline.io.items import item_from_dict
from sightline.io.source import Source
from sightline.io.table import TableFile, read_rows

__all__ = [
    "BadLine",
    "Reader",
    "Source",
    "TableFile",
    "guess",
    "item_from_dict",
    "make_reader",
    "read_items",
    "read_rows",
    "readers",
]
