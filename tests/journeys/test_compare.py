"""Which captioner is better, by how much, and why: from result files as users have them to the page that tells it."""

import csv
import gzip
import json
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from sightline.cli.app import load_commands
from sightline.errors import UsageError
from sightline.io.scores import read_scores

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PICTURES = 36
HOSTILE = "</script><img src=x onerror=\"document.title='pwned'\">"


def run(*arguments: object) -> Any:
    return CliRunner().invoke(load_commands(), ["compare", *map(str, arguments)])


@pytest.fixture(scope="module")
def captions(data: Path) -> dict[str, list[str]]:
    """Five human captions for each of some pictures of Flickr8k's test split."""
    found: dict[str, list[str]] = {}
    wanted = pq.read_table(data / "flickr8k_eval.parquet", columns=["file"])["file"].to_pylist()[:PICTURES]
    with gzip.open(data / "flickr8k_captions.tsv.gz", "rt") as lines:
        for line in lines:
            name, text = line.rstrip("\n").split("\t")
            if name.split("#")[0] in wanted:
                found.setdefault(name.split("#")[0], []).append(text)
    return found


@pytest.fixture(scope="module")
def photos(data: Path, captions: dict[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    for row in pq.read_table(data / "flickr8k_eval.parquet").slice(0, PICTURES).to_pylist():
        (folder / row["file"]).write_bytes(row["image"])
    return folder


def captioners(captions: dict[str, list[str]]) -> dict[str, dict[str, str]]:
    """`people` says what somebody said, `terse` drops words, `careless` tells a third of another picture."""
    chance = random.Random(4)
    every = list(captions)
    said = {name: texts[0] for name, texts in captions.items()}
    return {
        "people": said,
        "terse": {n: " ".join(w for w in t.split() if chance.random() > 0.3) or t for n, t in said.items()},
        "careless": {
            n: said[chance.choice(every)] if k % 3 == 0 else t for k, (n, t) in enumerate(said.items())
        },
    }


@pytest.fixture(scope="module")
def coco(captions: dict[str, list[str]], photos: Path) -> dict[str, Path]:
    """Three result files and the annotations with the references, in COCO's form, beside the pictures."""
    number = {name: k for k, name in enumerate(captions, 1)}
    annotations = {
        "images": [{"id": k, "file_name": name} for name, k in number.items()],
        "annotations": [
            {"id": 10 * k + at, "image_id": k, "caption": text}
            for name, k in number.items()
            for at, text in enumerate(captions[name][1:])
        ],
    }
    files = {"references": photos / "captions.json"}
    files["references"].write_text(json.dumps(annotations))
    for system, said in captioners(captions).items():
        files[system] = photos / f"{system}.json"
        files[system].write_text(json.dumps([{"image_id": number[n], "caption": t} for n, t in said.items()]))
    return files


@pytest.fixture(scope="module")
def compared(coco: dict[str, Path], photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command a user types for three captioners in three files."""
    out = tmp_path_factory.mktemp("compared")
    systems = [f"{name}={coco[name]}" for name in ("people", "terse", "careless")]
    form = f"coco-results:references={coco['references']},images={photos}"
    done = run(*systems, "--format", form, "-m", "bleu-4", "-m", "cider", "-m", "groovist", "-o", out)
    assert done.exit_code in (0, 3), done.output
    assert "3 systems, 36 captions" in done.output
    return out


def test_three_captioners_in_coco_files_become_a_verdict(compared: Path) -> None:
    found = json.loads((compared / "compare.json").read_text())
    assert list(found["systems"]) == ["people", "terse", "careless"] and found["d_hm"] is None
    pairs = {(pair["metric"], pair["a"], pair["b"]): pair for pair in found["pairs"]}
    assert len(pairs) == 9
    careless = pairs["groovist", "people", "careless"]
    assert careless["difference"] > 0 and careless["low"] > 0 and careless["p_holm"] < 0.05
    assert careless["losses"] <= 2 and careless["ties"] >= 20  # two thirds of the captions are the same
    cider = pairs["cider", "people", "terse"]
    systems = found["systems"]
    assert cider["difference"] == pytest.approx(
        systems["people"]["cider"]["corpus"] - systems["terse"]["cider"]["corpus"]
    )
    for name in ("compare.md", "compare.tex", "compare.csv", "report.html", "scores.jsonl", "summary.json"):
        assert (compared / name).stat().st_size > 0
    assert len(list(csv.reader((compared / "compare.csv").open()))) == 10
    assert found["command"] and found["versions"]["sightline"] and found["date"]


def test_identical_captions_have_identical_scores_in_every_metric(
    compared: Path, coco: dict[str, Path]
) -> None:
    texts = {
        name: {str(r["image_id"]): r["caption"] for r in json.loads(coco[name].read_text())}
        for name in ("people", "careless")
    }
    shared = {id for id, text in texts["people"].items() if texts["careless"][id] == text}
    assert len(shared) >= 20
    scores: dict[tuple[str, str], dict[str, float]] = {}
    signatures: dict[str, set[str]] = {}
    for score in read_scores(compared / "scores.jsonl"):
        scores.setdefault((score.metric, str(score.system)), {})[score.id] = score.score
        signatures.setdefault(score.metric, set()).add(score.signature)
    for metric, known in signatures.items():
        assert len(known) == 1, metric
        mine, theirs = scores[metric, "people"], scores[metric, "careless"]
        assert all(mine[id] == theirs[id] for id in shared if id in mine), metric
    assert re.search(r"theta:corpus=0\.\d+", signatures["groovist"].pop())


def test_one_file_with_systems_says_the_same_as_three(
    compared: Path, coco: dict[str, Path], captions: dict[str, list[str]], photos: Path, tmp_path: Path
) -> None:
    number = {name: str(k) for k, name in enumerate(captions, 1)}
    file = photos / "all.jsonl"
    rows = [
        {"id": number[n], "images": [n], "text": text, "references": captions[n][1:], "system": system}
        for system, said in captioners(captions).items()
        for n, text in said.items()
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run(file, "-m", "bleu-4", "-m", "cider", "-m", "groovist", "-o", tmp_path)
    one, three = (json.loads((folder / "compare.json").read_text()) for folder in (tmp_path, compared))
    assert one["systems"] == three["systems"] and one["pairs"] == three["pairs"]


def test_runs_scored_apart_are_made_one_measurement(
    coco: dict[str, Path], photos: Path, tmp_path: Path
) -> None:
    """Two people score on their own, each with a theta of their own captions; a third compares the folders."""
    form = f"coco-results:references={coco['references']},images={photos}"
    for name in ("people", "careless"):
        done = CliRunner().invoke(load_commands(), [
            "score", str(coco[name]), "--format", form, "-m", "groovist", "-m", "rouge-l", "-o", str(tmp_path / name),
        ])  # fmt: skip
        assert done.exit_code in (0, 3), done.output
    summaries = [
        json.loads((tmp_path / name / "summary.json").read_text()) for name in ("people", "careless")
    ]
    thetas = [summary["metrics"]["groovist"]["signature"] for summary in summaries]
    assert thetas[0] != thetas[1]
    done = run(*(f"{name}={tmp_path / name}" for name in ("people", "careless")), "-o", tmp_path / "out")
    assert done.exit_code in (0, 3), done.output
    found = json.loads((tmp_path / "out" / "compare.json").read_text())
    pair = next(pair for pair in found["pairs"] if pair["metric"] == "groovist")
    assert pair["ties"] >= 20 and pair["difference"] > 0 and pair["low"] > 0
    for place in (done.output, json.dumps(found["notes"]), (tmp_path / "out" / "report.html").read_text()):
        assert "measured again as one, with theta corpus=0." in re.sub(r"\s+", " ", place)


def test_systems_over_different_pictures_are_compared_on_those_they_share(
    coco: dict[str, Path], photos: Path, tmp_path: Path
) -> None:
    some = photos / "some.json"
    some.write_text(json.dumps(json.loads(coco["terse"].read_text())[:30]))
    done = run(
        f"a={coco['people']}",
        f"b={some}",
        "--format",
        f"coco-results:references={coco['references']}",
        "-m",
        "rouge-l",
        "-o",
        tmp_path,
    )
    assert done.exit_code == 0, done.output
    found = json.loads((tmp_path / "compare.json").read_text())
    assert found["pairs"][0]["n"] == 30 and len(found["left_out"][0]["only_a"]) == 6
    assert "6 captions of a (31, 32, 33, 34, 35 and 1 more)" in re.sub(r"\s+", " ", done.output)
    alone = photos / "alone.json"
    alone.write_text(json.dumps(json.loads(coco["terse"].read_text())[:1]))
    done = run(
        f"a={coco['people']}",
        f"b={alone}",
        "--format",
        f"coco-results:references={coco['references']}",
        "-m",
        "rouge-l",
    )
    assert done.exit_code == 0 and "no interval" in done.output
    twice = run(f"a={coco['people']}", f"a={alone}", "-m", "rouge-l")
    assert isinstance(twice.exception, UsageError) and "named a" in str(twice.exception)


# --- in the browser


def watched(browser: "Browser", path: Path, **options: Any) -> "Page":
    page = browser.new_page(**options)
    page.on("pageerror", lambda fault: pytest.fail(str(fault)))
    page.on(
        "request",
        lambda request: request.url.startswith(("file:", "data:", "blob:")) or pytest.fail(request.url),
    )
    page.goto(path.as_uri())
    page.wait_for_selector("#story h3")
    return page


@pytest.mark.browser
def test_the_page_shows_why_one_loses(compared: Path, browser: "Browser") -> None:
    page = watched(browser, compared / "report.html", viewport={"width": 1400, "height": 1000})
    verdict = page.locator("#verdict").inner_text()
    assert "groovist: people" in verdict and "is higher than" in verdict
    assert page.locator("#verdict figure.chart").count() == 3
    why = page.locator("#why").inner_text()
    assert "share of phrases not seen" in why and "Telling words that no reference has" in why
    reason = page.locator(".reasons li", has_text="groovist").filter(has_text="careless is lower than people")
    assert "more of its phrases are not seen in the pictures" in reason.inner_text().lower()
    reason.locator("a").click()
    page.wait_for_selector("#evidence table.phrases")
    shown = [
        page.eval_on_selector(f"[name={name}]", "e => e.selectedOptions[0].text")
        for name in ("a", "b", "metric")
    ]
    assert shown == ["people", "careless", "groovist"]
    colours = {
        place: page.eval_on_selector(
            f"{place} .system:has-text('careless')", "e => getComputedStyle(e).color"
        )
        for place in ("#why", "#list", "#evidence")
    }
    assert len(set(colours.values())) == 1, "a system has one colour"
    page.select_option("[name=metric]", label="groovist")
    page.select_option("[name=a]", label="people")
    page.select_option("[name=b]", label="careless")
    page.select_option("[name=winner]", "a")
    assert 8 <= page.locator("#list li").count() <= 14
    gaps = [float(text) for text in page.locator("#list .score").all_text_contents()]
    assert gaps == sorted(gaps, reverse=True) and gaps[-1] > 0
    page.locator("#list a").first.click()
    page.wait_for_selector("#evidence table.phrases")
    assert page.locator("#evidence .side-head").all_inner_texts()[0].startswith("people")
    assert page.locator("#evidence .frame img").count() == 1  # one picture, both captions
    assert page.locator("#evidence table.phrases").count() == 2
    page.locator("#evidence .phrase").first.focus()
    assert page.locator("#evidence rect.on").count() == 1
    page.select_option("[name=winner]", "tie")
    assert page.locator("#list .score").first.inner_text() == "tie"
    page.keyboard.press("Escape")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    foot = page.locator("footer.made").inner_text()
    assert "Sightline" in foot and "UTC" in foot
    page.close()


@pytest.mark.browser
def test_a_link_leads_to_its_item_and_a_phone_can_read_it(compared: Path, browser: "Browser") -> None:
    phone = {"viewport": {"width": 390, "height": 800}, "has_touch": True, "is_mobile": True}
    page = browser.new_page(**phone)
    page.goto((compared / "report.html").as_uri() + "#item-2")
    page.wait_for_selector("#story h3")
    assert page.locator("#story").is_visible() and not page.locator(".finder").is_visible()
    assert 0 <= page.evaluate("document.getElementById('story').getBoundingClientRect().top") < 400
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator("[data-metric-number]").last.tap()
    assert "Tap a phrase" in page.locator(".legend").inner_text()
    page.close()


@pytest.mark.browser
def test_hostile_texts_names_and_ids_stay_text(browser: "Browser", tmp_path: Path) -> None:
    rows = [
        {
            "id": f"{HOSTILE}{n}",
            "system": system,
            "text": f"{HOSTILE} A {word} runs. It sits down.",
            "references": [HOSTILE],
        }
        for system, word in ((HOSTILE, "dog"), ("=1+1", "cat"))
        for n in range(6)
    ]
    file = tmp_path / "hostile.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run(file, "-m", "rovist-nr", "-m", "rouge-l", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    page = watched(browser, tmp_path / "out" / "report.html")
    page.locator("#list a").first.click()
    assert HOSTILE in page.locator("#story").inner_text()
    assert page.title() != "pwned" and page.locator("#story img").count() == 0
    page.close()
