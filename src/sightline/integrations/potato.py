"""Potato: items as a project with a scale for each criterion, and what people answered there as ratings.

Reads the folder of a project, or its `annotation_output`: a `user_state.json` for each person (Potato 2), or an
`annotated_instances.jsonl` for each (Potato 1).
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from sightline import Item, Rating, UsageError
from sightline.integrations.label_studio import address, text_of

ITEMS, SETTINGS, ANSWERS = "items.jsonl", "config.yaml", "annotation_output"
STATE, INSTANCES = "user_state.json", "annotated_instances.jsonl"


def project(
    items: Iterable[Item],
    criteria: Sequence[str],
    high: int = 5,
    pictures: str = "",
    title: str = "Texts and their pictures",
) -> dict[str, str]:
    """The files of a project, by name. Potato's scales begin with 1; `pictures` stands before each picture's name."""
    rows: dict[str, dict[str, Any]] = {}
    most = 0
    for item in items:
        name = item.id if item.system is None else f"{item.id} ({item.system})"
        if name in rows:
            raise UsageError(f"two items would be called '{name}' in Potato")
        images = [address(path, pictures) for path in item.images]
        most = max(most, len(images))
        rows[name] = {"id": name, "item": item.id, "system": item.system, "text": text_of(item)}
        rows[name] |= {f"image_{n}": image for n, image in enumerate(images, 1)}
    if most:
        for row in rows.values():
            row |= {f"image_{n}": row.get(f"image_{n}", "") for n in range(1, most + 1)}
    shown = [{"key": f"image_{n}", "type": "image"} for n in range(1, most + 1)]
    settings = {
        "annotation_task_name": title,
        "task_dir": ".",
        "data_files": [ITEMS],
        "output_annotation_dir": ANSWERS,
        "item_properties": {"id_key": "id", "text_key": "text"},
        "instance_display": {"fields": [*shown, {"key": "text", "type": "text"}]},
        "annotation_schemes": [
            {
                "annotation_type": "likert",
                "name": name,
                "description": name,
                "min_label": "1",
                "max_label": str(high),
                "size": high,
                "label_requirement": {"required": True},
            }
            for name in criteria
        ],
    }
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows.values())
    return {ITEMS: lines, SETTINGS: json.dumps(settings, indent=2, ensure_ascii=False) + "\n"}  # JSON is YAML


def ratings(folder: Path | str) -> list[Rating]:
    """What people answered, from the folder of a project; answers that are no numbers are left out."""
    place = Path(folder)
    answers = place / ANSWERS if (place / ANSWERS).is_dir() else place
    files = [*sorted(answers.rglob(STATE)), *sorted(answers.rglob(INSTANCES))]
    if not files:
        raise UsageError(f"{place}: no {STATE} and no {INSTANCES} in it; give the folder of a Potato project")
    known = _keys(answers.parent / ITEMS)
    found = []
    for path in files:
        for rater, instance, criterion, value in (_state if path.name == STATE else _instances)(path):
            item, system = known.get(instance, (instance, None))
            found.append(Rating(item, rater, value, criterion, system, source=str(path)))
    return found


def _keys(path: Path) -> dict[str, tuple[str, str | None]]:
    """What the project's items are called in Sightline."""
    if not path.is_file():
        return {}
    rows = [row for _, row in _lines(path)]
    return {
        str(row["id"]): (str(row["item"]), row.get("system")) for row in rows if {"id", "item"} <= set(row)
    }


def _state(path: Path) -> Iterator[tuple[str, str, str, float]]:
    """Potato 2: for each instance a list of label and value."""
    state = _json(path.read_text("utf-8"), str(path))
    for instance, labels in (state.get("instance_id_to_label_to_value") or {}).items():
        for label, value in labels:
            if (level := _level(label.get("name"), value)) is not None:
                yield str(state.get("user_id", path.parent.name)), instance, str(label.get("schema")), level


def _instances(path: Path) -> Iterator[tuple[str, str, str, float]]:
    """Potato 1: a line an instance, for each scheme its labels with their values."""
    for _, row in _lines(path):
        for criterion, labels in (row.get("label_annotations") or {}).items():
            for name, value in labels.items():
                if (level := _level(name, value)) is not None:
                    yield str(row.get("user_id", path.parent.name)), str(row["id"]), criterion, level


def _level(name: Any, value: Any) -> float | None:
    """The point of a scale: its value, or the number at the end of its name (`scale_4`) where that only says yes."""
    for given in (value, str(name).rpartition("_")[2]):
        try:
            if not isinstance(given, bool) and given is not None:
                return float(given)
        except ValueError:
            continue
    return None


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip():
            yield number, _json(line, f"{path}:{number}")


def _json(text: str, where: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        found = None
    if not isinstance(found, Mapping):
        raise UsageError(f"{where}: not JSON as Potato writes it")
    return dict(found)
