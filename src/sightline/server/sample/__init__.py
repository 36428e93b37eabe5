"""The sample studies a new server starts with, so that a newcomer can play at once."""

import tempfile
import tomllib
from pathlib import Path

import msgspec
from sqlalchemy import Connection, func, select

from sightline import demo
from sightline.people.study import parse_study
from sightline.server import setup
from sightline.server.setup import Scorer
from sightline.server.storage import schema as t

HERE = Path(__file__).parent


def is_empty(connection: Connection) -> bool:
    return connection.execute(select(func.count()).select_from(t.Study)).scalar_one() == 0


def prepare_samples(scorer: Scorer | None = None) -> list[setup.Prepared]:
    """A rating game, a description study and a story survey over the demo's photographs."""
    captions = tomllib.loads((HERE / "captions.toml").read_text("utf-8"))
    pictures = demo.STORIES.parent
    found = []
    for name in ("game", "description", "stories"):
        raw = (HERE / f"{name}.toml").read_bytes()
        study = parse_study(raw, "toml", f"{name}.toml")
        lines = _lines(name, captions, pictures)
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "items.jsonl").write_bytes(
                b"".join(msgspec.json.encode(line) + b"\n" for line in lines)
            )
            found.append(setup.prepare(study, Path(folder), scorer, inside=False, slug=f"sample-{name}"))
    return found


def _lines(
    name: str, captions: dict[str, list[dict[str, object]]], pictures: Path
) -> list[dict[str, object]]:
    if name == "game":
        return [
            _caption(key, place, line, pictures)
            for key, rows in captions.items()
            for place, line in enumerate(rows)
        ]
    if name == "description":
        people = ("camera", "astronaut", "officer")
        return [
            {"id": who, "images": [str(pictures / "pictures" / f"{who}.jpg")], "text": ""} for who in people
        ]
    stories = [msgspec.json.decode(line) for line in demo.STORIES.read_bytes().splitlines()]
    return [
        {**story, "images": [str(pictures / image) for image in story["images"]]}
        for story in stories
        if len(story["images"]) > 1
    ]


def _caption(picture: str, place: int, line: dict[str, object], pictures: Path) -> dict[str, object]:
    path = str(pictures / "pictures" / f"{picture}.jpg")
    return {"id": f"{picture}-{place}", "images": [path], **line}
