"""Published formats, on samples made up in the real form, and on the real files where they lie."""

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from sightline.errors import UsageError
from sightline.io import BadLine, guess, read_items
from sightline.io.table import TableFile
from sightline.items import Item


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def touch(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"picture")


def sentence(story: str, photo: str, order: int, text: str) -> list[dict[str, Any]]:
    return [
        {
            "original_text": text.capitalize(),
            "album_id": "44",
            "photo_flickr_id": photo,
            "setting": "first-2-pick-and-tell",
            "worker_id": "W1",
            "story_id": story,
            "tier": "story-in-sequence",
            "worker_arranged_photo_order": order,
            "text": text,
            "storylet_id": f"{story}{order}",
        }
    ]


def vist(tmp_path: Path) -> Path:
    annotations = [
        sentence("900", "12", 1, "[male] sailed away ."),
        sentence("900", "11", 0, "the boat was ready ."),
        sentence("901", "11", 0, "a boat ."),
    ]
    images = [
        {"id": "11", "album_id": "44", "url_o": "https://example.org/11_o.jpg", "title": "", "tags": ""}
    ]
    return write(
        tmp_path / "test.story-in-sequence.json", {"images": images, "annotations": annotations, "albums": []}
    )


def test_vist_stories_in_the_order_of_their_pictures(tmp_path: Path) -> None:
    touch(tmp_path / "images", "11.jpg", "12.png")
    one, two = read_items(vist(tmp_path))
    assert one.id == "900"
    assert one.sentences == ("the boat was ready .", "[male] sailed away .")
    assert one.images == (tmp_path / "images" / "11.jpg", tmp_path / "images" / "12.png")
    assert two.is_caption
    (original, _) = read_items(vist(tmp_path), format="vist:text=original_text")
    assert original.sentences == ("The boat was ready .", "[male] sailed away .")


def test_a_vist_story_that_lacks_a_sentence_is_told_not_shortened(tmp_path: Path) -> None:
    path = vist(tmp_path)
    document = json.loads(path.read_text())
    del document["annotations"][0][0]["text"]
    found = list(read_items(write(path, document), on_error="collect"))
    assert [(type(one), one.id) for one in found] == [(BadLine, "900"), (Item, "901")]
    assert "annotations[0]: field 'text': is missing" in str(found[0])


VWP = """scene_full_id,imdb_id,story_id,story,link0,link1,link2,text0,text1,text2,char0
tt1_05_0,tt1,31,"Ann waits. She goes.",//x.org/tt1/shot_1.jpg,//x.org/tt1/shot_2.jpg,,Ann waits.,She goes.,,A
tt1_05_0,tt1,32,"One text for all.",//x.org/tt1/shot_1.jpg,//x.org/tt1/shot_2.jpg,,,,,Ann
"""


def test_vwp_rows(tmp_path: Path) -> None:
    touch(tmp_path / "images", "tt1_05_0_0.jpg", "tt1/shot_2.jpg")
    one, two = read_items(write(tmp_path / "vwp_test.csv", VWP))
    assert one.id == "tt1_05_0;31"
    assert one.sentences == ("Ann waits.", "She goes.")
    assert one.images == (tmp_path / "images/tt1_05_0_0.jpg", tmp_path / "images/tt1/shot_2.jpg")
    assert (two.sentences, two.text) == (None, "One text for all.")


def test_aesop_stories(tmp_path: Path) -> None:
    stories = [
        {
            "storyid": "0007",
            "theme": ["comedy"],
            "title": "A kite",
            "split": "test",
            "image_data": [[{"idx": 3, "x": 1, "y": 2, "depth": 0, "flip": 1}]] * 3,
            "text": ["Mike has a kite.", "It flies.", "It is gone."],
            "bg": [1, 1, 2],
            "image_path": [f"./data/images/0007/panel_{n}.jpg" for n in range(3)],
            "scenetype": "Extended_All",
        }
    ]
    touch(tmp_path / "renderings", "0007/panel_0.jpg", "0007/panel_1.png")
    path = write(tmp_path / "test.json", stories)
    (item,) = read_items(path, format=f"aesop:images={tmp_path / 'renderings'}")
    assert item.sentences == ("Mike has a kite.", "It flies.", "It is gone.")
    assert [image.name for image in item.images] == ["panel_0.jpg", "panel_1.png", "panel_2.jpg"]
    assert item.extra["title"] == "A kite"
    assert next(read_items(path)).id == "0007", "guessed"


