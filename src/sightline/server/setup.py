"""Setting a study up: settings, items and pictures in, a study in the database out."""

import json
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any, get_args

from sqlalchemy import Connection

from sightline.errors import BadLine, UsageError
from sightline.io import read_items
from sightline.io.base import guess
from sightline.io.item_rows import ItemRows
from sightline.io.items import item_from_dict
from sightline.io.table import TableFile
from sightline.items import Item
from sightline.people.assemble import assemble
from sightline.people.assignment import Role
from sightline.people.forms import TIE
from sightline.people.known import check_known
from sightline.people.notices import notes
from sightline.people.study import SINGLE, Study
from sightline.server.pictures import Shown, encode
from sightline.server.seeding import rater_seeds
from sightline.server.storage import items as store_items
from sightline.server.storage import studies
from sightline.server.storage.items import NewItem
from sightline.server.storage.studies import StoredStudy

Scorer = Callable[[Item], int | None]
"""A model's rating of an item on the study's scale, or None: the seed until two people have rated."""

TEXTLESS = ("description", "confidence")
TOGETHER = ("story survey", "pairwise preference")
"""Kinds that show several texts about the same pictures at once."""
SPECIAL = ("role", "expert", "seed", "why", "gold", "answers", "set")
EXAMPLE = """kind = "rating game"        # description, confidence, story survey, grounding survey,
                            # pairwise preference, error marking
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
    notes: list[str] = field(default_factory=list)
    """What whoever sets the study up should know."""


def slug_of(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:40] or "study"


def new_slug(title: str) -> str:
    """A study's name in addresses: no other study has it."""
    return f"{slug_of(title)}-{secrets.token_hex(2)}"


def prepare(
    study: Study,
    folder: Path,
    scorer: Scorer | None = None,
    *,
    inside: bool = True,
    slug: str | None = None,
    shown: Mapping[str, Shown] | None = None,
) -> Prepared:
    """Read a study's items and pictures from a folder; with `inside`, nothing outside of it is touched.

    Pictures that were encoded before are in `shown`, by their path in the folder or an ending of it.

    Faults name the user's own files: of an unpacked folder nobody knows where it lies.
    """
    try:
        return _prepare(study, Place(folder, inside, shown), scorer, slug)
    except UsageError as fault:
        if not inside:
            raise
        raise UsageError(str(fault).replace(f"{folder}/", "").replace(f"{folder.resolve()}/", "")) from None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a study's files are."""

    folder: Path
    inside: bool
    shown: Mapping[str, Shown] | None

    def within(self, name: str | Path) -> Path:
        path = self.folder / name
        if self.inside and not path.resolve().is_relative_to(self.folder.resolve()):
            raise UsageError(f"'{name}' lies outside the study's folder")
        return path

    def picture(self, path: Path) -> Shown:
        """A picture as it is shown."""
        if self.shown is None:
            return encode(self.within(path), path.name)
        name = path.relative_to(self.folder).as_posix() if path.is_relative_to(self.folder) else path.name
        bare = name.replace("\\", "/").rpartition("/")[2].lower()  # files are named as on the team's machine
        found = self.shown.get(name) or self.shown.get(name.lower()) or self.shown.get(bare)
        if found is None:
            raise UsageError(f"the picture '{name}' is not among the chosen files")
        return found


def _prepare(study: Study, place: Place, scorer: Scorer | None, slug: str | None) -> Prepared:
    prepared = Prepared(study, slug or new_slug(study.title))
    given = _read(study, place)
    if scorer is None and study.seeds == "rater":
        for item in given:
            for path in item.images:
                place.within(path)
        levels = rater_seeds(study, given)
        scorer = lambda item: levels.get(item.id)  # noqa: E731
    for unit in _units(study, given):
        for path in unit[0].images:
            if str(path) not in prepared.pictures:
                try:
                    prepared.pictures[str(path)] = (path.name, place.picture(path))
                except UsageError as fault:
                    raise UsageError(f"{_where(unit[0])}: {fault}") from None
        prepared.items.append(_item(study, prepared, unit, scorer))
    prepared.notes += notes(study, Counter(item.role for item in prepared.items))
    return prepared


def store(connection: Connection, prepared: Prepared, *, public: bool) -> StoredStudy:
    stored = studies.add(connection, prepared.slug, prepared.study, public)
    for name, shown in prepared.pictures.values():
        store_items.add_picture(connection, stored.id, name, shown)
    store_items.add_items(connection, stored, prepared.items)
    return stored


def _read(study: Study, place: Place) -> list[Item]:
    if study.assemble is not None:
        plan = study.assemble
        systems = [list(read_items(place.within(name))) for name in plan.systems]
        return assemble(plan, list(read_items(place.within(plan.originals))), systems)
    path = place.within(study.items or "items.jsonl")
    return [_as_meant(item) for item in (_textless(path) if study.kind in TEXTLESS else read_items(path))]


def _as_meant(item: Item) -> Item:
    """A table's cells are text: what is a number, a list or an object there is written as JSON."""
    extra = dict(item.extra)
    for name in ("expert", "seed", "gold", "answers"):
        if isinstance(extra.get(name), str):
            with suppress(ValueError):
                extra[name] = json.loads(extra[name])
    return replace(item, extra=extra)


def _textless(path: Path) -> Iterator[Item]:
    """Items that need no text of their own: raters write it, or judge the answers that come with them."""
    source = TableFile(path)
    reader = guess(source)
    if not isinstance(reader, ItemRows):
        yield from read_items(path)
        return
    for where, row in reader.rows(source):
        if isinstance(row, BadLine):
            raise row
        yield item_from_dict(
            row if row.get("sentences") else {**row, "text": row.get("text") or ""}, source.folder, where
        )


