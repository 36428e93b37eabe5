"""Composite (Aditya et al. 2015): captions of Flickr8k, Flickr30k and COCO pictures, rated 1-5."""

from collections.abc import Iterator
from dataclasses import dataclass

from sightline.io.base import Found, readers
from sightline.io.published import Published, as_text, built
from sightline.io.source import BadLine, Source


@readers.add("composite")
@dataclass(frozen=True)
class Composite(Published):
    """Composite JSONL (dataset, image, index, caption, rating): rated captions."""

    def recognises(self, source: Source) -> bool:
        return source.first_object.keys() >= {"dataset", "image", "caption", "rating"}

    def read(self, source: Source) -> Iterator[Found]:
        album = self.album(source)
        for where, found in source.objects():
            if isinstance(found, BadLine):
                yield found
                continue
            try:
                part, image, index = (as_text(found.get(name)) for name in ("dataset", "image", "index"))
                path = album.find(image, f"{part}/{image}")
            except ValueError as fault:
                yield BadLine(where, f"dataset, image or index: {fault}")
                continue
            id = f"{part}/{image}#{index}"
            ratings = {"correctness": found.get("rating")}
            yield built(source, where, id, [path], text=found.get("caption"), system=part, ratings=ratings)
