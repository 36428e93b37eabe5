"""Setting a study up: settings, items and pictures in, a study in the database out."""

import re
import secrets
import shutil
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, get_args

from sqlalchemy import Connection

from sightline.errors import UsageError
from sightline.io import read_items
from sightline.items import Item
from sightline.people.assemble import assemble
from sightline.people.assignment import Role
from sightline.people.study import Study
from sightline.server.pictures import Shown, encode
from sightline.server.seeding import rater_seeds
from sightline.server.storage import items as store_items
from sightline.server.storage import studies
from sightline.server.storage.items import NewItem
from sightline.server.storage.studies import StoredStudy

Scorer = Callable[[Item], int | None]
"""A model's rating of an item on the study's scale, or None: the seed until two people have rated."""

MOST_FILES, MOST_BYTES = 20_000, 300 * 2**20
SPECIAL = ("role", "expert", "seed", "why", "gold", "answers", "set")
EXAMPLE = """kind = "rating game"        # description, confidence, story survey, grounding survey
title = "How good are these captions?"
scale = "vicr"              # flickr8k, likert, likelihood, grounding, binary, or a table of your own
ratings_per_item = 5
hard = {more = 2, above = 1.4}
training = {tutorial = 10, probation = 20, accuracy = 0.5}
checks = {gold = 0.1, attention = 0.02}
leaderboard = true
# seeds = "rater"           # the caption rater's ratings stand in until two people have rated
"""


@dataclass
class Prepared:
    """A study ready to be stored: everything that can go wrong has been looked at."""

    study: Study
    slug: str
    items: list[NewItem] = field(default_factory=list)
    pictures: dict[str, tuple[str, Shown]] = field(default_factory=dict)
    """Path to its name and what is shown."""


