"""AESOP (Ravi et al. 2021): a JSON list of stories of three panels each."""

from collections.abc import Iterator
from dataclasses import dataclass

from sightline.errors import BadLine
from sightline.io.base import Found, readers
from sightline.io.published import Album, Published, built, id_in, last_parts, objects_in
from sightline.io.source import Source

CALLED = {"sentences": "text", "text": "text"}


@readers.add("aesop")
@dataclass(frozen=True)
class Aesop(Published):
    """AESOP JSON (train.json, test.json); pictures as STORY/panel_0.jpg … or as in image_path."""

    def recognises(self, source: Source) -> bool:
        found = source.document if source.kind == "json" else None
        return (
            isinstance(found, list) and bool(found) and isinstance(found[0], dict) and "storyid" in found[0]
        )

    def read(self, source: Source) -> Iterator[Found]:
        album = self.album(source)
        for where, story in objects_in(source, source.document, "stories"):
            if isinstance(story, BadLine):
                yield story
                continue
            try:
                id = id_in(story, "storyid")
                texts, paths = story.get("text"), story.get("image_path")
                if not isinstance(texts, list) or not isinstance(paths, list):
                    raise ValueError("fields 'text' and 'image_path': must be lists")
                images = [_panel(album, id, n, path) for n, path in enumerate(paths)]
            except ValueError as fault:
                yield BadLine(where, str(fault), str(story.get("storyid") or ""))
                continue
            about = {key: story[key] for key in ("title", "theme", "split") if key in story}
            yield built(source, where, id, images, sentences=texts, called=CALLED, **about)


def _panel(album: Album, story: str, number: int, path: object) -> str:
    if not isinstance(path, str):
        raise ValueError(f"field 'image_path[{number}]': is missing or not text")
    place = f"field 'storyid' or 'image_path[{number}]'"
    return album.find(place, last_parts(path, 2), f"{story}/panel_{number}", f"{story}_{number}")
