"""Items and pictures that a program has at hand, hostile ones included."""

import io
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import sightline
from sightline import BadLine, Item, UsageError
from sightline.demo import STORIES
from sightline.io import read_items
from sightline.io.given import items_given
from sightline.io.pictures import files, picture_path

CAT = STORIES.parent / "pictures" / "cat.jpg"
TEXT = "A brown cat with green eyes."


@pytest.fixture(autouse=True)
def kept(tmp_path: Path) -> Iterator[Path]:
    files.keep_in(tmp_path / "cache")
    yield tmp_path / "cache"
    files.keep_in(None)


def as_given(kind: str) -> Any:
    with Image.open(CAT) as image:
        image.load()
        ways = {
            "str": str(CAT),
            "path": CAT,
            "bytes": CAT.read_bytes(),
            "memory": memoryview(CAT.read_bytes()),
            "pil": image,
            "array": np.asarray(image),
            "fractions": np.asarray(image, np.float64) / 255,
            "channels first": np.moveaxis(np.asarray(image), 2, 0),
            "stored bytes": {"bytes": CAT.read_bytes(), "path": "cat.jpg"},
            "stored path": {"bytes": None, "path": str(CAT)},
        }
    return ways[kind]


WAYS = (
    "str", "path", "bytes", "memory", "pil", "array", "fractions", "channels first", "stored bytes", "stored path",
)  # fmt: skip


@pytest.mark.parametrize("kind", WAYS)
def test_a_picture_is_the_same_however_it_is_given(kind: str) -> None:
    path = picture_path(as_given(kind), Path("/nowhere"))
    with Image.open(path) as found, Image.open(CAT) as wanted:
        assert (np.asarray(found.convert("RGB")) == np.asarray(wanted.convert("RGB"))).all()


def test_scores_do_not_depend_on_how_a_picture_is_given() -> None:
    items = [{"image": as_given(kind), "caption": TEXT} for kind in WAYS]
    result = sightline.score(items, ["clipscore"], cache=None)
    assert not result.failures
    assert [score.id for score in result.scores] == [str(n) for n in range(1, len(WAYS) + 1)]
    assert len({score.score for score in result.scores}) == 1


def test_the_same_bytes_are_kept_once(kept: Path) -> None:
    assert picture_path(CAT.read_bytes(), Path()) == picture_path(CAT.read_bytes(), Path())
    assert len([path for path in kept.rglob("*") if path.is_file()]) == 1


def test_a_turned_picture_stays_upright() -> None:
    image = Image.new("RGB", (8, 4), "red")
    exif = Image.Exif()
    exif[0x0112] = 6
    image.getexif().update(exif)
    from sightline.vision import Pictures

    assert Pictures().load(picture_path(image, Path())).size == (4, 8)


@pytest.mark.parametrize(
    "mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "YCbCr", "HSV", "LAB", "I", "I;16"]
)
def test_every_mode_of_pil_is_a_picture(mode: str) -> None:
    from sightline.vision import Pictures

    assert Pictures().load(picture_path(Image.new(mode, (5, 3)), Path())).size == (5, 3)


def truncated() -> Image.Image:
    return Image.open(io.BytesIO(CAT.read_bytes()[:2000]))


def bomb() -> Image.Image:
    image = Image.new("RGB", (1, 1))
    image._size = (20_000, 20_000)
    return image


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (lambda: b"", "no bytes"),
        (lambda: "", "empty"),
        (lambda: "a\0b", "NUL"),
        (lambda: 5, "a int instead of a picture"),
        (lambda: {1, 2}, "a set instead of a picture"),
        (lambda: {"bytes": "text"}, "neither 'bytes' nor 'path'"),
        (lambda: np.zeros((3, 4, 5, 6)), "3 x 4 x 5 x 6"),
        (lambda: np.zeros((0, 4, 3), np.uint8), "0 x 4 x 3"),
        (lambda: np.array(3), "no numbers"),
        (lambda: np.full((4, 4, 3), 7.5), "fractions"),
        (lambda: np.full((4, 4, 3), np.nan), "fractions"),
        (lambda: np.full((4, 4, 3), 300), "from 0 to 255"),
        (lambda: np.full((4, 4), "x"), "from 0 to 255"),
        (lambda: Image.new("F", (3, 3)), "floating-point"),
        (truncated, "damaged"),
        (bomb, "400 million pixels"),
        (lambda: "https://example.org/cat.jpg", "--allow-urls"),
    ],
)
def test_what_is_no_picture_is_told_in_one_line(value: Any, says: str) -> None:
    with pytest.raises(BadLine, match=says) as told:
        list(items_given([{"images": [value()], "text": TEXT}], Path()))
    assert str(told.value).startswith("item 1: field 'images': ") and "\n" not in str(told.value)


def test_bytes_that_are_no_picture_fail_alone() -> None:
    result = sightline.score(
        [{"image": b"no picture", "text": TEXT}, {"image": CAT, "text": TEXT}],
        ["clipscore"], encoder="pocket", cache=None,
    )  # fmt: skip
    assert [failure.id for failure in result.failures] == ["1"] and len(result.scores) == 1
    assert "not a picture" in result.failures[0].reason