def slug_of(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "study"


def prepare(
    study: Study, folder: Path, scorer: Scorer | None = None, *, inside: bool = True, slug: str | None = None
) -> Prepared:
    """Read a study's items and pictures from a folder; with `inside`, nothing outside of it is touched."""
    prepared = Prepared(study, slug or f"{slug_of(study.title)}-{secrets.token_hex(2)}")
    given = _read(study, folder, inside)
    if scorer is None and study.seeds == "rater":
        for item in given:
            for path in item.images:
                _within(folder, path, inside)
        levels = rater_seeds(study, given)
        scorer = lambda item: levels.get(item.id)  # noqa: E731
    units = _stories(given) if study.kind == "story survey" else [[item] for item in given]
    for unit in units:
        for path in unit[0].images:
            _picture(prepared, path, folder, inside)
        prepared.items.append(_item(study, prepared, unit, scorer))
    return prepared


def store(connection: Connection, prepared: Prepared, *, public: bool) -> StoredStudy:
    stored = studies.add(connection, prepared.slug, prepared.study, public)
    for name, shown in prepared.pictures.values():
        store_items.add_picture(connection, stored.id, name, shown)
    store_items.add_items(connection, stored, prepared.items)
    return stored


def _read(study: Study, folder: Path, inside: bool) -> list[Item]:
    if study.assemble is not None:
        plan = study.assemble
        systems = [list(read_items(_within(folder, name, inside))) for name in plan.systems]
        return assemble(plan, list(read_items(_within(folder, plan.originals, inside))), systems)
    return list(read_items(_within(folder, study.items or "items.jsonl", inside)))


def _within(folder: Path, name: str | Path, inside: bool) -> Path:
    path = folder / name
    if inside and not path.resolve().is_relative_to(folder.resolve()):
        raise UsageError(f"'{name}' lies outside the study's folder")
    return path


def _picture(prepared: Prepared, path: Path, folder: Path, inside: bool) -> None:
    if str(path) not in prepared.pictures:
        _within(folder, path, inside)
        prepared.pictures[str(path)] = (path.name, encode(path, path.name))


def _stories(given: Sequence[Item]) -> list[list[Item]]:
    """Stories of several systems about the same pictures are judged side by side."""
    groups: dict[object, list[Item]] = {}
    for item in given:
        groups.setdefault(item.images or item.id, []).append(item)
    return list(groups.values())


def _item(study: Study, prepared: Prepared, unit: Sequence[Item], scorer: Scorer | None) -> NewItem:
    first = unit[0]
    extra = first.extra
    role = extra.get("role", "main")
    if role not in get_args(Role):
        raise UsageError(f"item '{first.id}': role '{role}' is not one of {', '.join(get_args(Role))}")
    content: dict[str, Any] = {"pictures": [prepared.pictures[str(path)][1].sha for path in first.images]}
    origin: dict[str, Any] = {
        "system": first.system,
        "images": [path.name for path in first.images],
        "references": list(first.references),
        "extra": {key: value for key, value in extra.items() if key not in SPECIAL},
    }
    if study.kind == "story survey":
        content["stories"] = [_text(item) for item in unit]
        origin["stories"] = [{"id": item.id, "system": item.system} for item in unit]
    elif study.kind == "confidence":
        content["answers"] = _answers(first)
    elif study.kind != "description":
        content |= _text(first)
    if extra.get("why"):
        content["why"] = str(extra["why"])
    if extra.get("gold"):
        origin["gold"] = _gold(first)
    seed = extra.get("seed")
    if seed is None and scorer is not None and role == "main":
        seed = scorer(first)
    levels = {"expert": extra.get("expert"), "seed": seed}
    for name, level in levels.items():
        if level is not None:
            try:
                study.levels.check(level)
            except UsageError as fault:
                raise UsageError(f"item '{first.id}': {name}: {fault}") from None
    single_level = study.kind in ("rating game", "grounding survey")
    if role != "main" and single_level and levels["expert"] is None:
        raise UsageError(f"item '{first.id}' is a {role} item: give its 'expert' level")
    key = first.id if len(unit) == 1 else f"{first.id}+{len(unit) - 1}"
    return NewItem(key, content, origin, role, levels["expert"], levels["seed"])


def _text(item: Item) -> dict[str, Any]:
    return {"text": item.text} if item.sentences is None else {"sentences": list(item.sentences)}


def _answers(item: Item) -> dict[str, str]:
    given = item.extra.get("answers")
    if not isinstance(given, dict) or not given or not all(isinstance(text, str) for text in given.values()):
        raise UsageError(f"item '{item.id}': give its 'answers', as in {{\"scene\": \"in a kitchen\"}}")
    return {str(axis): text for axis, text in given.items()}


def _gold(item: Item) -> dict[str, list[int]]:
    """The gold annotators' values, by question."""
    given = item.extra["gold"]
    given = {"value": given} if isinstance(given, list) else given
    if not isinstance(given, dict) or not all(isinstance(values, list) for values in given.values()):
        raise UsageError(f"item '{item.id}': give 'gold' as each question's list of annotators' levels")
    return {str(name): [int(value) for value in values] for name, values in given.items()}


@contextmanager
def unpacked(archive: IO[bytes]) -> Iterator[Path]:
    """A zip's files in a folder that is gone afterwards; nothing lands outside of it."""
    with tempfile.TemporaryDirectory(prefix="sightline-") as name:
        folder = Path(name)
        try:
            with zipfile.ZipFile(archive) as opened:
                _extract(opened, folder)
        except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as fault:
            raise UsageError(f"the zip cannot be read ({type(fault).__name__})") from None
        yield folder


def _extract(opened: zipfile.ZipFile, folder: Path) -> None:
    members = [info for info in opened.infolist() if not info.is_dir()]
    if len(members) > MOST_FILES or sum(info.file_size for info in members) > MOST_BYTES:
        raise UsageError(f"the zip holds more than {MOST_FILES} files or {MOST_BYTES // 2**20} MB")
    for info in members:
        path = PurePosixPath(info.filename.replace("\\", "/"))
        if (
            path.is_absolute()
            or ".." in path.parts
            or ":" in path.parts[0]
            or stat.S_ISLNK(info.external_attr >> 16)
        ):
            raise UsageError("the zip holds a file that would land outside its folder")
        target = folder.joinpath(*path.parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        with opened.open(info) as source, target.open("wb") as out:
            shutil.copyfileobj(source, out)
