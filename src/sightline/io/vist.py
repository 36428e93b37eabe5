"""VIST (Huang et al. 2016): story-in-sequence annotations, one JSON document per split."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.items import parse_text
from sightline.io.published import Album, Published, built, id_in
from sightline.io.source import Source, naming

Sentence = tuple[int, str, str]
"""Place in the story, picture and text."""


@readers.add("vist")
@dataclass(frozen=True)
class Vist(Published):
    """VIST story-in-sequence JSON; pictures are called by their Flickr photo id."""

    text: Literal["text", "original_text"] = "text"
    """Tokenised with names replaced, as the metrics' authors used it, or as it was written."""

    def recognises(self, source: Source) -> bool:
        if source.kind != "json" or not isinstance(source.document, dict):
            return False
        annotations = source.document.get("annotations")
        first = annotations[0] if isinstance(annotations, list) and annotations else None
        return (
            isinstance(first, list) and bool(first) and isinstance(first[0], dict) and "story_id" in first[0]
        )

    def read(self, source: Source) -> Iterator[Found]:
        album = self.album(source)
        stories: dict[str, list[Sentence]] = {}
        first_seen: dict[str, str] = {}
        broken: dict[str, BadLine] = {}
        for where, sentence in self._sentences(source):
            if isinstance(sentence, BadLine):
                yield sentence
                continue
            try:
                story = id_in(sentence, "story_id")
            except ValueError as fault:
                yield BadLine(where, str(fault))
                continue
            try:
                stories.setdefault(story, []).append(self._parsed(sentence, album))
                first_seen.setdefault(story, where)
            except ValueError as fault:
                broken.setdefault(story, BadLine(where, str(fault), story))
        yield from broken.values()  # a story that lacks a sentence is not the story that was written
        for story, found in stories.items():
            if story not in broken:
                found.sort(key=lambda sentence: sentence[0])
                images, sentences = [image for _, image, _ in found], [text for _, _, text in found]
                yield built(source, first_seen[story], story, images, sentences=sentences)

    def _parsed(self, sentence: dict[str, Any], album: Album) -> Sentence:
        photo = id_in(sentence, "photo_flickr_id")
        order = sentence.get("worker_arranged_photo_order")
        if isinstance(order, bool) or not isinstance(order, int):
            raise ValueError("field 'worker_arranged_photo_order': not a whole number")
        with naming(f"field '{self.text}'"):
            if sentence.get(self.text) is None:
                raise ValueError("is missing")
            text = parse_text(sentence[self.text])
        return order, album.find("field 'photo_flickr_id'", photo), text

    def _sentences(self, source: Source) -> Iterator[tuple[str, dict[str, Any] | BadLine]]:
        document = source.document
        annotations = document.get("annotations") if isinstance(document, dict) else None
        if not isinstance(annotations, list):
            raise UsageError(f"{source.path}: not a VIST file; it has no list of annotations")
        for number, entry in enumerate(annotations):
            where = f"{source.path}: annotations[{number}]"
            if not isinstance(entry, list) or not entry or not all(isinstance(one, dict) for one in entry):
                yield where, BadLine(where, "not a list of one sentence")
                continue
            for one in entry:
                yield where, one
