"""Published data sets as studies: VICR's CSV and HL's JSON Lines, items and ratings together."""

from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, update

from sightline.errors import BadLine
from sightline.io import Reader, TableFile
from sightline.io.hl import Hl
from sightline.io.published import Album, coco_names
from sightline.io.vicr import Vicr
from sightline.items import Item
from sightline.people.study import Study
from sightline.server.exchange.imports import ImportedAnswer, add_answers
from sightline.server.exchange.rows import CONFIDENCE
from sightline.server.pictures import encode
from sightline.server.storage import items as store_items
from sightline.server.storage import schema as t
from sightline.server.storage import studies
from sightline.server.storage.items import NewItem
from sightline.server.storage.studies import StoredStudy

Read = tuple[list[NewItem], list[ImportedAnswer], dict[str, str]]
"""Items, what people said of them, and each item's picture file."""


def import_published(
    connection: Connection, form: str, path: Path, slug: str, images: Path | None = None
) -> tuple[StoredStudy, int]:
    """A new study from a published file. Items without a picture in `images` are kept, not handed out."""
    kind, read = {"vicr": ("rating game", _vicr), "hl": ("confidence", _hl)}[form]
    new_items, judged, files = read(path)
    study = Study(kind=kind, title=f"{form.upper()} ({path.name})", ratings_per_item=3)  # type: ignore[arg-type]
    stored = studies.add(connection, slug, study)
    shown = _pictures(connection, stored, files, images)
    for item in new_items:
        item.content["pictures"] = [shown[item.key]] if item.key in shown else []
    store_items.add_items(connection, stored, new_items)
    count = add_answers(connection, stored, judged)
    for item in new_items:
        if item.key not in shown:
            mine = (t.Item.study_id == stored.id) & (t.Item.key == item.key)
            connection.execute(update(t.Item).where(mine).values(state="broken"))
    return stored, count


def _pictures(
    connection: Connection, stored: StoredStudy, files: dict[str, str], images: Path | None
) -> dict[str, str]:
    found: dict[str, str] = {}
    made: dict[str, str] = {}
    album = Album(images) if images else None
    for key, name in files.items():
        path = Path(album.find("picture", *coco_names(name))) if album else None
        if path is None or not path.is_file():
            continue
        if name not in made:
            shown = encode(path, path.name)
            store_items.add_picture(connection, stored.id, path.name, shown)
            made[name] = shown.sha
        found[key] = made[name]
    return found


def _vicr(path: Path) -> Read:
    new_items, judged, files = [], [], {}
    for item in _items(Vicr(), path):
        name = item.id.rpartition("#")[0]
        origin = {"system": item.system, "images": [name], "references": [], "extra": dict(item.extra)}
        new_items.append(NewItem(item.id, {"text": item.text}, origin))
        files[item.id] = name
        judged += [
            ImportedAnswer(
                item.id,
                f"vicr-{place}",
                "play",
                0,
                {"value": int(value) if value.is_integer() else value},
                {},
                item.source,
            )
            for place, value in enumerate(item.ratings["overall"], 1)
        ]
    return new_items, judged, files


def _hl(path: Path) -> Read:
    """Pages with a picture's captions on every axis; each caption keeps the id that the reader gives it."""
    pages: dict[str, dict[str, Item]] = {}
    objects: dict[str, list[str]] = {}
    for item in _items(Hl(), path):
        picture, _, place = item.id.rpartition("#")
        axis, _, number = place.rpartition("-")
        if axis == "object":
            objects.setdefault(picture, []).append(item.text)
        else:
            pages.setdefault(f"{picture}#{number}", {})[axis] = item
    new_items: list[NewItem] = []
    judged: list[ImportedAnswer] = []
    files: dict[str, str] = {}
    for key, captions in pages.items():
        name = key.rpartition("#")[0]
        origin = {
            "system": None,
            "images": [name],
            "references": objects.get(name, []),
            "captions": {axis: item.id for axis, item in captions.items()},
            "extra": {},
        }
        new_items.append(
            NewItem(key, {"answers": {axis: item.text for axis, item in captions.items()}}, origin)
        )
        files[key] = name
        if given := {axis: _level(item) for axis, item in captions.items() if CONFIDENCE in item.ratings}:
            where = next(iter(captions.values())).source
            judged.append(ImportedAnswer(key, "hl-published", "play", 0, given, {}, where))
    return new_items, judged, files


def _items(reader: Reader, path: Path) -> Iterator[Item]:
    """A reader's items, where all must be good."""
    for found in reader.read(TableFile(path)):
        if isinstance(found, BadLine):
            raise found
        yield found


def _level(item: Item) -> int:
    (value,) = item.ratings[CONFIDENCE]
    if not value.is_integer():
        raise BadLine(item.source, f"a confidence of {value} is a mean, not one person's level")
    return int(value)