def _units(study: Study, given: Sequence[Item]) -> list[list[Item]]:
    """What is shown at once: an item; all stories about the same pictures; two texts about the same pictures."""
    if study.kind not in TOGETHER:
        return [[item] for item in given]
    by_id = Counter(item.id for item in given)
    groups: dict[object, list[Item]] = {}
    for item in given:
        same: object = item.id if by_id[item.id] > 1 else item.images or item.id
        groups.setdefault((same, item.extra.get("role", "main")), []).append(item)
    if study.kind == "story survey":
        return list(groups.values())
    if lonely := next((group[0] for group in groups.values() if len(group) < 2), None):
        raise UsageError(
            f"{_where(lonely)}: a preference needs two texts about the same pictures, or of the same id"
        )
    return [list(pair) for group in groups.values() for pair in combinations(group, 2)]


def _where(item: Item) -> str:
    return f"{item.source}: item '{item.id}'" if item.source else f"item '{item.id}'"


def _item(study: Study, prepared: Prepared, unit: Sequence[Item], scorer: Scorer | None) -> NewItem:
    first = unit[0]
    extra, here = first.extra, _where(first)
    role = extra.get("role", "main")
    if role not in get_args(Role):
        raise UsageError(f"{here}: role '{role}' is not one of {', '.join(get_args(Role))}")
    content: dict[str, Any] = {"pictures": [prepared.pictures[str(path)][1].sha for path in first.images]}
    origin: dict[str, Any] = {
        "system": first.system,
        "images": [path.name for path in first.images],
        "references": list(first.references),
        "extra": {key: value for key, value in extra.items() if key not in SPECIAL},
    }
    if study.kind in TOGETHER:
        name = "stories" if study.kind == "story survey" else "pair"
        content[name] = [_text(item) for item in unit]
        origin[name] = [{"id": item.id, "system": item.system} for item in unit]
    elif study.kind == "confidence":
        content["answers"] = _answers(first)
    elif study.kind != "description":
        content |= _text(first)
    if extra.get("why"):
        content["why"] = str(extra["why"])
    if study.qualification:
        _check_gold(first, role)
    if extra.get("gold"):
        origin["gold"] = _gold(first)
    expert = seed = None
    try:
        if study.kind in SINGLE:
            seed = extra.get("seed")
            if seed is None and scorer is not None and role == "main":
                seed = scorer(first)
            for level in (seed, extra.get("expert")):
                if level is not None:
                    study.levels.check(level)
            expert = extra.get("expert")
        elif (known := _known(study, unit)) is not None:
            origin["known"] = check_known(study, content, known)
    except UsageError as fault:
        raise UsageError(f"{here}: {fault}") from None
    checked = role in ("gold", "attention") or (role == "training" and not study.qualification)
    if checked and expert is None and "known" not in origin:
        raise UsageError(f"{here} is a {role} item: give its 'expert' answer")
    return NewItem(_key(study, unit), content, origin, role, expert, seed)


def _key(study: Study, unit: Sequence[Item]) -> str:
    first = unit[0]
    if study.kind == "pairwise preference":
        names = [item.id if item.id != first.id or item is first else item.system for item in unit]
        if unit[1].id == first.id:
            return f"{first.id}: {first.system} | {unit[1].system}"
        return " | ".join(map(str, names))
    return first.id if len(unit) == 1 else f"{first.id}+{len(unit) - 1}"


def _check_gold(item: Item, role: str) -> None:
    """A qualification asks the training items, and measures by their gold annotators."""
    if item.extra.get("gold") and role != "training":
        raise UsageError(
            f'{_where(item)} has \'gold\' answers for the qualification: give it "role": "training" too'
        )
    if role == "training" and not item.extra.get("gold"):
        raise UsageError(
            f"{_where(item)} is a training item of a study with qualification: give its 'gold' answers"
        )


def _known(study: Study, unit: Sequence[Item]) -> Any | None:
    """The known answer to all that is asked at once."""
    given = [item.extra.get("expert") for item in unit]
    if all(answer is None for answer in given):
        return None
    if study.kind == "pairwise preference":
        if not all(isinstance(answer, int | float) for answer in given):
            raise UsageError("give both texts an 'expert' number: the larger one's is the truer")
        return TIE if given[0] == given[1] else int(given[1] > given[0])  # type: ignore[operator]
    if study.kind == "story survey":
        if not all(isinstance(answer, dict) or answer is None for answer in given):
            raise UsageError("give 'expert' as each question's level, as in {\"coherence\": 5}")
        return {
            f"{n}.{name}": level for n, answer in enumerate(given) for name, level in (answer or {}).items()
        }
    return given[0]


def _text(item: Item) -> dict[str, Any]:
    return {"text": item.text} if item.sentences is None else {"sentences": list(item.sentences)}


def _answers(item: Item) -> dict[str, str]:
    given = item.extra.get("answers")
    if not isinstance(given, dict) or not given or not all(isinstance(text, str) for text in given.values()):
        raise UsageError(f'{_where(item)}: give its \'answers\', as in {{"scene": "in a kitchen"}}')
    return {str(axis): text for axis, text in given.items()}


def _gold(item: Item) -> dict[str, list[int]]:
    """The gold annotators' values, by question."""
    given = item.extra["gold"]
    given = {"value": given} if isinstance(given, list) else given
    if not isinstance(given, dict) or not all(isinstance(values, list) for values in given.values()):
        raise UsageError(f"{_where(item)}: give 'gold' as each question's list of annotators' levels")
    return {str(name): [int(value) for value in values] for name, values in given.items()}
