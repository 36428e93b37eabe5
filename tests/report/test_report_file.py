"""The report as a file: complete, self-contained, and deaf to what stories say."""

import json
import re
import tracemalloc
import zlib
from base64 import b64decode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from sightline.items import DUPLICATE, Evidence, Failure, Item, PairEvidence, PhraseEvidence, Score
from sightline.report import gather, thumbnails, write_report

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>"


def unpack(html: str, name: str) -> Any:
    found = re.search(rf'<script type="text/plain" id="{name}">([A-Za-z0-9+/=]*)</script>', html)
    assert found, name
    return json.loads(zlib.decompress(b64decode(found[1])))


def summary(**counts: int) -> dict[str, Any]:
    signature = f"groovist|weights:concreteness|encoder:{HOSTILE}"
    return {
        "items": 1,
        "metrics": {"groovist": {"mean": 0.5, "n": 1, "failed": 0, "signature": signature, **counts}},
    }


def story(id: str, image: Path, text: str = "The dog ran.", system: str | None = None) -> tuple[Item, Score]:
    phrase = PhraseEvidence(text, 0, 0, 3, 0.7, 0.7, 4.0, 2.8, 0, (1.0, 2.0, 30.0, 40.0), (0.7,))
    evidence = Evidence((text,), (phrase,), 0.6, (PairEvidence(text, text, 0.5),), {text: 0.5}, (text,))
    item = Item(id, (image,), text, None, (text,), system, {text: (3.0, 4.0)}, source=text)
    return item, Score(id, "groovist", 0.5, "groovist|weights:concreteness", evidence)


@pytest.fixture
def photo(tmp_path: Path) -> Path:
    path = tmp_path / "a photo.jpg"
    Image.new("RGB", (640, 480), (90, 140, 60)).save(path)
    return path


def test_story_text_stays_text_everywhere(tmp_path: Path, photo: Path) -> None:
    hostile_photo = photo.rename(tmp_path / "<img src=x onerror=alert(2)>.jpg")
    item, score = story(HOSTILE, hostile_photo, HOSTILE, HOSTILE)
    failures = [Failure(HOSTILE, "groovist", HOSTILE, HOSTILE)]
    out = tmp_path / "report.html"
    write_report(out, [item], [score], failures, title=HOSTILE, summary=summary())
    html = out.read_text("utf-8")
    assert "owned" in html
    assert "<script>document" not in html and "<img" not in html
    assert html.count("<script>") == 1  # the page's own
    assert unpack(html, "index")["stories"][0][:3] == [HOSTILE, 0, HOSTILE]
    assert unpack(html, "block-0")[0]["scores"][0][2]["notes"] == [HOSTILE]


def test_nothing_is_asked_of_the_network(tmp_path: Path, photo: Path) -> None:
    item, score = story("a", photo)
    out = tmp_path / "report.html"
    write_report(out, [item], [score], [], title="t", summary=summary())
    html = out.read_text("utf-8")
    assert re.search(r"Content-Security-Policy\" content=\"default-src 'none'; img-src data:;", html)
    addresses = set(re.findall(r"https?://[^\s\"'<)]+", html))
    assert addresses <= {"http://www.w3.org/2000/svg"}  # a name space, never fetched


def test_every_story_is_there_once_in_order_with_what_is_known_of_it(tmp_path: Path, photo: Path) -> None:
    stories = [story(f"s{n}", photo, f"Story {n} of a dog.", "human" if n % 2 else "arel") for n in range(70)]
    scores = [score for _, score in reversed(stories)]
    failures = [Failure("s3", "groovist", "no <b>phrase</b>")]
    out = tmp_path / "report.html"
    write_report(out, (i for i, _ in stories), iter(scores), failures, title="t", summary=summary(n=70))
    html = out.read_text("utf-8")
    index = unpack(html, "index")
    assert [row[0] for row in index["stories"]] == [f"s{n}" for n in range(70)]
    assert [row[4] for row in index["stories"]] == [int(n == 3) for n in range(70)]
    details = [line for block in range(3) for line in unpack(html, f"block-{block}")]
    assert [line["sentences"] for line in details] == [[f"Story {n} of a dog."] for n in range(70)]
    assert details[3]["failures"] == [[0, "no <b>phrase</b>"]]
    assert details[0]["scores"][0][2]["phrases"][0][8:10] == [0, [1.0, 2.0, 30.0, 40.0]]
    assert len(re.findall(r'id="picture-\d+"', html)) == 1  # one picture, however many stories share it
    assert details[69]["images"] == [[0, 640, 480, "a photo.jpg", ""]]


