"""Published data sets as studies: VICR's CSV and HL's JSON Lines, items and ratings together."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, update

from sightline.errors import UsageError
from sightline.people.study import Study
from sightline.server.exchange.imports import Judged, add_answers, read_rows
from sightline.server.pictures import encode
from sightline.server.storage import items as store_items
from sightline.server.storage import schema as t
from sightline.server.storage import studies
from sightline.server.storage.items import NewItem
from sightline.server.storage.studies import StoredStudy

Read = tuple[list[NewItem], list[Judged], dict[str, str]]
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
    for key, name in files.items():
        path = images / Path(name).name if images else None
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
    for number, (where, row) in enumerate(read_rows(path), 1):
        if not row.get("image") or row.get("caption") is None:
            raise UsageError(
                f"{where}: VICR's form has the columns image, caption, subset, num_ratings, ratings, …"
            )
        key, url = f"vicr{number:05d}", str(row["image"])
        extra = {"url": url, **({"subset": row["subset"]} if row.get("subset") else {})}
        name = url.rsplit("/", 1)[-1]
        origin = {"system": None, "images": [name], "references": [], "extra": extra}
        new_items.append(NewItem(key, {"text": row["caption"]}, origin))
        files[key] = name
        names = ("ratings", *(name for name in row if str(name).startswith("rating_")))
        values = [row[name] for name in names if row.get(name) not in (None, "")]
        judged += [
            Judged(key, f"vicr-{place}", "playing", 0, {"value": value}, {}, where)
            for place, value in enumerate(values, 1)
        ]
    return new_items, judged, files


def _hl(path: Path) -> Read:
    new_items: list[NewItem] = []
    judged: list[Judged] = []
    files: dict[str, str] = {}
    for where, row in read_rows(path):
        captions, name = row.get("captions"), row.get("file_name")
        if not isinstance(captions, dict) or not name:
            raise UsageError(f"{where}: HL's form has file_name and captions")
        axes = {axis: texts for axis, texts in captions.items() if axis != "object"}
        for place in range(max(map(len, axes.values()), default=0)):
            key = f"{name}#{place}"
            answers = {axis: texts[place] for axis, texts in axes.items() if place < len(texts)}
            origin = {"system": None, "images": [name], "references": captions.get("object", []), "extra": {}}
            new_items.append(NewItem(key, {"answers": answers}, origin))
            files[key] = str(name)
            if given := dict(_levels(row.get("confidence") or {}, answers, place, where)):
                judged.append(Judged(key, "hl-published", "playing", 0, given, {}, where))
    return new_items, judged, files


def _levels(
    confidence: dict[str, Any], answers: dict[str, str], place: int, where: str
) -> Iterator[tuple[str, int]]:
    for axis in answers:
        values = confidence.get(axis) or []
        if place < len(values) and values[place] is not None:
            if values[place] != int(values[place]):
                raise UsageError(
                    f"{where}: a confidence of {values[place]} is a mean, not one person's level"
                )
            yield axis, int(values[place])
