"""Small studies and drawn pictures for the server's tests."""

import io
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

from sightline.people.study import parse_study
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
