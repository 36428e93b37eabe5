"""Label Studio: items as tasks with a labelling interface for them, and what people answered there as ratings.

Reads its exports JSON, JSON-MIN and CSV. Of projects that were not made here take JSON: in the other two every number
of a task's data looks like an answer.
"""

import csv
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from sightline import BadLine, Item, Rating, UsageError

MINE = ("item", "system", "text", "images", "references")
"""Fields of a task's data. `id` is Label Studio's own."""
ABOUT = {*MINE, "id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time"}
"""What a row of JSON-MIN has besides answers."""


def tasks(items: Iterable[Item], pictures: str = "") -> list[dict[str, Any]]:
    """What Label Studio imports. `pictures` stands before each picture's name: an address, or
    `/data/local-files/?d=` for files on its own disk; without it paths stay as they are."""
    return [
        {
            "data": {
                "item": item.id,
                "text": text_of(item),
                "images": [address(path, pictures) for path in item.images],
                "references": list(item.references),
                **({"system": item.system} if item.system is not None else {}),
            }
        }
        for item in items
    ]


def interface(criteria: Sequence[str], low: int = 1, high: int = 5, shows: bool = True) -> str:
    """The labelling interface: the pictures, the text, and a scale for each criterion."""
    lines = ["<View>"]
    if shows:
        lines.append('  <Image name="pictures" valueList="$images"/>')
    lines.append('  <Text name="text" value="$text"/>')
    for name in criteria:
        lines.append(f"  <Header value={quoteattr(name)}/>")
        if low == 1:
            lines.append(
                f'  <Rating name={quoteattr(name)} toName="text" maxRating="{high}" required="true"/>'
            )
            continue
        lines.append(
            f'  <Choices name={quoteattr(name)} toName="text" choice="single-radio" required="true">'
        )
        lines += [f'    <Choice value="{level}"/>' for level in range(low, high + 1)]
        lines.append("  </Choices>")
    return "\n".join([*lines, "</View>"]) + "\n"


def ratings(export: Path | str) -> list[Rating]:
    """What people answered, from an export as JSON, JSON-MIN or CSV. Answers that were skipped are left out, and so are
    those that are no numbers (marked words, comments)."""
    return [one for where, task in _tasks(Path(export)) for one in _of_task(task, where)]


def items(export: Path | str) -> list[dict[str, Any]]:
    """The tasks' items, as `sightline.score` takes them, with the ratings that people gave."""
    path = Path(export)
    found: dict[tuple[str, str | None], dict[str, Any]] = {}
    for where, task in _tasks(path):
        data = task.get("data", task)
        id, system = _key(task, where)
        item = found.setdefault((id, system), {"id": id, "text": data.get("text", ""), "ratings": {}})
        item |= {name: data[name] for name in ("images", "references") if data.get(name)}
        item |= {"system": system} if system is not None else {}
        for one in _of_task(task, where):
            item["ratings"].setdefault(one.criterion, []).append(one.value)
    return list(found.values())


def text_of(item: Item) -> str:
    """The whole text, a story's sentences one below the other."""
    return "\n".join(item.sentences) if item.sentences else item.text


def address(path: Path, pictures: str) -> str:
    return f"{pictures}{path.name}" if pictures else str(path)


def _tasks(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    try:
        text = path.read_text("utf-8-sig")
        document: Any = _table(text) if path.suffix == ".csv" else json.loads(text)
    except (OSError, ValueError, csv.Error) as fault:
        raise UsageError(f"{path}: not an export of Label Studio ({' '.join(str(fault).split())})") from None
    for number, task in enumerate(document if isinstance(document, list) else [document], 1):
        if not isinstance(task, dict):
            raise UsageError(f"{path}: task {number} is no object; export the project as JSON or JSON-MIN")
        yield f"{path}, task {number}", task


def _table(text: str) -> list[dict[str, Any]]:
    """The rows of its CSV, in which answers stand as JSON."""
    return [
        {
            name: json.loads(cell) if cell.startswith(("[", "{")) else cell
            for name, cell in row.items()
            if cell
        }
        for row in csv.DictReader(text.splitlines(keepends=True))
    ]


def _key(task: Mapping[str, Any], where: str) -> tuple[str, str | None]:
    """The item and its system; a task that did not come from here goes by its number."""
    data = task.get("data", task)
    id = data.get("item", task.get("id")) if isinstance(data, dict) else None
    if id is None:
        raise BadLine(where, "it has neither 'item' nor 'id'")
    system = data.get("system")
    return str(id), None if system is None else str(system)


def _of_task(task: Mapping[str, Any], where: str) -> Iterator[Rating]:
    id, system = _key(task, where)
    if "data" in task:
        answers = [
            (_person(one.get("completed_by")), result.get("from_name"), _level(result.get("value")))
            for one in task.get("annotations") or task.get("completions") or ()
            if not one.get("was_cancelled")
            for result in one.get("result") or ()
        ]
    else:
        answers = [
            (_person(task.get("annotator")), name, _level(value))
            for name, value in task.items()
            if name not in ABOUT
        ]
    for rater, criterion, value in answers:
        if value is not None:
            yield Rating(id, rater, value, str(criterion), system, source=where)


def _person(given: Any) -> str:
    """Who answered: a number, or an object, of which Label Studio's own conversions take the address."""
    if isinstance(given, dict):
        given = given.get("email", given.get("id"))
    return "unknown" if given is None else str(given)


def _level(value: Any) -> float | None:
    """The number that was chosen, whatever it is wrapped in; None where there is none."""
    if isinstance(value, dict):
        known = (value.get(name) for name in ("rating", "number", "choices"))
        return next((level for one in known if one is not None and (level := _level(one)) is not None), None)
    if isinstance(value, list):
        return _level(value[0]) if len(value) == 1 else None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except ValueError:
        return None
