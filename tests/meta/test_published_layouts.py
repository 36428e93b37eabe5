"""The protocols on the files that their authors publish: every layout, and the same numbers as from our own form."""

import csv
import json
import re
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from doors import command
from sightline.errors import UsageError
from sightline.functional import coco_scores
from sightline.io import read_items
from sightline.items import Item
from sightline.meta.correlation import correlate
from sightline.meta.protocols import make_protocol
from sightline.meta.protocols.base import protocols
from sightline.meta.ratings import mean

PHOTO = 192
CAPTIONS = ["A batter swings.", "A pitcher on the mound throws a ball."]
VICR = f"""\ufeffimage,caption,subset,num_ratings,ratings,rating_2,rating_3,rating_4,rating_5,rating_6,rating_7
http://images.cocodataset.org/val2014/COCO_val2014_{PHOTO:012}.jpg,a pitcher throws a ball,train,4,4,5,4,5,,,
http://images.cocodataset.org/val2014/COCO_val2014_{PHOTO:012}.jpg,A batter swings.,val,4,4,3,4,3,,,
http://images.cocodataset.org/val2014/COCO_val2014_{PHOTO:012}.jpg,a dog on a sofa,test,5,1,1,2,1,1,,
http://images.cocodataset.org/val2014/COCO_val2014_{PHOTO:012}.jpg,a man throws,test,4,3,3,4,3,,,
"""


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    return path


def coco_file(captions: dict[int, list[str]]) -> str:
    """COCO's annotations as in captions_val2014.json."""
    return json.dumps(
        {
            "images": [{"id": one, "file_name": f"COCO_val2014_{one:012}.jpg"} for one in captions],
            "annotations": [
                {"image_id": one, "id": 1000 * one + n, "caption": text}
                for one, texts in captions.items()
                for n, text in enumerate(texts)
            ],
        }
    )


def judged_file(rows: Iterable[tuple[str, str, str, list[float], list[str]]]) -> str:
    """CLIPScore's form, an entry a rating, from key, picture, caption, ratings and the picture's captions."""
    document: dict[str, Any] = {}
    for key, picture, caption, ratings, truths in rows:
        one = document.setdefault(
            key, {"human_judgement": [], "image_id": key, "image_path": picture, "ground_truth": truths}
        )
        one["human_judgement"] += [
            {"image_id": key, "image_path": picture, "caption": caption, "rating": rating}
            for rating in ratings
        ]
    return json.dumps(document)


def composite_file(rows: Iterable[tuple[str, list[str], list[float]]]) -> str:
    """A published CSV of Composite, from address, captions and ratings; its last two rows are tallies."""
    lines = ["HITId,WorkerId,Title,Input.all"]
    for address, captions, ratings in rows:
        cell = ";".join([address, *captions, *(f"{rating:g}" for rating in ratings)]).replace('"', '""')
        lines.append(f'3AB,W1,rate,"{cell}"')
    return "\n".join([*lines, ',,,"3 HITs"', ",,,"]) + "\n"


@pytest.mark.parametrize(
    "place",
    [
        f"COCO_val2014_{PHOTO:012}.jpg",
        f"val2014/COCO_val2014_{PHOTO:012}.jpg",
        f"images/val2014/COCO_val2014_{PHOTO:012}.jpg",
        f"coco/val2014/COCO_val2014_{PHOTO:012}.webp",
        f"train2014/COCO_train2014_{PHOTO:012}.jpg",
        f"val2017/{PHOTO:012}.jpg",
        f"images/{PHOTO}.webp",
        f"{PHOTO:012}.png",
    ],
)
def test_vicr_beside_photos_in_any_usual_place(tmp_path: Path, place: str) -> None:
    write(tmp_path / "VICR_dataset.csv", VICR)
    write(tmp_path / "another.csv", "a,b\n1,2\n")
    picture = write(tmp_path / place, "picture")
    items = make_protocol("vicr").items(tmp_path)
    assert {item.images[0] for item in items} == {picture}
    assert [len(item.ratings["overall"]) for item in items] == [4, 4, 5, 4]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("captions_val2014.json", coco_file({PHOTO: CAPTIONS})),
        ("annotations/captions_val2014.json", coco_file({PHOTO: CAPTIONS})),
        ("references.jsonl", json.dumps({"id": PHOTO, "references": CAPTIONS}) + "\n"),
        ("references.jsonl", json.dumps({"image": f"COCO_val2014_{PHOTO:012}.jpg", "references": CAPTIONS})),
        ("references.jsonl", json.dumps({"id": "a", "images": [f"x/{PHOTO:012}.jpg"], "references": CAPTIONS})),
        ("references.csv", f'id,references\n{PHOTO},"{json.dumps(CAPTIONS)}"\n'.replace('"', '""')
         .replace('""[', '"[').replace(']""', ']"')),
    ],
)  # fmt: skip
def test_vicr_references_from_whatever_holds_them(tmp_path: Path, name: str, content: str) -> None:
    write(tmp_path / "vicr.csv", VICR)
    write(tmp_path / name, content)
    first, own, *_ = make_protocol("vicr").items(tmp_path, pictures=False)
    assert first.references == tuple(CAPTIONS)
    assert own.references == (CAPTIONS[1],), "a candidate is none of its references"


