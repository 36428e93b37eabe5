"""Visual Writing Prompts (Hong et al. 2023): one CSV row per story, its pictures and texts numbered."""

from collections.abc import Iterator
from dataclasses import dataclass

from sightline.errors import UsageError
from sightline.io.base import Found, readers
from sightline.io.published import Published, as_text, built, last_parts
from sightline.io.source import BadLine, Source

MOST = 10
"""Pictures a story has at most."""


@readers.add("vwp")
@dataclass(frozen=True)
class Vwp(Published):
    """VWP CSV (scene_full_id, story_id, link0 …, text0 …); pictures as SCENE_0.jpg … or as in the links."""

    def recognises(self, source: Source) -> bool:
        return source.columns >= {"scene_full_id", "link0"}

    def read(self, source: Source) -> Iterator[Found]:
        if not self.recognises(source):
            raise UsageError(f"{source.path}: not a VWP file; it needs the columns scene_full_id and link0")
        for where, row in source.records():
            yield row if isinstance(row, BadLine) else self._item(source, where, row)

    def _item(self, source: Source, where: str, row: dict[str, str]) -> Found:
        album = self.album(source)
        scene, story = row["scene_full_id"].strip(), row.get("story_id", "").strip()
        id = f"{scene};{story}" if story else scene
        links = [
            link for n in range(MOST) if (link := row.get(f"link{n}", "").strip()) not in ("", "{}", "nan")
        ]
        texts = [
            text for n in range(MOST) if (text := row.get(f"text{n}", "").strip()) not in ("", "{}", "nan")
        ]
        try:
            as_text(scene)
            images = [
                album.find(f"{scene}_{n}", last_parts(link, 2), last_parts(link))
                for n, link in enumerate(links)
            ]
        except ValueError as fault:
            return BadLine(where, f"a picture: {fault}", id)
        paired = len(texts) == len(images)
        whole = row.get("story", "").strip() or " ".join(texts)
        return built(source, where, id, images, sentences=texts if paired else None, text=whole or None)
