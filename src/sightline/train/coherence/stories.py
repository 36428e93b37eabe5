"""Stories to learn sentence order from, and their split by story: what shares a picture or a text stays
together.
"""

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sightline.errors import BadLine, UsageError
from sightline.io.table import TableFile
from sightline.text.sentences import split_sentences

ROCSTORIES = ("sentence1", "sentence2", "sentence3", "sentence4", "sentence5")
"""The columns of the ROCStories (Mostafazadeh et al. 2016) that hold a story."""


@dataclass(frozen=True)
class CoherenceStory:
    """A story in its order. `score` is a RoViST-C somebody published for it; `marks` say what it is akin
    to.
    """

    sentences: tuple[str, ...]
    key: str
    marks: tuple[str, ...]
    score: float | None = None
    system: str | None = None


def read_stories(paths: Iterable[Path]) -> list[CoherenceStory]:
    """Stories of files, gzipped or not: VIST's SIS JSON and the ROCStories CSV as published, or rows with `sentences`
    or `text`; `album_id`, `story_id` or `id`; maybe `rovist_c`.
    """
    return [story for path in paths for story in _read(path)]


def _read(path: Path) -> Iterator[CoherenceStory]:
    table = TableFile(path)
    document = table.document if table.kind == "json" else None
    if isinstance(document, dict) and isinstance(document.get("annotations"), list):
        yield from _sequences(path, document["annotations"])
        return
    rocstories = table.kind in ("csv", "tsv") and set(ROCSTORIES) <= table.columns
    for where, row in table.records():
        if isinstance(row, BadLine):
            raise row
        yield _rocstory(row, where) if rocstories else _story(row, where)


def _rocstory(row: Mapping[str, Any], where: str) -> CoherenceStory:
    """A row of the ROCStories as published: `storyid,storytitle,sentence1,…,sentence5`."""
    sentences = [str(row.get(column) or "").strip() for column in ROCSTORIES]
    if not all(sentences):
        raise UsageError(f"{where}: a sentence is empty")
    named = {"story_id": row["storyid"]} if row.get("storyid") else {}
    return _story({"sentences": sentences, **named}, where)


def _sequences(path: Path, annotations: list[Any]) -> Iterator[CoherenceStory]:
    """VIST's stories in sequence as published: a list of one sentence an annotation, in the order of the photos."""
    parts: dict[str, dict[int, Mapping[str, Any]]] = {}
    for number, entry in enumerate(annotations):
        where = f"{path}: annotations[{number}]"
        one = entry[0] if isinstance(entry, list) and entry else None
        if not isinstance(one, dict) or "story_id" not in one:
            raise UsageError(f"{where}: not a sentence of a story in sequence")
        order, text = one.get("worker_arranged_photo_order"), one.get("text")
        if not isinstance(order, int) or not isinstance(text, str):
            raise UsageError(f"{where}: needs 'worker_arranged_photo_order', a whole number, and 'text'")
        parts.setdefault(str(one["story_id"]), {})[order] = one
    for story, found in parts.items():
        rows = [found[order] for order in sorted(found)]
        given = {
            "sentences": [row["text"] for row in rows],
            "story_id": story,
            "album_id": rows[0].get("album_id"),
            "photo_ids": [row["photo_flickr_id"] for row in rows if row.get("photo_flickr_id")],
        }
        yield _story(given, f"{path}: story {story}")


def _story(given: Mapping[str, Any], where: str) -> CoherenceStory:
    sentences, text = given.get("sentences"), given.get("text")
    if isinstance(sentences, list) and all(isinstance(s, str) for s in sentences):
        found = tuple(s for s in sentences if s.strip())
    elif isinstance(text, str):
        found = tuple(split_sentences(text))
    else:
        raise UsageError(f"{where}: a story needs 'sentences', a list of texts, or 'text'")
    names = {kind: str(given[kind]) for kind in ("story_id", "album_id", "id") if given.get(kind) is not None}
    marks = [f"{kind}:{name}" for kind, name in names.items()]
    marks += [f"photo:{photo}" for photo in given.get("photo_ids") or ()]
    marks.append("text:" + re.sub(r"\W+", "", " ".join(found).lower()))
    score = given.get("rovist_c")
    known = isinstance(score, int | float) and math.isfinite(score)
    key = next(iter(names.values()), where)
    system = given.get("system")
    return CoherenceStory(found, key, tuple(marks), float(score) if known else None, system)  # type: ignore[arg-type]


def group_keys(stories: Sequence[CoherenceStory]) -> list[str]:
    """For each story, the name of its group: the least key among all that it is akin to, however remotely."""
    parent: dict[str, str] = {}

    def root(mark: str) -> str:
        while (above := parent.setdefault(mark, mark)) != mark:
            parent[mark] = mark = parent[above]
        return mark

    for story in stories:
        for mark in story.marks[1:]:
            parent[root(mark)] = root(story.marks[0])
    least: dict[str, str] = defaultdict(lambda: "\U0010ffff")
    for story in stories:
        group = root(story.marks[0])
        least[group] = min(least[group], story.key)
    return [least[root(story.marks[0])] for story in stories]


def hundredth(key: str) -> int:
    """A number from 0 to 99 that depends on the key alone: the same split everywhere, for ever."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "big") % 100


def split_stories(
    stories: Sequence[CoherenceStory], validation: float, leave_out: float
) -> tuple[list[CoherenceStory], list[CoherenceStory], list[CoherenceStory]]:
    """To train on, to validate on, and to leave out, by group."""
    parts: tuple[list[CoherenceStory], list[CoherenceStory], list[CoherenceStory]] = ([], [], [])
    for story, key in zip(stories, group_keys(stories), strict=True):
        if len(story.sentences) > 1:
            place = hundredth(key) / 100
            parts[2 if place < leave_out else 1 if place < leave_out + validation else 0].append(story)
    return parts