def test_a_subset_of_vicr_from_file_to_table(tmp_path: Path) -> None:
    write(tmp_path / "vicr.csv", VICR)
    write(tmp_path / "captions_val2014.json", coco_file({PHOTO: CAPTIONS}))
    out = tmp_path / "out"
    command(
        *("meta", "--protocol", "vicr:subset=test", "--data", tmp_path, "-m", "bleu-1", "-o", out),
        *("--samples", 0),
    )
    rows = {row["metric"]: row for row in json.loads((out / "meta.json").read_text())["rows"]}
    assert rows["bleu-1"]["n"] == 9
    assert [
        len(make_protocol(f"vicr:subset={part}").items(tmp_path, pictures=False)) for part in ("train", "val")
    ]
    two = write(tmp_path / "two.csv", VICR)
    (tmp_path / "vicr.csv").rename(tmp_path / "one.csv")
    with pytest.raises(UsageError, match=r"one\.csv, two\.csv could each be VICR's file"):
        make_protocol("vicr").items(tmp_path, pictures=False)
    two.unlink()
    (tmp_path / "one.csv").unlink()
    with pytest.raises(UsageError, match="has no vicr_sample"):
        make_protocol("vicr").items(tmp_path, pictures=False)


TOKENS = "".join(
    f"7_a.jpg#{n}\t{text}\n"
    for n, text in enumerate(
        ["A boat .", "Two men in a boat .", "A red boat .", "Men row .", "A boat at sea ."]
    )
) + "".join(
    f"8_b.jpg#{n}\t{text}\n" for n, text in enumerate(["A dog .", "A dog runs .", "A brown dog runs ."])
)


def composite_folder(folder: Path) -> Path:
    """Made up in the published form: a caption of 8k is word for word one of its photo's own."""
    site = "http://www.public.asu.edu/~someone"
    write(folder / "Flickr8k.token.txt", TOKENS)
    write(folder / "8k_correctness.csv", composite_file([
        (f"{site}/8k/7_a.jpg", ["Two men in a boat .", "a boat, red", "a dog"], [5, 4, 1]),
    ]))  # fmt: skip
    write(folder / "30k_correctness.csv", composite_file([
        (f"{site}/30k/36979.jpg", ["a hat", "a \"big\" hat", "a cat", "two cats"], [3, 4, 1, 1]),
    ]))  # fmt: skip
    write(folder / "results_20130124.token", "36979.jpg#0\tA man in a hat .\n36979.jpg#1\tA hat .\n")
    write(folder / "coco_correctness.csv", composite_file([
        (f"{site}/COCO_val2014_{PHOTO:012}.jpg", ["A batter swings.", "a game", "a dog", "x"], [5, 3, 1, 1]),
    ]))  # fmt: skip
    write(folder / "annotations" / "captions_val2014.json", coco_file({PHOTO: CAPTIONS}))
    for place in (
        "Flicker8k_Dataset/7_a.jpg",
        f"val2014/COCO_val2014_{PHOTO:012}.jpg",
        "flickr30k-images/36979.jpg",
    ):
        write(folder / place, "picture")
    return folder


