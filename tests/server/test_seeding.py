"""The caption rater's ratings as seeds of a rating game."""

import json
from pathlib import Path

import pytest

from sightline import demo
from sightline.errors import UsageError
from sightline.people.study import parse_study
from sightline.server import setup
from sightline.server.seeding import rater_seeds
from sightline.server.setup import prepare

PICTURES = demo.STORIES.parent / "pictures"


def game(folder: Path, rows: list[dict[str, object]], settings: str = "") -> setup.Prepared:
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = f'kind = "rating game"\ntitle = "Captions"\nseeds = "rater"\n{settings}'
    return prepare(parse_study(text, "toml"), folder, inside=False)


def rows() -> list[dict[str, object]]:
    cat = str(PICTURES / "cat.jpg")
    return [
        {"id": "good", "images": [cat], "text": "A close-up of a tabby cat looking at the camera."},
        {"id": "wrong", "images": [cat], "text": "Two boys play football on a beach."},
        {"id": "own", "images": [cat], "text": "A cat.", "seed": 5},
        {"id": "lesson", "images": [cat], "text": "A cat.", "role": "training", "expert": 3},
    ]


def test_main_items_get_the_raters_level(tmp_path: Path) -> None:
    seeds = {item.key: item.seed for item in game(tmp_path, rows()).items}
    assert seeds["good"] > seeds["wrong"] == 1
    assert seeds["own"] == 5  # a seed that was given stays
    assert seeds["lesson"] is None


def test_without_the_setting_nothing_is_seeded(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text(json.dumps(rows()[0]))
    prepared = prepare(parse_study('kind = "rating game"\ntitle = "x"', "toml"), tmp_path, inside=False)
    assert prepared.items[0].seed is None


def test_other_scales_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="levels 1 to 5"):
        game(tmp_path, rows()[:1], 'scale = "binary"')
    assert {item.seed for item in game(tmp_path, rows()[:2], 'scale = "flickr8k"').items} <= {1, 2, 3, 4}
    with pytest.raises(UsageError, match="description"):
        rater_seeds(parse_study('kind = "description"\ntitle = "x"', "toml"), [])


def test_pictures_outside_an_uploaded_study_are_not_opened(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text(json.dumps(rows()[0]))
    study = parse_study('kind = "rating game"\ntitle = "x"\nseeds = "rater"', "toml")
    with pytest.raises(UsageError, match="outside the study's folder"):
        prepare(study, tmp_path)
