"""Visual Writing Prompts (Hong et al. 2023): one CSV row per story, its pictures and texts numbered."""

from collections.abc import Iterator
from dataclasses import dataclass

from sightline.errors import BadLine, UsageError
from sightline.io.base import Found, readers
from sightline.io.published import Published, built, id_in, last_parts
from sightline.io.table import TableFile

MOST = 10
"""Pictures a story has at most."""
CALLED = {"text": "story", "sentences": "text0 …"}


@readers.add("vwp")
@dataclass(frozen=True)
class Vwp(Published):
    """VWP CSV (scene_full_id, story_id, link0 …, text0 …); pictures as SCENE_0.jpg … or as in the links."""

    def recognises(self, source: TableFile) -> bool:
        return source.columns >= {"scene_full_id", "link0"}

    def read(self, source: TableFile) -> Iterator[Found]:
        if not self.recognises(source):
            raise UsageError(f"{source.path}: not a VWP file; it needs the columns scene_full_id and link0")
        for where, row in source.records():
            yield row if isinstance(row, BadLine) else self._item(source, where, row)

    def _item(self, source: TableFile, where: str, row: dict[str, str]) -> Found:
        album = self.album(source)
        scene, story = row["scene_full_id"].strip(), row.get("story_id", "").strip()
        id = f"{scene};{story}" if story else scene
        links, texts = _numbered(row, "link"), list(_numbered(row, "text").values())
        try:
            id_in(row, "scene_full_id")
            images = [
                album.find(
                    f"field 'scene_full_id' or '{column}'",
                    f"{scene}_{n}",
                    last_parts(link, 2),
                    last_parts(link),
                )
                for n, (column, link) in enumerate(links.items())
            ]
        except ValueError as fault:
            return BadLine(where, str(fault), id)
        paired = len(texts) == len(images)
        whole = row.get("story", "").strip() or " ".join(texts)
        sentences = texts if paired else None
        return built(source, where, id, images, CALLED, sentences=sentences, text=whole or None)


def _numbered(row: dict[str, str], name: str) -> dict[str, str]:
    """What stands in name0, name1 …, the empty ones left out."""
    cells = {column: row.get(column, "").strip() for column in (f"{name}{n}" for n in range(MOST))}
    return {column: cell for column, cell in cells.items() if cell not in ("", "{}", "nan")}
