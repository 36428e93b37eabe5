"""Composite (Aditya et al. 2015): captions of Flickr8k, Flickr30k and COCO pictures, rated 1-5."""

from collections.abc import Iterator
from dataclasses import dataclass

from sightline.errors import BadLine
from sightline.io.base import Found, readers
from sightline.io.published import Published, built, id_in
from sightline.io.table import TableFile

CALLED = {"text": "caption", "ratings": "rating"}


@readers.add("composite")
@dataclass(frozen=True)
class Composite(Published):
    """Composite JSONL (dataset, image, index, caption, rating): rated captions."""

    def recognises(self, source: TableFile) -> bool:
        return source.first_object.keys() >= {"dataset", "image", "caption", "rating"}

    def read(self, source: TableFile) -> Iterator[Found]:
        album = self.album(source)
        for where, found in source.objects():
            if isinstance(found, BadLine):
                yield found
                continue
            try:
                part, image, index = (id_in(found, name) for name in ("dataset", "image", "index"))
                path = album.find("field 'dataset' or 'image'", image, f"{part}/{image}")
            except ValueError as fault:
                yield BadLine(where, str(fault))
                continue
            id = f"{part}/{image}#{index}"
            ratings = {"correctness": found.get("rating")}
            text = found.get("caption")
            yield built(source, where, id, [path], CALLED, text=text, system=part, ratings=ratings)
