"""The report in a real browser: what it draws, how it is used, and that hostile text does nothing."""

import math
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image
from playwright.sync_api import expect

from sightline.items import Evidence, Failure, Item, PairEvidence, PhraseEvidence, Score, WordEvidence
from sightline.report import write_report

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser
HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
SENTENCES = (
    "The \U0001f600 dog ran to the red ball.",
    f"A bird {HOSTILE} flew.",
    "Then a dragon came to the dog.",
)
METRICS = ("groovist", "clipscore", "rovist-c")


def phrase(
    text: str, sentence: int, contribution: float, image: int, by_image: tuple[float, ...]
) -> PhraseEvidence:
    start = SENTENCES[sentence].index(text)
    values = (by_image[image], math.copysign(0.7, contribution), 4.0, contribution)
    later = [(n, said.find(text)) for n, said in enumerate(SENTENCES) if n > sentence and text in said]
    again = tuple((n, at, at + len(text)) for n, at in later)
    return PhraseEvidence(
        text, sentence, start, start + len(text), *values, image, (40, 30, 120, 90), by_image, again
    )


def evidence() -> Evidence:
    phrases = (
        phrase("dog", 0, 2.8, 0, (0.7, 0.65, 0.4)),
        phrase("the red ball", 0, 1.5, 0, (0.8, 0.3, 0.4)),
        phrase("A bird", 1, 2.0, 1, (0.5, 0.75, 0.4)),
        phrase("a dragon", 2, -0.9, 2, (0.3, 0.2, 0.5)),
    )
    return Evidence(SENTENCES, phrases, 0.6, parts={"T": 0.33, "P": 0.25}, notes=(HOSTILE,))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    photos = []
    for number, colour in enumerate(("#aa7733", "#3377aa", "#448844")):
        photos.append(folder / f"{number}{'<b>' * number}.png")
        Image.new("RGB", (160, 120), colour).save(photos[-1])
    items, scores, failures = [], [], []
    for n in range(150):
        id = HOSTILE if n == 0 else f"story {n}"
        items.append(
            Item(id, tuple(photos), sentences=SENTENCES, system="human" if n % 3 else HOSTILE,
                 source=f"s.jsonl:{n + 1}", references=(HOSTILE,), ratings={"grounding": (3.0, 4.0)})
        )  # fmt: skip
        pictures = tuple(PairEvidence(f"sentence {k}", f"picture {k}", 0.2 * k) for k in (1, 2, 3))
        following = tuple(PairEvidence(f"sentence {k}", f"sentence {k + 1}", 0.4 * k) for k in (1, 2))
        scores += [
            Score(id, "groovist", math.sin(n), "groovist|weights:concreteness|theta:0.6", evidence()),
            Score(id, "clipscore", n / 150, "clipscore|encoder:x", Evidence(SENTENCES, pairs=pictures)),
        ]
        if n == 7:
            failures.append(Failure(id, "rovist-c", HOSTILE, "s.jsonl:8"))
        else:
            scores.append(Score(id, "rovist-c", 0.6, "rovist-c", Evidence(SENTENCES, pairs=following)))
    rows = {
        metric: {"mean": 0.5, "n": 150, "failed": sum(f.metric == metric for f in failures),
                 "signature": next(s.signature for s in scores if s.metric == metric)}
        for metric in METRICS
    }  # fmt: skip
    path = folder / "report.html"
    write_report(path, items, scores, failures, title=HOSTILE, summary={"items": 150, "metrics": rows})
    return path


@pytest.fixture
def page(report: Path, browser: "Browser") -> Iterator["Page"]:
    yield from opened(report, browser)


