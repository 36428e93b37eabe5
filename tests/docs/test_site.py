"""The documentation site, built as `make site` builds it: every tutorial is run, and nothing leads nowhere.

Takes about a minute, nearly all of it the ten tutorials, each in a kernel of its own as its reader would have it.
"""

import functools
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from skipping import skip

pytest.importorskip("mkdocs")
DOCS = Path(__file__).parents[2] / "docs"
AXE = Path(sys.prefix) / "npm" / "node_modules" / "axe-core" / "axe.min.js"
MAIN = ("index.html", "tutorials/01-score-my-captions.html", "reference/cards.html", "gallery/index.html")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> Path:
    out = tmp_path_factory.mktemp("site")
    words = [sys.executable, str(DOCS / "site.py"), "--out", str(out)]
    built = subprocess.run(words, env=environment, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    return out


class Links(HTMLParser):
    """Where a page leads, and what can be led to in it."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.names: set[str] = set()
        self.feed(path.read_text("utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.leads.append(value)
            elif name in ("id", "name") and value:
                self.names.add(value)


def pages(site: Path) -> dict[Path, Links]:
    """Pages of the site; reports in the gallery are pages of their own kind, with tests of their own."""
    found = (
        path for path in site.rglob("*.html") if path.parent.name != "gallery" or path.name == "index.html"
    )
    return {path: Links(path) for path in found if path.name != "404.html"}


def test_every_tutorial_ran_and_shows_what_it_printed(site: Path) -> None:
    books = sorted((DOCS / "tutorials").glob("*.ipynb"))
    assert len(books) == 10
    for book in books:
        page = (site / "tutorials" / f"{book.stem}.html").read_text("utf-8")
        assert 'class="output"' in page, f"{book.name} shows nothing"
        assert str(site.parent) not in page and "sightline-site-" not in page, (
            "a folder of this machine is shown"
        )


def test_no_link_within_the_site_leads_nowhere(site: Path) -> None:
    found = pages(site)
    broken = []
    for path, links in found.items():
        for lead in links.leads:
            parts = urlsplit(lead)
            if parts.scheme or parts.netloc or lead.startswith("data:"):
                continue
            there = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = there / "index.html" if there.is_dir() else there
            missing = parts.fragment and there in found and unquote(parts.fragment) not in found[there].names
            if not there.is_file() or missing:
                broken.append(f"{path.relative_to(site)}: {lead}")
    assert not broken


def test_no_page_is_orphaned_and_search_knows_them(site: Path) -> None:
    found, reached, ahead = pages(site), set(), [site / "index.html"]
    while ahead:
        path = ahead.pop()
        if path in reached or path not in found:
            continue
        reached.add(path)
        ahead += [(path.parent / unquote(urlsplit(lead).path)).resolve() for lead in found[path].leads]
    assert set(found) == reached
    index = (site / "search" / "search_index.json").read_text("utf-8")
    assert '"location":"reference/cards.html#groovist"' in index


def test_the_first_page_shows_the_report_within_ten_lines() -> None:
    lines = [
        line for line in (DOCS / "index.md").read_text("utf-8").splitlines() if not line.startswith("<!--")
    ]
    assert any("](images/report.png)" in line for line in lines[:10])


def test_every_metric_has_a_card(site: Path) -> None:
    from sightline.metrics import metrics

    told = (DOCS / "reference" / "cards.md").read_text("utf-8")
    own = [name for name in metrics if metrics.get(name).__module__.startswith("sightline.")]
    cards = dict(re.findall(r"^## (.+)\n((?:(?!^## ).*\n)*)", told, re.MULTILINE))
    assert set(own) == set(cards)
    assert all("**direction**" in card for card in cards.values())


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    for path in pages(site):
        page = path.read_text("utf-8")
        fetched = re.findall(r'<(?:script|img|iframe)[^>]+src="(https?:[^"]+)"', page)
        fetched += re.findall(r'<link[^>]+rel="stylesheet"[^>]+href="(https?:[^"]+)"', page)
        assert not fetched, path.name


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            """Not among the tests' own lines."""

    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(site))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.browser
def test_main_pages_shut_nobody_out(address: str, browser: Any) -> None:
    if not AXE.is_file():
        skip("axe-core is not installed: make system")
    page = browser.new_page(viewport={"width": 1366, "height": 800})
    found = {}
    for name in MAIN:
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
            page.goto(f"{address}/{name}")
            page.evaluate(AXE.read_text("utf-8"))
            faults = page.evaluate(
                "axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations.map((one) =>"
                " `${one.id}: ${one.nodes.map((node) => node.target).slice(0, 4)}`))"
            )
            if faults:
                found[f"{name} {scheme}"] = faults
    page.close()
    assert not found