def test_composite_as_published(tmp_path: Path) -> None:
    items = {item.id: item for item in make_protocol("composite").items(composite_folder(tmp_path))}
    assert list(items) == [
        *("flickr8k/7_a#1", "flickr8k/7_a#2"),  # not the photo's own caption
        *(f"flickr30k/36979#{n}" for n in range(4)),
        *(f"coco/{PHOTO}#{n}" for n in range(4)),
    ]
    assert all(item.images[0].is_file() for item in items.values())
    assert items["flickr8k/7_a#1"].text == "a boat, red"
    assert items["flickr30k/36979#1"].text == 'a "big" hat'
    assert items[f"coco/{PHOTO}#0"].references == (CAPTIONS[1],), "without the candidate"
    assert [item.ratings["correctness"][0] for item in items.values()] == [4, 1, 3, 4, 1, 1, 5, 3, 1, 1]
    kept = make_protocol("composite:own=keep").items(tmp_path)
    assert [item.id for item in kept][:2] == ["flickr8k/7_a#0", "flickr8k/7_a#1"]
    assert all("Two men in a boat ." not in item.references for item in kept[:1])


@pytest.mark.parametrize("end", ["", ',,,"3 HITs"\n,,,mean\n', ",,,\n,,,\n", 'a,b\n"",""\n', ',,,"3 HITs"\n'])
def test_the_tallies_below_composites_rows_are_no_data(tmp_path: Path, end: str) -> None:
    rows = composite_file([("http://x.org/7_a.jpg", ["a", "b", "c"], [5, 4, 1])] * 2).splitlines()[:3]
    path = write(tmp_path / "8k_throughness.csv", "\n".join(rows) + "\n" + end)
    found = list(read_items(path, on_error="collect"))
    assert [(item.text, item.ratings) for item in found][:3] == [
        (text, {"throughness": (rating,)}) for text, rating in (("a", 5.0), ("b", 4.0), ("c", 1.0))
    ]
    assert len(found) == 6


def test_one_part_of_composite_is_enough(tmp_path: Path) -> None:
    composite_folder(tmp_path)
    for name in ("8k_correctness.csv", "30k_correctness.csv"):
        (tmp_path / name).unlink()
    assert [item.id.split("/")[0] for item in make_protocol("composite").items(tmp_path)] == ["coco"] * 4
    (tmp_path / "annotations" / "captions_val2014.json").unlink()
    with pytest.raises(
        UsageError, match=r"no photo of Composite has references there; give captions_val2014\.json"
    ):
        make_protocol("composite").items(tmp_path)


def test_every_published_protocol_says_what_its_folder_holds() -> None:
    """And an empty folder is told which file is missing."""
    for name in protocols:
        tree = protocols.get(name).tree
        if name not in ("likert", "vist-rovist"):
            assert tree.count("\n") >= 1, name
            assert all(re.search(r"\S  +\S|\.csv", line) for line in tree.split("\n")), name


def kendall(items: list[Item], criterion: str, kind: str) -> tuple[int, float]:
    """How many ratings, and their correlation with BLEU-1."""
    scored = coco_scores([item.text for item in items], [item.references for item in items]).bleu[:, 0]
    if kind == "kendall_b":
        pairs = [(score, mean(item.ratings[criterion])) for score, item in zip(scored, items, strict=True)]
    else:
        pairs = [
            (score, rating)
            for score, item in zip(scored, items, strict=True)
            for rating in item.ratings[criterion]
        ]
    found = correlate([a for a, _ in pairs], [b for _, b in pairs]).values[kind]
    return len(pairs), round(100 * (found or 0), 6)


def real(folder: Path, name: str) -> list[Item]:
    return [item for item in make_protocol(name).items(folder, pictures=False) if item.references]