def opened(report: Path, browser: "Browser", **options: Any) -> Iterator["Page"]:
    context = browser.new_context(**{"viewport": {"width": 1300, "height": 900}, **options})
    page = context.new_page()
    faults: list[str] = []
    asked: list[str] = []
    page.on("pageerror", lambda fault: faults.append(str(fault)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.on("dialog", lambda dialog: faults.append("dialog") or dialog.dismiss())
    page.on("request", lambda request: asked.append(request.url))
    page.goto(report.as_uri())
    page.wait_for_selector("#evidence table.phrases")
    yield page
    assert faults == []
    assert [url for url in asked if not url.startswith(("file:", "data:", "blob:"))] == []
    assert page.title() == HOSTILE and "owned" not in page.title().split("<", maxsplit=1)[0]
    assert page.locator("main img:not([src^='data:'])").count() == 0
    context.close()


def ids(page: "Page") -> list[str]:
    return page.locator("#list .id").all_text_contents()


def test_hostile_text_is_shown_as_text(page: "Page") -> None:
    assert page.locator("#story h3").inner_text() == HOSTILE
    assert HOSTILE in page.locator("#evidence .sentence").nth(1).inner_text()
    assert HOSTILE in page.locator("#evidence .notes").inner_text()
    assert page.locator("script:not([type])").count() == 1


def test_phrases_are_marked_where_the_sentence_says_them(page: "Page") -> None:
    marks = page.locator("#evidence .sentence .phrase")
    assert marks.all_inner_texts() == ["dog", "the red ball", "A bird", "a dragon", "dog"]
    assert marks.nth(4).get_attribute("aria-label") == marks.nth(0).get_attribute("aria-label")
    assert "plus" in str(marks.nth(0).get_attribute("class")) and "minus" in str(
        marks.nth(3).get_attribute("class")
    )
    assert marks.nth(3).get_attribute("aria-label") == "a dragon: contribution −0.900, best seen in picture 3"
    styles = [
        mark.evaluate("e => getComputedStyle(e).borderBottomStyle") for mark in (marks.nth(0), marks.nth(3))
    ]
    assert styles == ["solid", "dashed"]  # not by colour alone


def test_a_phrase_lights_up_its_region_by_mouse_and_by_keyboard(page: "Page") -> None:
    box = page.locator("#evidence .frame rect[data-phrase='0']")
    drawn, frame = box.bounding_box(), page.locator("#evidence .frame").first.bounding_box()
    assert drawn and frame
    assert (drawn["x"] - frame["x"]) / frame["width"] == pytest.approx(40 / 160, abs=0.02)
    assert drawn["height"] / frame["height"] == pytest.approx(60 / 120, abs=0.04)
    mark = page.locator("#evidence .sentence .phrase").first
    mark.hover()
    assert "on" in str(box.get_attribute("class"))
    assert page.locator(".tag.on").all_inner_texts() == ["dog"]
    page.mouse.move(0, 0)
    assert page.locator(".tag.on").count() == 0
    mark.focus()
    page.keyboard.press("Tab")
    assert page.locator(".tag.on").all_inner_texts() == ["the red ball"]


def test_the_table_of_phrases_sorts(page: "Page") -> None:
    rows = page.locator("table.phrases tbody tr")
    assert re.split(r"\s*\t\s*", rows.first.inner_text()) == ["dog", "0.700", "0.700", "4.000", "+2.800"]
    head = page.locator("table.phrases thead th").nth(4)
    assert page.locator("table.phrases thead th").nth(3).inner_text() == "concrete\u00adness"
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "descending" and rows.first.inner_text().startswith("dog")
    head.locator("button").click()
    assert head.get_attribute("aria-sort") == "ascending" and rows.first.inner_text().startswith("a dragon")


def test_the_heat_map_shows_temporal_misalignment(page: "Page") -> None:
    cells = page.locator(".heatmap td.heat")
    assert cells.count() == 12
    own = [n for n in range(12) if "own" in str(cells.nth(n).get_attribute("class"))]
    assert own == [0, 3, 7, 11]
    reaches = [n for n in range(12) if "reaches" in str(cells.nth(n).get_attribute("class"))]
    assert reaches == [0, 1, 3, 7]  # the dog is also in the bird's picture


def test_metrics_are_tabs_with_their_own_evidence(page: "Page") -> None:
    page.get_by_role("tab", name="clipscore").click()
    assert page.locator(".pairs li").count() == 3
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", name="rovist-c").get_attribute("aria-selected") == "true"
    assert page.locator(".pairs.chain li").count() == 2
    assert SENTENCES[2] in page.locator(".pairs.chain li").last.inner_text()


def test_controls_without_a_use_are_not_shown(page: "Page", browser: "Browser", tmp_path: Path) -> None:
    item = Item("only", (), "One story.")
    score = Score("only", "rovist-nr", 0.5, "rovist-nr", Evidence(("One story.",)))
    row = {"mean": 0.5, "n": 1, "failed": 0, "signature": "rovist-nr"}
    path = tmp_path / "one.html"
    write_report(path, [item], [score], [], title="One", summary={"items": 1, "metrics": {"rovist-nr": row}})
    page.goto(path.as_uri())
    expect(page.locator("#story h3")).to_have_text("only")
    assert not page.locator("#failed-field").is_visible() and not page.locator("#system-field").is_visible()
    assert page.locator("#more").is_hidden()
    page.go_back()


def test_words_that_speak_against_the_text_are_marked(browser: "Browser", tmp_path: Path) -> None:
    Image.new("RGB", (160, 120), "#448844").save(tmp_path / "a.png")
    text = "A \U0001f600 dog chases two cats."
    words = tuple(
        WordEvidence(word, 0, text.index(word), text.index(word) + len(word), change)
        for word, change in (("dog", 0.21), ("chases", 0.02), ("two", -0.04), ("cats", -0.32))
    )
    pairs = (PairEvidence("sentence 1", "picture 1", 0.4),)
    scores = [Score("a", "match", 0.4, "match|together:x", Evidence((text,), pairs=pairs, words=words))]
    row = {"mean": 0.4, "n": 1, "failed": 0, "signature": "match|together:x"}
    path = tmp_path / "report.html"
    items = [Item("a", (tmp_path / "a.png",), text)]
    write_report(path, items, scores, [], title=HOSTILE, summary={"items": 1, "metrics": {"match": row}})
    for page in opened(path, browser):
        marks = page.locator(".sentence .phrase")
        assert marks.all_inner_texts() == ["dog", "chases", "two", "cats"]
        assert page.locator(".sentence .phrase.minus").all_inner_texts() == ["two", "cats"]
        assert "contribution \u22120.32" in (marks.nth(3).get_attribute("aria-label") or "")
        assert page.locator("table.words tbody tr").count() == 4
        marks.nth(3).hover()
        assert page.locator("table.words tr.on th").inner_text() == "cats"
        assert "speaks against it" in page.locator(".legend").inner_text()


def test_search_filters_order_and_history(page: "Page") -> None:
    assert len(ids(page)) < 150  # rows are made as they are needed
    page.fill("[name=search]", "story 14")
    assert ids(page) == ["story 14", "story 114", *(f"story {n}" for n in range(140, 150))]
    page.select_option("[name=metric]", label="clipscore")
    page.select_option("[name=order]", "high")
    assert ids(page)[:2] == ["story 149", "story 148"]
    page.fill("[name=high]", "0.5")
    assert ids(page) == ["story 14"]
    page.get_by_role("button", name="Clear").click()
    expect(page.locator("#count")).to_have_text("150 stories")
    page.check("[name=failed]")
    assert ids(page) == ["story 7"]
    page.locator("#list a").first.click()
    expect(page.locator("#story h3")).to_have_text("story 7")
    assert HOSTILE in page.locator(".beside").inner_text()
    page.go_back()
    page.get_by_role("button", name="Clear").click()
    page.select_option("[name=system]", label="human")
    expect(page.locator("#count")).to_have_text("100 of 150 stories")


def test_a_bar_of_the_overview_filters(page: "Page") -> None:
    bar = page.locator("[data-metric=clipscore] rect[data-low]").first
    bar.click()
    assert page.locator("[name=high]").input_value() == bar.get_attribute("data-high")
    assert 0 < len(ids(page)) < 20


def test_keys_walk_through_the_stories(page: "Page") -> None:
    page.keyboard.press("j")
    expect(page.locator("#story h3")).to_have_text("story 1")
    page.keyboard.press("k")
    expect(page.locator("#story h3")).to_have_text(HOSTILE)
    page.keyboard.press("/")
    page.keyboard.type("story 3")
    assert ids(page)[0] == "story 3"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.name") == "metric"


def test_scrolling_the_list_reaches_the_last_story(page: "Page") -> None:
    page.evaluate("document.getElementById('stories').scrollIntoView({ behavior: 'instant' })")
    for rows in (60, 120):
        expect(page.locator("#list li")).to_have_count(rows)
        page.locator("#scroller").evaluate("list => list.scrollTo(0, list.scrollHeight)")
    expect(page.locator("#list li")).to_have_count(150)


def test_every_control_has_a_name_and_every_picture_a_text(page: "Page") -> None:
    nameless = page.evaluate(
        """() => [...document.querySelectorAll('button, a[href], input, select, [role=tab]')].filter((e) =>
        !(e.textContent.trim() || e.getAttribute('aria-label') || (e.labels && e.labels.length))).length"""
    )
    assert nameless == 0
    assert page.locator("img:not([alt])").count() == 0
    assert page.locator("svg:not([aria-label]):not([aria-hidden])").count() == 0
    levels = page.evaluate("[...document.querySelectorAll('h1,h2,h3,h4')].map((h) => Number(h.tagName[1]))")
    assert levels[0] == 1 and all(after <= before + 1 for before, after in pairwise(levels))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast_in_light_and_dark(report: Path, browser: "Browser", scheme: str) -> None:
    for page in opened(report, browser, color_scheme=scheme):
        for selector in READ:
            for ratio in page.locator(selector).evaluate_all(CONTRAST):
                assert ratio >= 4.5, f"{selector} in {scheme}: {ratio:.2f}"


READ = (
    "body", "a", ".quiet", ".system", ".tab-name", ".snippet", ".phrase.plus", ".phrase.minus", ".heat",
    "tr.plus .contribution", "tr.minus .contribution",
)  # fmt: skip

CONTRAST = """(elements) => {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const paint = (...colours) => {
    canvas.clearRect(0, 0, 1, 1);
    for (const colour of colours) { canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1); }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  };
  const shine = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;
  return elements.slice(0, 40).map((element) => {
    const grounds = [];
    for (let e = element; e; e = e.parentElement) grounds.unshift(getComputedStyle(e).backgroundColor);
    const ground = shine(paint(...grounds));
    const text = shine(paint(...grounds, getComputedStyle(element).color));
    return (Math.max(ground, text) + 0.05) / (Math.min(ground, text) + 0.05);
  });
}"""


def test_a_phone_shows_the_list_or_the_story_and_nothing_sticks_out(report: Path, browser: "Browser") -> None:
    context = browser.new_context(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(report.as_uri())
    page.wait_for_selector("#list a")
    assert page.locator(".finder").is_visible() and not page.locator("#story").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("#list a").nth(2).tap()
    page.wait_for_selector("#story h3")
    assert page.locator("#story").is_visible() and not page.locator(".finder").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator(".back").tap()
    page.wait_for_selector(".finder")
    assert not page.locator("#story").is_visible()
    context.close()


def test_five_thousand_stories_are_found_and_opened(browser: "Browser", tmp_path: Path) -> None:
    ids = [f"story {n}" for n in range(5_000)]
    items = (Item(id, (), sentences=SENTENCES) for id in ids)
    scores = (Score(id, "groovist", n / 5_000, "groovist", evidence()) for n, id in enumerate(ids))
    row = {"mean": 0.5, "n": 5_000, "failed": 0, "signature": "groovist"}
    path = tmp_path / "many.html"
    write_report(
        path, items, scores, [], title="Many", summary={"items": 5_000, "metrics": {"groovist": row}}
    )
    page = browser.new_page()
    page.goto(path.as_uri())
    expect(page.locator("#count")).to_have_text("5,000 stories")
    assert page.evaluate("document.querySelectorAll('*').length") < 3_000  # not all at once
    page.select_option("[name=order]", "high")
    expect(page.locator("#list .id").first).to_have_text("story 4999")
    page.fill("[name=search]", "dragon 4711")
    page.locator("#list a").first.click()
    expect(page.locator("#story h3")).to_have_text("story 4711")
    assert page.locator("table.phrases tbody tr").count() == 4
    page.close()


def test_without_scripts_the_overview_can_be_read(report: Path, browser: "Browser") -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(report.as_uri())
    assert page.locator(".card.metric").count() == 3
    assert page.locator("noscript").first.is_visible() or "need no script" in page.content()
    context.close()