def test_half_a_surrogate_pair_does_not_stop_the_report(tmp_path: Path, photo: Path) -> None:
    item, score = story("a\ud800", photo, "A dog \udfff ran.")
    out = tmp_path / "report.html"
    write_report(out, [item], [score], [Failure("a\ud800", "x", "\ud800")], title="\ud800", summary=summary())
    assert unpack(out.read_text("utf-8"), "index")["stories"][0][2] == "A dog \ufffd ran."


def test_a_picture_that_cannot_be_opened_is_said_to_be_so(tmp_path: Path) -> None:
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"")
    item, score = story("a", broken)
    out = tmp_path / "report.html"
    write_report(out, [item], [score], [], title="t", summary=summary())
    image = unpack(out.read_text("utf-8"), "block-0")[0]["images"][0]
    assert image[:3] == [0, 0, 0] and "empty (0 bytes)" in image[4]


def test_no_items_and_no_scores_still_make_a_page(tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    write_report(out, [], [], [], title="empty", summary=summary(n=0) | {"items": 0})
    assert unpack(out.read_text("utf-8"), "index")["stories"] == []


def test_pictures_stay_within_their_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thumbnails, "BUDGET", 6_000)
    paths = []
    for n in range(12):
        paths.append(tmp_path / f"{n}.png")
        Image.effect_noise((300, 200), 80).save(paths[-1])
    made = thumbnails.Thumbnails(len(paths))
    data = [added for path in paths for added in made.add([path])]
    assert 0 < len(data) < len(paths)
    assert sum(len(text) for _, text in data[:-1]) <= 6_000
    assert made[paths[-1]][1].trouble.startswith("left out")


def test_a_turned_photo_is_upright_and_measured_upright(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.new("RGB", (200, 100)).save(tmp_path / "turned.jpg", exif=exif)
    made = thumbnails.Thumbnails(1)
    [(number, data)] = made.add([tmp_path / "turned.jpg"])
    assert (number, made[tmp_path / "turned.jpg"][1].width, made[tmp_path / "turned.jpg"][1].height) == (
        0,
        100,
        200,
    )
    with Image.open(BytesIO(b64decode(data))) as shown:
        assert shown.size == (100, 200)


def test_long_input_is_streamed_and_cut(tmp_path: Path, photo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "STORIES", 50)
    n = 4_000
    words = "many words " * 200

    def items() -> Iterator[Item]:
        return (Item(f"s{k}", (photo,), words) for k in range(n))

    def scores() -> Iterator[Score]:
        return (Score(f"s{k}", "groovist", k / n, "groovist", Evidence((words,))) for k in range(n))

    out = tmp_path / "report.html"
    tracemalloc.start()
    write_report(out, items(), scores(), [], title="t", summary=summary(n=n))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    index = unpack(out.read_text("utf-8"), "index")
    assert len(index["stories"]) == 50 and index["items"] == n
    assert peak < 4_000_000  # the text alone is 8.8 MB


def test_what_is_left_out_is_told_apart_from_what_failed(tmp_path: Path, photo: Path) -> None:
    """A later item of the same id does not speak for the first; a line that is no item is named by its place."""
    item, score = story("a", photo)
    failures = [
        Failure("a", "cider", "there are no references", "s.jsonl:1"),
        Failure("a", "cider", DUPLICATE, "s.jsonl:2"),
        Failure("", "cider", "not JSON", "/home/me/s.jsonl:3"),
    ]
    out = tmp_path / "report.html"
    write_report(out, [item], [score], failures, title="x", summary=summary())
    html = out.read_text("utf-8")
    (shown,) = unpack(html, "block-0")
    assert [reason for _, reason in shown["failures"]] == ["there are no references"]
    assert "1 with a failure" in html and "2 lines left out" in html
    assert "s.jsonl:3" in html and "/home/me" not in html