HL = {
    "file_name": "COCO_train2014_000000000007.jpg",
    "captions": {"scene": ["at sea", "on a boat"], "action": ["sailing"], "object": ["A boat.", "Two men."]},
    "confidence": {"scene": [5.0, 4.0], "action": [3.0]},
    "purity": {"scene": [-1.0, -0.5], "action": [-0.7]},
    "diversity": {"scene": 20.0, "action": 0.0},
}


def test_hl_captions_by_axis(tmp_path: Path) -> None:
    path = write(tmp_path / "hl.jsonl", json.dumps(HL) + "\n")
    found = list(read_items(path))
    assert [item.id.split("#")[1] for item in found] == [
        "scene-0",
        "scene-1",
        "action-0",
        "object-0",
        "object-1",
    ]
    assert found[1].text == "on a boat"
    assert found[1].references == ("at sea",)
    assert found[1].ratings == {"confidence": (4.0,), "purity": (-0.5,)}
    assert found[0].images == (tmp_path / "COCO_train2014_000000000007.jpg",)
    assert [item.text for item in read_items(path, format="hl:axis=action")] == ["sailing"]


def test_an_hl_caption_that_is_no_text_leaves_its_siblings_alone(tmp_path: Path) -> None:
    line = {
        "file_name": "a.jpg",
        "captions": {"scene": ["at sea", None, 3, "on a boat"]},
        "purity": {"scene": [-1.0]},
    }
    found = list(read_items(write(tmp_path / "hl.jsonl", json.dumps(line) + "\n"), on_error="collect"))
    assert [(type(one), one.id) for one in found] == [
        (Item, "a.jpg#scene-0"),
        (BadLine, "a.jpg#scene-1"),
        (BadLine, "a.jpg#scene-2"),
        (Item, "a.jpg#scene-3"),
    ]
    assert found[0].references == ("on a boat",)
    assert found[0].ratings == {"purity": (-1.0,)}
    assert "hl.jsonl:1: field 'captions.scene[1]': is missing" in str(found[1])
    assert "hl.jsonl:1: field 'captions.scene[2]': a number instead of text" in str(found[2])


TOKENS = """7_a.jpg#0\tA boat .
7_a.jpg#1\tA man on a boat .
8_b.jpg.1#0\tA dog runs .
"""


def test_flickr8k_captions_and_judgements(tmp_path: Path) -> None:
    tokens = write(tmp_path / "Flickr8k.token.txt", TOKENS)
    found = list(read_items(tokens))
    assert [item.id for item in found] == ["7_a.jpg#0", "7_a.jpg#1", "8_b.jpg#0"]
    assert found[0].references == ("A man on a boat .",)
    expert = write(
        tmp_path / "ExpertAnnotations.txt", "7_a.jpg\t8_b.jpg#0\t1\t1\t2\n7_a.jpg\t7_a.jpg#1\t4\t4\t4\n"
    )
    with pytest.raises(UsageError, match="captions=FILE"):
        list(read_items(expert))
    wrong, own = read_items(expert, format=f"flickr8k:captions={tokens}")
    assert (wrong.text, wrong.ratings) == ("A dog runs .", {"match": (1.0, 1.0, 2.0)})
    assert wrong.references == ("A boat .", "A man on a boat .")
    assert own.references == ("A boat .",), "a caption is not its own reference"
    crowd = write(tmp_path / "CrowdFlowerAnnotations.txt", "7_a.jpg\t8_b.jpg#0\t0.333333333333\t1\t2\n")
    (judged,) = read_items(crowd, format=f"flickr8k:captions={tokens}")
    assert judged.ratings == {"match": (1.0, 0.0, 0.0)}


