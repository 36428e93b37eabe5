"""Small studies and drawn pictures for the server's tests."""

import io
import json
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

from nursery import Nursery, free_port  # noqa: F401 - for the tests beside this file
from sightline.people.study import parse_study
from sightline.server import setup
from sightline.server.pictures import Shown, encode
from sightline.server.storage import items, studies
from sightline.server.storage.database import Database
from sightline.server.storage.items import NewItem

GAME = 'kind = "rating game"\ntitle = "Captions"\n'


def drawing(number: int = 0, size: tuple[int, int] = (64, 48)) -> bytes:
    """A small PNG that differs with the number."""
    picture = Image.new("RGB", size, ((number * 37) % 256, (number * 91) % 256, 120))
    ImageDraw.Draw(picture).ellipse((8, 8, 8 + number % 40, 40), fill=(255, 240, (number * 53) % 256))
    out = io.BytesIO()
    picture.save(out, "PNG")
    return out.getvalue()


def shown(number: int) -> Shown:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{number}.png"
        path.write_bytes(drawing(number))
        return encode(path, path.name)


def make_study(
    database: Database, settings: str = "", *, slug="captions", main=5, training=0, gold=0, attention=0
):
    """A rating game with made-up captions. The level of item n is 1 + n mod 5."""
    with database.write() as connection:
        stored = studies.add(connection, slug, parse_study(GAME + settings, "toml"), public=True)
        pictures = [shown(n) for n in range(3)]
        for n, picture in enumerate(pictures):
            items.add_picture(connection, stored.id, f"{n}.png", picture)
        roles = [("main", main), ("training", training), ("gold", gold), ("attention", attention)]
        rows = [
            NewItem(
                f"{role}-{n}",
                {"text": f"caption {n}", "pictures": [pictures[n % 3].sha]},
                {"system": "sys"},
                role,
                None if role == "main" else 1 + n % 5,
            )
            for role, count in roles
            for n in range(count)
        ]
        items.add_items(connection, stored, rows)
    return stored


def _story(number: int, **more: object) -> dict[str, object]:
    return {
        "id": f"s{number}",
        "images": ["0.png", "1.png"],
        "sentences": ["One dog.", f"Two {number}."],
        **more,
    }


KINDS: dict[str, tuple[str, list[dict[str, object]], list[dict[str, str]]]] = {
    "rating game": (
        "training = {tutorial = 0, probation = 0}\n",
        [{"id": f"c{n}", "images": ["0.png"], "text": f"caption {n}"} for n in range(3)],
        [{"value": "2"}, {"value": "4"}],
    ),
    "description": (
        "",
        [{"id": f"d{n}", "images": [f"{n}.png"]} for n in range(3)],
        [
            {"scene": "in a ski resort", "action": "They are skiing.", "rationale": "They are on a holiday."},
            {"scene": "on a hill", "action": "They ski down.", "rationale": "They like the snow."},
        ],
    ),
    "confidence": (
        "",
        [
            {"id": f"a{n}", "images": [f"{n}.png"], "answers": {"scene": "a hall", "action": "He sits."}}
            for n in range(3)
        ],
        [{"scene": "5", "action": "2"}, {"scene": "4", "action": "3"}],
    ),
    "story survey": (
        "",
        [_story(n, system=f"sys{n}") for n in range(2)] + [{**_story(7), "images": ["2.png"]}],
        [
            {"grounding": "5", "coherence": "2", "no_repetition": "3"},
            {"grounding": "1", "coherence": "2", "no_repetition": "5"},
        ],
    ),
    "grounding survey": (
        'consent = ""\n',
        [{**_story(n), "id": f"g{n}"} for n in range(3)],
        [{"value": "1"}, {"value": "4"}],
    ),
    "pairwise preference": (
        "",
        [_story(1, id=f"p{n}", system=system) for n in range(3) for system in ("one", "two")],
        [{"better": "0"}, {"better": "tie"}],
    ),
    "error marking": ("", [{**_story(n), "id": f"e{n}"} for n in range(3)], [{"errors": "1 2"}, {"errors": "none"}]),
}  # fmt: skip
"""Kind to settings, items, and what two people might say of an item."""


def answer_of(kind: str, person: int, content: dict) -> dict[str, str]:
    """What one of two people says of an item."""
    given = KINDS[kind][2][person % 2]
    if kind != "story survey":
        return given
    stories = range(len(content["stories"]))
    return {f"{n}.{name}": level for n in stories for name, level in given.items()} | (
        {"best": str(person % 2)} if len(stories) > 1 else {}
    )


def set_up(
    database: Database,
    folder: Path,
    kind: str,
    settings: str = "",
    slug: str = "kind",
    more=(),
):
    """A study of a kind over drawn pictures, from its files."""
    for n in range(3):
        (folder / f"{n}.png").write_bytes(drawing(n))
    own, lines, _ = KINDS[kind]
    (folder / "items.jsonl").write_text("\n".join(map(json.dumps, [*lines, *more])))
    study = parse_study(f'kind = "{kind}"\ntitle = "{kind}"\n{settings or own}', "toml")
    with database.write() as connection:
        return setup.store(connection, setup.prepare(study, folder, slug=slug), public=True)
