"""One data set, two doors: what `score --format X` leaves and what `meta --protocol X` uses are the same items."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.io import read_items
from sightline.io.scores import read_scores
from sightline.meta.protocols import make_protocol
from sightline.meta.scoring import score_items

TOKENS = """a.jpg#0\ta dog runs over grass
a.jpg#1\tthe dog is running
a.jpg#2\ta brown dog runs
a.jpg#3\tdog on the grass
a.jpg#4\ta dog outside
b.jpg#0\ta child on a swing
b.jpg#1\tthe girl swings
b.jpg#2\ta girl on a swing
b.jpg#3\ta child plays
b.jpg#4\ta small girl outside
"""
EXPERT = "a.jpg\tb.jpg#2\t1\t1\t2\nb.jpg\ta.jpg#2\t1\t2\t2\n"
CROWD = "a.jpg\tb.jpg#2\t0\t0\t3\na.jpg\ta.jpg#2\t1\t4\t0\n"
VICR = """image,caption,subset,num_ratings,ratings,rating_2,rating_3
http://x/COCO_val2014_000000000007.jpg,a dog runs,train,3,4,5,4
http://x/COCO_val2014_000000000007.jpg,a cat,test,2,1,2,
http://x/COCO_val2014_000000000009.jpg,a girl on a swing,test,2,5,5,
"""
COMPOSITE = [
    {"dataset": "coco", "image": 7, "index": 0, "caption": "a dog runs", "rating": 4},
    {"dataset": "coco", "image": 9, "index": 1, "caption": "a cat", "rating": 1},
    {"dataset": "flickr8k", "image": "a", "index": 0, "caption": "the dog is running", "rating": 5},
]
REFERENCES = [
    {"id": 7, "references": ["A dog runs.", "the dog outside"]},
    {"id": 9, "references": ["a girl swings", "a child on a swing"]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "Flickr8k.token.txt").write_text(TOKENS)
    (tmp_path / "ExpertAnnotations.txt").write_text(EXPERT)
    (tmp_path / "CrowdFlowerAnnotations.txt").write_text(CROWD)
    (tmp_path / "vicr.csv").write_text(VICR)
    for name, rows in (("composite", COMPOSITE), ("references", REFERENCES)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return tmp_path


@pytest.mark.parametrize(
    ("protocol", "file", "form"),
    [
        ("flickr8k-expert", "ExpertAnnotations.txt", "flickr8k:captions={0}/Flickr8k.token.txt"),
        (
            "flickr8k-cf",
            "CrowdFlowerAnnotations.txt",
            "flickr8k:captions={0}/Flickr8k.token.txt,references=unrated",
        ),
        ("vicr", "vicr.csv", "vicr:references={0}/references.jsonl"),
        ("vicr:subset=test", "vicr.csv", "vicr:references={0}/references.jsonl,subset=test"),
        (
            "composite",
            "composite.jsonl",
            "composite:coco={0}/references.jsonl,flickr8k={0}/Flickr8k.token.txt,own=drop",
        ),
    ],
)
def test_scores_by_format_join_with_a_protocol(folder: Path, protocol: str, file: str, form: str) -> None:
    form, out = form.format(folder), folder / "scores"
    line = ["score", str(folder / file), "--format", form, "-m", "bleu-1", "-o", str(out)]
    done = CliRunner().invoke(load_commands(), line)
    assert done.exit_code == 0, done.output
    scored = {score.key: score.score for score in read_scores(out / "scores.jsonl")}
    items = make_protocol(protocol).items(folder, pictures=False)
    again = score_items(items, ["bleu-1"]).scores["bleu-1"]
    assert again == scored
    read = {item.key: item for item in read_items(folder / file, format=form)}
    for item in items:
        ratings = read[item.key].ratings
        assert ratings.items() <= item.ratings.items(), "the criteria have one name"
        assert (item.text, item.references) == (read[item.key].text, read[item.key].references)


@pytest.mark.data
@pytest.mark.parametrize(
    ("protocol", "file", "form"),
    [
        ("vicr", "vicr_sample.csv", "vicr:references={0}/coco_eval_references.jsonl.gz"),
        (
            "composite",
            "composite.jsonl.gz",
            "composite:coco={0}/coco_eval_references.jsonl.gz,flickr8k={0}/flickr8k_captions.tsv.gz",
        ),
        ("flickr8k-expert", "flickr8k_expert.tsv.gz", "flickr8k:captions={0}/flickr8k_captions.tsv.gz"),
    ],
)
def test_real_items_join(data: Path, protocol: str, file: str, form: str) -> None:
    read = {item.key: item for item in read_items(data / file, format=form.format(data))}
    items = make_protocol(protocol).items(data, pictures=False)
    assert items
    for item in items:
        assert read[item.key].ratings.items() <= item.ratings.items()
        assert (read[item.key].text, read[item.key].references) == (item.text, item.references)


@pytest.mark.data
def test_pictures_in_one_file_are_found_through_both_doors(data: Path) -> None:
    form = f"vicr:images={data}/coco_eval.parquet"
    read = {item.key: item.images for item in read_items(data / "vicr_sample.csv", format=form)}
    used = {item.key: item.images for item in make_protocol("vicr").items(data)}
    assert read == used and sum(image.is_file() for (image,) in read.values()) > 200