def coco(tmp_path: Path) -> Path:
    document = {
        "info": {"description": "made up"},
        "images": [{"id": 7, "file_name": "COCO_val2014_000000000007.jpg", "height": 4, "width": 5}],
        "annotations": [
            {"image_id": 7, "id": 101, "caption": "A boat."},
            {"image_id": 7, "id": 102, "caption": "A small boat."},
        ],
    }
    return write(tmp_path / "annotations" / "captions_val2014.json", document)


def test_coco_captions_and_results(tmp_path: Path) -> None:
    touch(tmp_path / "annotations" / "images", "COCO_val2014_000000000007.jpg")
    one, two = read_items(coco(tmp_path))
    assert (one.id, one.text, one.references) == ("101", "A boat.", ("A small boat.",))
    assert one.images[0].name == "COCO_val2014_000000000007.jpg"
    results = write(tmp_path / "results.json", [{"image_id": 7, "caption": "a boat on water"}])
    touch(tmp_path / "images", "COCO_val2014_000000000007.jpg")
    (plain,) = read_items(results)
    assert (plain.id, plain.references) == ("7", ())
    assert plain.images[0] == tmp_path / "images" / "COCO_val2014_000000000007.jpg"
    (with_references,) = read_items(results, format=f"coco-results:references={coco(tmp_path)}")
    assert with_references.references == ("A boat.", "A small boat.")
    assert two.id == "102"


def test_composite_lines(tmp_path: Path) -> None:
    touch(tmp_path / "images", "7_a.jpg")
    line = {"dataset": "flickr8k", "image": "7_a", "index": 2, "caption": "a boat", "rating": 4}
    (item,) = read_items(write(tmp_path / "composite.jsonl", json.dumps(line) + "\n"))
    assert (item.id, item.ratings) == ("flickr8k/7_a#2", {"correctness": (4.0,)})
    assert item.images == (tmp_path / "images" / "7_a.jpg",)


VICR = """\ufeffimage,caption,subset,num_ratings,ratings,rating_2,rating_3,rating_4,rating_5,rating_6,rating_7
http://example.org/val2014/COCO_val2014_000000000007.jpg,"a boat, red",train,4,4,3,4,3,,,
http://example.org/val2014/COCO_val2014_000000000007.jpg,a dog,test,5,1,1,2,1,1,,
http://example.org/val2014/COCO_val2014_000000000008.jpg,a cat,test,5,1,1,2,1,,,
"""


def test_vicr_rows(tmp_path: Path) -> None:
    one, two, short = read_items(write(tmp_path / "vicr.csv", VICR), on_error="collect")
    assert (one.id, one.text) == ("COCO_val2014_000000000007.jpg#1", "a boat, red")
    assert one.ratings == {"overall": (4.0, 3.0, 4.0, 3.0)}
    assert two.id == "COCO_val2014_000000000007.jpg#2"
    assert isinstance(short, BadLine)
    assert "vicr.csv:4: field 'num_ratings': says 5 where there are 4 ratings" in str(short)


def told(tmp_path: Path, name: str, content: Any, format: str) -> str:
    """What is said of the one bad record of a file, whose others are read."""
    found = list(read_items(write(tmp_path / name, content), format=format, on_error="collect"))
    (bad,) = (one for one in found if isinstance(one, BadLine))
    assert len(found) > 1
    return str(bad).removeprefix(f"{tmp_path}/")


PANELS = {"storyid": "1", "text": ["x"], "image_path": ["1/panel_0.jpg"]}
RATED = {"dataset": "coco", "image": "a.jpg", "index": 0, "caption": "x", "rating": 1}
CAPTION = {"image_id": 1, "id": 10, "caption": "x"}
LINE = {"file_name": "a.jpg", "captions": {"scene": ["x"]}, "confidence": {"scene": [1]}}
SENTENCE = sentence("1", "p", 0, "x")[0]


