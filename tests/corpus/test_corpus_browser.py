"""The corpus report in a browser: nothing runs, nothing sticks out, words are sized by PMI."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from PIL import Image
from typer.testing import CliRunner

from sightline.cli.app import load_commands

if TYPE_CHECKING:
    from playwright.sync_api import Browser

EVIL = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    scenes = ["at the beach", "in a kitchen", f"in a park {EVIL}", "a" * 400]
    with (folder / "hl.jsonl").open("w") as file:
        for n in range(24):
            Image.new("RGB", (64, 48), (n * 10, 90, 120)).save(folder / f"{n}.jpg")
            line = {
                "file_name": f"{n}.jpg",
                "captions": {
                    "scene": [scenes[n % 4], scenes[n % 3]],
                    "object": ["a wave and a man" if n % 4 == 0 else "a man with food"],
                },
                "confidence": {"scene": [1 + n % 5, 5]},
            }
            file.write(json.dumps(line) + "\n")
    out = folder / "out"
    done = CliRunner().invoke(
        load_commands(),
        ["corpus", str(folder / "hl.jsonl"), "-o", str(out), "--floor", "3", "--hard", "confidence<4"],
    )
    assert done.exit_code == 0, done.output
    return out / "report.html"


@pytest.mark.browser
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (1280, "dark"), (390, "light")])
def test_the_page(report: Path, browser: "Browser", width: int, scheme: str) -> None:
    page = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()  # type: ignore[arg-type]
    troubles: list[str] = []
    page.on("console", lambda message: troubles.append(message.text))
    page.goto(report.as_uri())
    assert page.title() == "hl.jsonl" and not troubles
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.images.length") >= 6
    assert page.evaluate("[...document.images].every(image => image.naturalWidth > 0)")
    sizes = page.evaluate(
        "[...document.querySelectorAll('.sized-words')]"
        ".map(list => [...list.children].map(word => parseFloat(word.style.fontSize)))"
    )
    assert any(sizes) and all(own == sorted(own, reverse=True) for own in sizes)
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (dark == "rgb(21, 23, 27)") == (scheme == "dark")
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.tagName"))
    assert {"A", "SUMMARY"} <= reached


@pytest.fixture(scope="module")
def lost(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures with long names, of which none is there."""
    folder = tmp_path_factory.mktemp("a_folder_with_a_name_that_is_far_too_long_for_a_telephone")
    with (folder / "hl.jsonl").open("w") as file:
        for n in range(8):
            scene = ["in a park", "a park"] if n else ["in a park"]
            line = {
                "file_name": f"{'picture' * 12}{n}.jpg",
                "captions": {"scene": scene, "object": ["a dog"]},
            }
            file.write(json.dumps(line) + "\n")
    out = folder / "out"
    done = CliRunner().invoke(
        load_commands(), ["corpus", str(folder / "hl.jsonl"), "-o", str(out), "--purity", "none"]
    )
    assert done.exit_code == 3, done.output
    return out / "report.html"


@pytest.mark.browser
@pytest.mark.parametrize("width", [320, 375, 1200])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_long_names_do_not_widen_the_page(lost: Path, browser: "Browser", width: int, scheme: str) -> None:
    page = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme).new_page()  # type: ignore[arg-type]
    page.goto(lost.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert "no picture is at hand" in page.content().lower() and str(lost.parent) not in page.content()