FRAME = {
    "id": ["a", "b"],
    "images": [["x.jpg", "y.jpg"], None],
    "text": ["One. Two.", "Three."],
    "n": [1, None],
}


@pytest.mark.parametrize(
    "frame",
    [
        pandas.DataFrame(FRAME),
        polars.DataFrame(FRAME),
        polars.DataFrame(FRAME).lazy(),
        pa.table(FRAME),
        pandas.DataFrame(FRAME).convert_dtypes(),
    ],
    ids=["pandas", "polars", "lazy", "arrow", "nullable"],
)
def test_a_data_frame_is_rows_of_items(frame: Any) -> None:
    first, second = items_given(frame, Path("/here"))
    assert first.id == "a" and first.images == (Path("/here/x.jpg"), Path("/here/y.jpg"))
    assert second.images == () and second.text == "Three." and not second.extra
    assert first.extra == {"n": 1}


def test_a_data_set_of_hugging_face_gives_its_pictures_as_stored() -> None:
    datasets = pytest.importorskip("datasets")
    rows = {"image": [str(CAT), str(CAT)], "caption": [TEXT, "A dog."], "split": ["test", "test"]}
    made = datasets.Dataset.from_dict(rows).cast_column("image", datasets.Image())
    both = list(items_given(made, Path()))
    assert [(item.id, item.text) for item in both] == [("1", TEXT), ("2", "A dog.")]
    assert both[0].images[0].read_bytes() == CAT.read_bytes()
    several = datasets.Dataset.from_dict({"images": [[str(CAT), str(CAT)]], "text": ["One. Two."]})
    several = several.cast_column("images", datasets.List(datasets.Image()))
    (story,) = items_given(several, Path())
    assert len(story.images) == 2
    streamed = made.to_iterable_dataset()
    assert [item.text for item in items_given(streamed, Path())] == [TEXT, "A dog."]
    with pytest.raises(UsageError, match="splits test"):
        list(items_given(datasets.DatasetDict({"test": made}), Path()))


def test_parquet_with_pictures_inside(tmp_path: Path) -> None:
    struct = {"bytes": CAT.read_bytes(), "path": "cat.jpg"}
    pq.write_table(
        pa.table({"image": [struct, struct], "caption": [TEXT, "A dog."]}), tmp_path / "hub.parquet"
    )
    found = list(read_items(tmp_path / "hub.parquet"))
    assert [item.id for item in found] == ["1", "2"]
    assert found[0].is_caption and found[0].images[0].read_bytes() == CAT.read_bytes()


@pytest.mark.parametrize("name", ["metadata.jsonl", "metadata.csv"])
def test_a_folder_of_pictures_with_metadata(tmp_path: Path, name: str) -> None:
    (tmp_path / "cat.jpg").write_bytes(CAT.read_bytes())
    lines = {"metadata.jsonl": f'{{"file_name": "cat.jpg", "text": "{TEXT}"}}\n',
             "metadata.csv": f"file_name,caption\ncat.jpg,{TEXT}\n"}  # fmt: skip
    (tmp_path / name).write_text(lines[name])
    (item,) = read_items(tmp_path)
    assert (item.id, item.text, item.images) == ("cat.jpg", TEXT, (tmp_path / "cat.jpg",))


def test_a_folder_without_metadata_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="a folder"):
        read_items(tmp_path)


def test_common_slips_are_understood(tmp_path: Path) -> None:
    """`image` for `images`, and a table of image and caption without ids."""
    (tmp_path / "one.jsonl").write_text('{"id": "a", "image": "x.jpg", "caption": "A cat."}\n')
    (item,) = read_items(tmp_path / "one.jsonl")
    assert item.images == (tmp_path / "x.jpg",) and item.text == "A cat." and not item.extra
    (tmp_path / "two.csv").write_text("image,caption\nx.jpg,A cat.\nx.jpg,A dog.\n")
    assert [(item.id, item.text) for item in read_items(tmp_path / "two.csv")] == [
        ("1", "A cat."), ("2", "A dog."),
    ]  # fmt: skip


def test_a_field_of_its_own_stays_what_it_is() -> None:
    given = {"id": "a", "images": ["x.jpg"], "text": "A cat.", "image": "note", "caption": "other"}
    (item,) = items_given([given], Path())
    assert item.extra == {"image": "note", "caption": "other"} and item.text == "A cat."


@pytest.mark.parametrize(
    ("items", "says"),
    [
        (7, "a int"),
        (b"items", "a bytes"),
        ({"id": "a", "text": "x"}, "list of items"),
        (Item("a", text="x"), "list of items"),
        ([["a"]], "item 1 is a list"),
        ([{"text": "x"}, {"images": []}], "item 2: field 'text'"),
        ([Item("a", ("x", 5), "x")], "item 1, 'a': a int"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_item_is_told_in_one_line(items: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says) as told:
        list(items_given(items, Path()))
    assert "\n" not in str(told.value)


def test_what_comes_in_on_stdin_is_a_file(environment: dict[str, str], tmp_path: Path) -> None:
    code = "from sightline.io import read_items; [print(i.id, i.images, i.source) for i in read_items('-')]"
    line = '{"id": "a", "images": ["x.jpg"], "text": "A cat."}\n'
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=line, env=environment, cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "a (PosixPath('x.jpg'),) stdin:1\n"