@pytest.mark.parametrize(
    ("format", "good", "bad", "reason"),
    [
        ("aesop", PANELS, {"storyid": None}, "field 'storyid': is missing or no id"),
        ("aesop", PANELS, {"text": "x"}, "fields 'text' and 'image_path': must be lists"),
        ("aesop", PANELS, {"text": [None]}, "field 'text': null instead of text"),
        ("aesop", PANELS, {"image_path": [None]}, "field 'image_path[0]': is missing or not text"),
        ("aesop", PANELS, {"image_path": [".."]}, "field 'storyid' or 'image_path[0]': '..' is not the name"),
        ("vist", SENTENCE, {"story_id": ""}, "field 'story_id': is missing or no id"),
        ("vist", SENTENCE, {"story_id": "2", "photo_flickr_id": ".."}, "field 'photo_flickr_id': '..' is not"),
        ("vist", SENTENCE, {"story_id": "2", "text": 1}, "field 'text': a number instead of text"),
        ("vist", SENTENCE, {"story_id": "2", "worker_arranged_photo_order": "0"},
         "field 'worker_arranged_photo_order': not a whole number"),
        ("coco", CAPTION, {"image_id": 2, "caption": None}, "field 'caption': is missing"),
        ("coco", CAPTION, {"caption": 5}, "field 'caption': a number instead of text"),
        ("coco", CAPTION, {"image_id": None}, "field 'image_id': is missing or no id"),
        ("coco", CAPTION, {"id": None}, "field 'id': is missing or no id"),
        ("coco-results", CAPTION, {"image_id": ".."}, "field 'image_id': '..' is not the name"),
        ("coco-results", CAPTION, {"caption": None}, "field 'caption': is missing"),
        ("hl", LINE, {"file_name": None}, "field 'file_name': is missing or no id"),
        ("hl", LINE, {"file_name": ".."}, "field 'file_name': '..' is not the name"),
        ("hl", LINE, {"captions": {"scene": "x"}}, "field 'captions.scene': not a list"),
        ("hl", LINE, {"confidence": {"scene": ["x"]}}, "field 'confidence.scene[0]': text instead of a number"),
        ("composite", RATED, {"index": None}, "field 'index': is missing or no id"),
        ("composite", RATED, {"image": ".."}, "field 'dataset' or 'image': '..' is not the name"),
        ("composite", RATED, {"caption": None}, "field 'caption': is missing"),
        ("composite", RATED, {"rating": "x"}, "field 'rating': text instead of a number"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_record_is_told_by_field(
    tmp_path: Path, format: str, good: dict[str, Any], bad: dict[str, Any], reason: str
) -> None:
    records = [good, {**good, **bad}]
    if format in ("hl", "composite"):
        lines = "\n".join(json.dumps(record) for record in records)
        assert told(tmp_path, "x.jsonl", lines, format).startswith(f"x.jsonl:2: {reason}")
        return
    place = {"aesop": "stories", "coco-results": "results"}.get(format, "annotations")
    documents = {"vist": {place: [[one] for one in records]}, "coco": {place: records}}
    document = documents.get(format, records)
    assert told(tmp_path, "x.json", document, format).startswith(f"x.json: {place}[1]: {reason}")


@pytest.mark.parametrize(
    ("format", "good", "bad", "reason"),
    [
        ("vwp", "scene_full_id,story_id,link0,text0\ns,1,a.jpg,x", ",1,a.jpg,x", "field 'scene_full_id': is missing"),
        ("vwp", "scene_full_id,link0,text0\ns,a.jpg,x", "../t,a.jpg,x", "field 'scene_full_id' or 'link0': '../t_0'"),
        ("vwp", "scene_full_id,link0,text0\ns,a.jpg,x", "t,a.jpg,", "field 'story': is missing"),
        ("vicr", "image,caption,ratings\na.jpg,x,1", "a.jpg,x,b", "field 'ratings': 'b' is not a number"),
        ("vicr", "image,caption,ratings,rating_2\na.jpg,x,1,2", "a.jpg,x,1,nan", "field 'rating_2': nan is not"),
        ("vicr", "image,caption,num_ratings,ratings\na.jpg,x,1,1", "a.jpg,x,b,1",
         "field 'num_ratings': 'b' is not a number"),
        ("vicr", "image,caption,ratings\na.jpg,x,1", ",x,1", "field 'image': '' is not the name of a picture"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_row_is_told_by_field(
    tmp_path: Path, format: str, good: str, bad: str, reason: str
) -> None:
    assert told(tmp_path, "x.csv", f"{good}\n{bad}\n", format).startswith(f"x.csv:3: {reason}")


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("7_a.jpg\t7_a.jpg#0\t1\ta\t2", "column 4: 'a' is not a number"),
        ("7_a.jpg\t7_a.jpg#0\t1\t9\t2", "columns 3 to 5: neither three ratings"),
        ("7_a.jpg\tx.jpg#0\t1\t1\t2", "column 2: there is no caption 'x.jpg#0'"),
        ("..\t7_a.jpg#0\t1\t1\t2", "column 1: '..' is not the name of a picture"),
    ],
)
def test_what_is_wrong_with_a_judgement_is_told_by_column(tmp_path: Path, bad: str, reason: str) -> None:
    tokens = write(tmp_path / "Flickr8k.token.txt", TOKENS)
    lines = f"7_a.jpg\t8_b.jpg#0\t1\t1\t2\n{bad}\n"
    assert told(tmp_path, "x.txt", lines, f"flickr8k:captions={tokens}").startswith(f"x.txt:2: {reason}")


def test_every_sentence_without_its_story_is_told(tmp_path: Path) -> None:
    sentences = [[{**SENTENCE, "story_id": None}], [SENTENCE], [{**SENTENCE, "story_id": None}]]
    path = write(tmp_path / "x.json", {"annotations": sentences})
    bad = [one.where for one in read_items(path, on_error="collect") if isinstance(one, BadLine)]
    assert bad == [f"{path}: annotations[{number}]" for number in (0, 2)]


def test_a_folder_of_pictures_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="images=/no/such: there is no such folder"):
        list(read_items(vist(tmp_path), format="vist:images=/no/such"))


@pytest.mark.parametrize(
    ("name", "format", "items"),
    [
        ("vicr_sample.csv", "vicr", 249),
        ("hl_test.jsonl.gz", "hl", 20_987),
        ("flickr8k_captions.tsv.gz", "flickr8k", 40_460),
        ("composite.jsonl.gz", "composite", 11_985),
    ],
)
def test_the_real_files(data: Path, name: str, format: str, items: int) -> None:
    source = TableFile(data / name)
    assert type(guess(source)).__name__.lower() == format
    found = list(read_items(data / name))
    assert len(found) == len({item.id for item in found}) == items


def test_the_real_judgements(data: Path) -> None:
    captions = f"flickr8k:captions={data / 'flickr8k_captions.tsv.gz'}"
    expert = list(read_items(data / "flickr8k_expert.tsv.gz", format=captions))
    assert len(expert) == 5822
    assert sum(len(set(item.ratings["match"])) == 1 for item in expert) == 3391, (
        "where all three raters agree"
    )
    own = sum(item.id.split("|")[1].split("#")[0] == item.id.split("|")[0] for item in expert)
    assert len(expert) - own == 5664, "CLIPScore's protocol"
    crowd = list(islice(read_items(data / "flickr8k_crowdflower.tsv.gz", format=captions), 2000))
    assert all(set(item.ratings["match"]) <= {0, 1} and len(item.ratings["match"]) > 2 for item in crowd)