@pytest.mark.data
def test_vicr_in_its_published_layout_gives_the_same_numbers(data: Path, tmp_path: Path) -> None:
    write(tmp_path / "release.csv", (data / "vicr_sample.csv").read_text("utf-8"))
    (tmp_path / "references.jsonl.gz").write_bytes((data / "coco_eval_references.jsonl.gz").read_bytes())
    expected = kendall(real(data, "vicr"), "overall", "kendall_c")
    assert kendall(real(tmp_path, "vicr"), "overall", "kendall_c") == expected
    captions = known_captions(tmp_path / "references.jsonl.gz")
    (tmp_path / "references.jsonl.gz").unlink()
    write(tmp_path / "annotations" / "captions_val2014.json", coco_file(captions))
    assert kendall(real(tmp_path, "vicr"), "overall", "kendall_c") == expected and expected[0] > 250
    parts = [
        len(make_protocol(f"vicr:subset={part}").items(tmp_path, pictures=False))
        for part in ("train", "val", "test")
    ]
    with (data / "vicr_sample.csv").open(encoding="utf-8-sig") as rows:
        counted = [row["subset"] for row in csv.DictReader(rows)]
    assert parts == [counted.count(part) for part in ("train", "val", "test")] and min(parts) > 0


def known_captions(path: Path) -> dict[int, list[str]]:
    from sightline.io.table import TableFile

    return {
        int(row["id"]): row["references"] for _, row in TableFile(path).records() if isinstance(row, dict)
    }


@pytest.mark.data
def test_composite_in_its_published_layouts_gives_the_same_numbers(data: Path, tmp_path: Path) -> None:
    """As CSV (8k, whose rows are whole here) and as CLIPScore's JSON (8k and COCO)."""
    ours = [item for n, item in enumerate(real(data, "composite")) if n % 300 < 60]  # a fifth is told as well
    by_photo: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in ours:
        part, _, photo = item.id.rpartition("#")[0].partition("/")
        by_photo[part, photo].append(item)
    as_csv, as_json = tmp_path / "csv", tmp_path / "json"
    write(as_csv / "8k_correctness.csv", composite_file(
        (f"http://x.org/{photo}.jpg", [i.text for i in found], [i.ratings["correctness"][0] for i in found])
        for (part, photo), found in by_photo.items() if part == "flickr8k"
    ))  # fmt: skip
    (as_csv / "Flickr8k.token.txt.gz").write_bytes((data / "flickr8k_captions.tsv.gz").read_bytes())
    write(as_json / "composite.json", judged_file(
        (name, f"/data/{part}/{name}.jpg", item.text, list(item.ratings["correctness"]), truths)
        for (part, photo), found in by_photo.items()
        for name in [f"COCO_val2014_{int(photo):012}" if part == "coco" else photo]
        for truths in [list(dict.fromkeys(text for item in found for text in item.references))]
        for item in found
    ))  # fmt: skip
    eight = [item for item in ours if item.id.startswith("flickr8k/")]
    expected = kendall(eight, "correctness", "kendall_c")
    assert expected[0] > 500 and len(ours) - expected[0] > 1000
    assert kendall(real(as_csv, "composite"), "correctness", "kendall_c") == expected
    found = real(as_json, "composite")
    assert {item.ratings["correctness"] for item in found} == {(float(n),) for n in range(1, 6)}
    assert kendall(found, "correctness", "kendall_c") == kendall(ours, "correctness", "kendall_c")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "file", "kind", "pairs"),
    [
        ("flickr8k-expert", "flickr8k.json", "kendall_c", 5664),
        ("flickr8k-cf", "flickr8k/crowdflower_flickr8k.json", "kendall_b", 47830),
    ],
)
def test_flickr8k_in_clipscores_form_gives_the_same_numbers(
    data: Path, tmp_path: Path, name: str, file: str, kind: str, pairs: int
) -> None:
    ours = real(data, name)
    assert len(ours) == pairs
    ours = ours[:1200]  # the numbers of all pairs are tested elsewhere
    write(tmp_path / file, judged_file(
        (photo, f"Flicker8k_Dataset/{photo}", item.text,
         [mean(item.ratings["match"])] if kind == "kendall_b" else list(item.ratings["match"]),
         list(item.references))
        for item in ours for photo in [item.id.partition("|")[0]]
    ))  # fmt: skip
    assert kendall(real(tmp_path, name), "match", kind) == kendall(ours, "match", kind)


def test_the_published_files_are_items_too(tmp_path: Path) -> None:
    """What a protocol reads, `score` reads."""
    composite_folder(tmp_path)
    plain = list(read_items(tmp_path / "coco_correctness.csv", format=f"composite:images={tmp_path}"))
    assert [item.text for item in plain] == ["A batter swings.", "a game", "a dog", "x"]
    assert plain[0].images[0].is_file()
