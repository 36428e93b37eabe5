"""PASCAL-50S, FOIL, THumB, Nebula, Polaris and CxC: samples in the published layout, with its row counts."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from doors import command
from sightline.errors import UsageError
from sightline.io import read_items
from sightline.items import Item
from sightline.meta.protocols import make_protocol

WORDS = "a dog cat man woman boat river tree house red blue small runs sits near".split()


def text(seed: int) -> str:
    return " ".join(np.random.default_rng(seed).choice(WORDS, 7))


def put(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), "utf-8")
    return path


def put_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


def picture(path: Path, seed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.random.default_rng(seed).integers(0, 256, (12, 16, 3), dtype=np.uint8)).save(path)


def pascal(count: int, photos: int = 50) -> dict[str, Any]:
    return {
        kind: [
            {
                "image": f"VOC2012/JPEGImages/2008_{(100 * place + n) % photos:06}.jpg",
                "captions": [text(2 * n), text(2 * n + 1)],
                "label": n % 2,
                "references": [text(2 * n + n % 2), *(text(9000 + n + k) for k in range(4))],
            }
            for n in range(count)
        ]
        for place, kind in enumerate(("HC", "HI", "HM", "MM"))
    }


def valse(count: int) -> dict[str, Any]:
    return {
        f"foil_{n}": {
            "dataset": "FOIL dataset",
            "image_file": f"COCO_val2014_{n % 40:012}.jpg",
            "caption": f"A dog {n}.",
            "foil": f"A cat {n}.",
            "mturk": {"caption": 1 if n < 57 else 2 + n % 2, "foil": 1, "other": 0},
        }
        for n in range(count)
    }


def thumb(folder: Path, segments: int) -> None:
    systems = ("Human", "Up-Down", "Unified-VLP", "VinVL-base", "VinVL-large")
    rows = [
        {
            "SYS": system, "seg_id": n, "hyp": text(10 * n + place), "image": f"COCO_val2014_{n:012}.jpg",
            "P": 1 + (n + place) % 5, "R": 1 + n % 5, "Fl": 0.0, "Inc": 0.0, "Con": 0.0,
            "human_score": (n + place) % 9 / 2,
        }
        for n in range(segments)
        for place, system in enumerate(systems)
    ]  # fmt: skip
    put_lines(folder / "mscoco_THumB-1.0.jsonl", rows)
    put_lines(
        folder / "mscoco_references.json",
        [{"seg_id": n, "refs": [text(n), text(n + 1)]} for n in range(segments)],
    )


def scored(count: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {
            "imgid": f"{n % 30:05}.jpg",
            "mt": text(n),
            "refs": [text(n), text(n + 1)],
            "score": n % 5 / 4,
            **more,
        }
        for n in range(count)
    ]


def test_pascal_50s_rows_and_pairs(tmp_path: Path) -> None:
    put(tmp_path / "pascal_50s.json", pascal(1000))
    items = make_protocol("pascal-50s").items(tmp_path, pictures=False)
    assert len(items) == 8000 and len({item.extra["pair"] for item in items}) == 4000
    one, two = items[:2]
    assert (one.ratings, two.ratings) == (
        {"preference": (1.0,), "HC": (1.0,)},
        {"preference": (0.0,), "HC": (0.0,)},
    )
    assert one.text != two.text and len(one.references) == 5 and one.group == "2008_000000.jpg"
    assert sum("MM" in item.ratings for item in items) == 2000


def test_pascal_50s_accuracy_has_intervals_over_photos_and_its_ties_are_said(tmp_path: Path) -> None:
    document = pascal(60)
    document["HC"][0]["captions"] = ["the same", "the same"]
    put(tmp_path / "pascal_50s.json", document)
    told = command(
        "meta", "--protocol", "pascal-50s", "--data", tmp_path, "-m", "bleu-1", "-o", tmp_path / "out"
    )
    assert " tied" in told
    rows = json.loads((tmp_path / "out" / "meta.json").read_text())["rows"]
    row = next(row for row in rows if row["criterion"] == "preference")
    low, high = row["ci"]["pairwise_accuracy"]
    assert row["pairs"] == 240 and row["ties"] >= 1 and low <= row["pairwise_accuracy"] <= high
    assert row["groups"] == 50 and row["pairwise_accuracy"] > 0.85, (
        "the preferred caption is among the references"
    )
    assert [one["pairs"] for one in rows if one["criterion"] in ("HC", "HI", "HM", "MM")] == [60] * 4
    assert "accuracy in pairs" in (tmp_path / "out" / "report.html").read_text()


def test_foil_as_valse_has_it(tmp_path: Path) -> None:
    put(tmp_path / "foil-it.json", valse(1000))
    assert len(make_protocol("foil").items(tmp_path, pictures=False)) == 2 * 943
    assert len(make_protocol("foil:keep=all").items(tmp_path, pictures=False)) == 2000
    first, second = make_protocol("foil").items(tmp_path, pictures=False)[:2]
    assert (first.text, first.ratings["right"], second.ratings["right"]) == ("A dog 57.", (1.0,), (0.0,))
    assert first.extra["pair"] == second.extra["pair"]


def test_foil_as_published(tmp_path: Path) -> None:
    rows = [
        {"image_id": 42, "id": 7, "caption": "A dog.", "foil": False, "foil_word": "ORIG", "foil_id": 7},
        {"image_id": 42, "id": 7, "caption": "A cat.", "foil": True, "foil_word": "cat", "foil_id": 90},
        {"image_id": 42, "id": 7, "caption": "A bus.", "foil": True, "foil_word": "bus", "foil_id": 91},
    ]
    images = [{"id": 42, "file_name": "COCO_val2014_000000000042.jpg"}]
    put(tmp_path / "any_name.json", {"images": images, "annotations": rows})
    items = make_protocol("foil").items(tmp_path, pictures=False)
    assert [item.text for item in items] == ["A dog.", "A cat.", "A dog.", "A bus."]
    assert items[0].images[0].name == "COCO_val2014_000000000042.jpg"
    put(tmp_path / "any_name.json", {"images": images, "annotations": rows[1:]})
    with pytest.raises(UsageError, match="the caption that the foil was made of is missing"):
        make_protocol("foil").items(tmp_path, pictures=False)


def test_thumb_with_and_without_people(tmp_path: Path) -> None:
    thumb(tmp_path, 500)
    items = make_protocol("thumb").items(tmp_path, pictures=False)
    assert len(items) == 2500 and len({item.images for item in items}) == 500
    assert len({item.key for item in items}) == 2500, "five systems of one id"
    assert set(items[0].ratings) == {"total", "precision", "recall"} and len(items[0].references) == 2
    without = make_protocol("thumb:people=drop").items(tmp_path, pictures=False)
    assert len(without) == 2000 and "Human" not in {item.system for item in without}
    assert make_protocol("thumb").headline == "pearson"


def test_nebula_and_polaris(tmp_path: Path) -> None:
    put(tmp_path / "nebula_test.json", scored(3298))
    items = make_protocol("nebula").items(tmp_path, pictures=False)
    assert (
        len(items) == 3298
        and items[3].ratings == {"score": (0.75,)}
        and len({item.id for item in items}) == 3298
    )
    (tmp_path / "polaris").mkdir()
    put(tmp_path / "polaris" / "whatever.json", scored(4237, raters=8))
    items = make_protocol("polaris").items(tmp_path / "polaris", pictures=False)
    assert len(items) == 4237 and items[0].references and items[0].group == "00000.jpg"
    put(tmp_path / "nebula_test.json", [{**scored(1)[0], "score": 3}])
    with pytest.raises(UsageError, match="outside the scale from 0 to 1"):
        make_protocol("nebula").items(tmp_path, pictures=False)


def test_cxc(tmp_path: Path) -> None:
    annotations = [{"image_id": n, "id": 100 + n, "caption": f"A dog {n}."} for n in range(3)]
    annotations.append({"image_id": 0, "id": 200, "caption": "Another dog."})
    put(tmp_path / "captions_val2014.json", {"images": [], "annotations": annotations})
    lines = ["caption,image,agg_score,sampling_method"]
    lines += [
        "COCO_val2014:sentid:101,COCO_val2014_000000000000.jpg,1.8,c2i_intrasim",
        "COCO_val2014:sentid:100,COCO_val2014_000000000000.jpg,4.99,c2i_original",
    ]
    (tmp_path / "sits_test.csv").write_text("\n".join(lines) + "\n")
    one, two = make_protocol("cxc").items(tmp_path, pictures=False)
    assert (one.text, one.ratings["similarity"], one.references) == (
        "A dog 1.",
        (1.8,),
        ("A dog 0.", "Another dog."),
    )
    assert two.references == ("Another dog.",) and two.extra["method"] == "c2i_original"
    (tmp_path / "sits_test.csv").write_text("\n".join([lines[0], lines[1].replace("101", "999")]))
    with pytest.raises(UsageError, match=r"caption 999 is not in captions_val2014\.json"):
        make_protocol("cxc").items(tmp_path, pictures=False)


def test_missing_pictures_are_counted_and_named_and_the_rest_is_scored(tmp_path: Path) -> None:
    put(tmp_path / "pascal_50s.json", pascal(4, photos=6))
    for n in range(4):
        picture(tmp_path / "VOC2012" / "JPEGImages" / f"2008_{n:06}.jpg", n)
    from typer.testing import CliRunner

    from sightline.cli.app import load_commands

    line = ["meta", "--protocol", "pascal-50s", "--data", tmp_path, "-m", "clipscore", "-o", tmp_path / "out"]
    done = CliRunner().invoke(load_commands(), [*map(str, line), "--samples", "0", "--no-cache"])
    said = " ".join(done.output.split())
    assert done.exit_code == 3 and "2 of 6 pictures are missing: 2008_000004.jpg, 2008_000005.jpg" in said
    rows = json.loads((tmp_path / "out" / "meta.json").read_text())["rows"]
    assert rows[0]["pairs"] > 0 and rows[0]["missing"] > 0


@pytest.mark.parametrize(
    ("name", "document", "told"),
    [
        ("pascal_50s.json", {"HC": [{"image": "x.jpg", "captions": ["a"], "label": 0}]}, "not two captions"),
        (
            "pascal_50s.json",
            {"HC": [{"image": "x.jpg", "captions": ["a", "b"], "label": 2}]},
            "neither 0 nor 1",
        ),
        (
            "pascal_50s.json",
            {"HC": [{"image": "../x", "captions": ["a", "b"], "label": 1}, {}]},
            "is not the name of a picture",
        ),
        ("pascal_50s.json", {"XX": []}, "not PASCAL-50S"),
    ],
)
def test_bad_files_are_one_clear_line(tmp_path: Path, name: str, document: Any, told: str) -> None:
    put(tmp_path / name, document)
    with pytest.raises(UsageError, match=told) as caught:
        make_protocol("pascal-50s").items(tmp_path, pictures=False)
    assert "\n" not in str(caught.value)


def test_the_files_are_recognised(tmp_path: Path) -> None:
    """`sightline score` reads them too."""
    paths = [
        put(tmp_path / "p.json", pascal(2)),
        put(tmp_path / "v.json", valse(60)),
        put(tmp_path / "n.json", scored(3)),
    ]
    thumb(tmp_path, 2)
    found = [[one for one in read_items(path) if isinstance(one, Item)] for path in paths]
    assert [len(items) for items in found] == [16, 6, 3]
    assert len(list(read_items(tmp_path / "mscoco_THumB-1.0.jsonl"))) == 10
