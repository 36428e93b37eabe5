"""Builds the documentation site: this folder's pages, the tutorials with what they print, a gallery of reports.

python docs/site.py           into site/; fails on a warning, a notebook that fails, a page that nothing leads to

Every tutorial is run in an empty folder of its own; the reports it leaves are the gallery. Where Chromium is
installed, the gallery's pictures are taken anew each time.
"""

import argparse
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS))  # this folder's scripts, from wherever this one is run
from notebooks import Ran, ran_in, title  # noqa: E402

ROOT = DOCS.parent
GUIDES = (
    "formats", "everyday", "python", "report", "compare", "meta", "published", "connections", "people", "running",
    "psychometrics", "corpus", "captions", "reference-metrics", "coherence", "rater", "english", "wordings",
)  # fmt: skip
"""In the order in which one needs them; what is not named follows."""
PROJECT = {"CHANGELOG.md": "changes.md", "CONTRIBUTING.md": "contributing.md", "SECURITY.md": "security.md"}
GALLERY = {
    "scores": ("Scores with their evidence", "01-score-my-captions", "out/report.html"),
    "comparison": ("Systems compared", "02-compare-systems", "verdict/report.html"),
    "agreement": ("Metrics against people", "04-a-rating-study", "agreement/report.html"),
    "people": ("Whom to trust: the Wright map", "05-whom-to-trust", "psych/report.html"),
    "corpus": ("A corpus taken apart", "06-a-corpus-taken-apart", "taken-apart/report.html"),
    "sheet": ("Captions on a contact sheet", "07-caption-my-pictures", "sheet.html"),
}
EXTENSIONS: list[Any] = [
    "admonition", "attr_list", "tables", "md_in_html", {"toc": {"permalink": True}},
    {"pymdownx.highlight": {"anchor_linenums": False}}, "pymdownx.superfences", "pymdownx.inlinehilite",
]  # fmt: skip
STYLE = """.md-grid { max-width: 76rem }
.gallery { display: grid; gap: 1.2rem; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)) }
.gallery img { border: 1px solid var(--md-default-fg-color--lighter); border-radius: 4px; width: 100% }
.output { overflow-x: auto; font-size: .75rem; padding-left: .8rem }
.output { border-left: 3px solid var(--md-default-fg-color--lighter) }
.md-typeset a { text-decoration: underline; text-underline-offset: .15em }
[data-md-color-scheme="default"] { --md-code-hl-comment-color: #5a6370; --md-default-fg-color--light: #00000099 }
[data-md-color-scheme="default"] .md-typeset code { color: #2c3138 }
"""


NAMES = """// What the theme leaves without a name for those who hear pages.
document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
const named = () => document.querySelectorAll(".md-code__nav:not([aria-label])").forEach((nav, n) =>
  nav.setAttribute("aria-label", `Copy: block ${n + 1} of this page, ${nav.parentElement.id || ""}`));
new MutationObserver(named).observe(document.body, { childList: true, subtree: true });
named();
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "site")
    given = parser.parse_args()
    build(given.out)
    print(f"{given.out / 'index.html'}")


def build(out: Path) -> None:
    """The whole site; raises where a notebook fails or mkdocs has anything to remark."""
    with tempfile.TemporaryDirectory(prefix="sightline-site-") as name:
        folder, pages = Path(name), Path(name) / "pages"
        shutil.copytree(
            DOCS, pages, ignore=shutil.ignore_patterns("*.py", "*.ipynb", "*.toml", "*.json", "__pycache__")
        )
        for file, page in PROJECT.items():
            (pages / page).write_text(outside_links((ROOT / file).read_text("utf-8")), "utf-8")
        books = {path.stem: path for path in sorted((DOCS / "tutorials").glob("*.ipynb"))}
        ran = {stem: ran_in(path, folder / "work" / stem) for stem, path in books.items()}
        (pages / "tutorials").mkdir(exist_ok=True)
        for stem, book in ran.items():
            (pages / "tutorials" / f"{stem}.md").write_text(book.page, "utf-8")
        gallery(pages, folder / "work")
        (pages / "style.css").write_text(STYLE, "utf-8")
        (pages / "names.js").write_text(NAMES, "utf-8")
        for page in pages.rglob("*.md"):
            told = page.read_text("utf-8").replace(".ipynb)", ".md)")
            page.write_text(inside_links(told, page.parent, pages), "utf-8")
        config = folder / "mkdocs.yml"
        config.write_text(
            yaml.safe_dump(settings(pages, out, ran), allow_unicode=True, sort_keys=False), "utf-8"
        )
        mkdocs_build(load_config(str(config), strict=True))


def outside_links(text: str) -> str:
    """A page from the repository's root: links to pages of this folder lead beside it; others become their words."""
    text = re.sub(r"\]\(docs/", "](", text)
    return re.sub(r"\[([^\]]+)\]\((?!https?:|#|[\w/-]+\.md)[^)]+\)", r"\1", text)


def inside_links(text: str, folder: Path, pages: Path) -> str:
    """A page whose links to the repository's other files are their words: those files are no part of the site."""

    def led(found: re.Match[str]) -> str:
        there = (folder / found[2].partition("#")[0]).resolve()
        return found[0] if there.is_relative_to(pages.resolve()) else found[1]

    return re.sub(r"\[([^\]]+)\]\((\.\./[^)\s]*)\)", led, text)


def gallery(pages: Path, work: Path) -> None:
    """The tutorials' reports, each a page that needs nothing else, with a picture of it."""
    folder = pages / "gallery"
    folder.mkdir()
    for name, (_, stem, report) in GALLERY.items():
        shutil.copy(work / stem / report, folder / f"{name}.html")
    pictures = photographed(folder)
    shown = {name: f'<img src="{name}.png" alt="" loading="lazy">' for name in pictures}
    cells = [
        f'<a href="{name}.html">{shown.get(name, "")}{words}</a>' for name, (words, _, _) in GALLERY.items()
    ]
    told = "# Gallery\n\nReports as the tutorials leave them. Each is one file that asks the network for nothing.\n\n"
    made = [f"- from [{stem}](../tutorials/{stem}.md): {words}" for words, stem, _ in GALLERY.values()]
    grid = f'<div class="gallery">{"".join(cells)}</div>\n\n## Where they come from\n\n'
    (folder / "index.md").write_text(told + grid + "\n".join(made) + "\n", "utf-8")


def photographed(folder: Path) -> set[str]:
    """Names of the pages of which a picture could be taken."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return set()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1280, "height": 800})
        for path in sorted(folder.glob("*.html")):
            page.goto(path.as_uri())
            page.screenshot(path=path.with_suffix(".png"))
        chromium.close()
    return {path.stem for path in folder.glob("*.png")}


def settings(pages: Path, out: Path, ran: dict[str, Ran]) -> dict[str, Any]:
    return {
        "site_name": "Sightline",
        "site_description": "How true is a text to its pictures?",
        "docs_dir": str(pages),
        "site_dir": str(out.resolve()),
        "use_directory_urls": False,  # the site opens from a folder, too
        "strict": True,
        "theme": {
            "name": "material",
            "font": False,  # nothing is fetched from elsewhere
            "features": ["navigation.sections", "navigation.top", "content.code.copy", "search.suggest"],
            "palette": [
                {"media": f"(prefers-color-scheme: {scheme})", "scheme": name, "primary": "indigo"}
                for scheme, name in (("light", "default"), ("dark", "slate"))
            ],
        },
        "plugins": ["search"],
        "extra_css": ["style.css"],
        "extra_javascript": ["names.js"],
        "extra": {"generator": False},
        "markdown_extensions": EXTENSIONS,
        "validation": {
            "nav": {"omitted_files": "warn", "not_found": "warn", "absolute_links": "warn"},
            "links": {
                "not_found": "warn",
                "anchors": "warn",
                "absolute_links": "warn",
                "unrecognized_links": "warn",
            },
        },
        "nav": navigation(pages, ran),
    }


def navigation(pages: Path, ran: dict[str, Ran]) -> list[Any]:
    """Every page, under its title."""
    here = {path.stem for path in pages.glob("*.md")} - {
        "index",
        "releasing",
        *(Path(p).stem for p in PROJECT.values()),
    }
    guides = [name for name in GUIDES if name in here] + sorted(here - set(GUIDES))
    return [
        {"Start": "index.md"},
        {"Tutorials": [{book.title: f"tutorials/{stem}.md"} for stem, book in ran.items()]},
        {"Guides": [named(pages / f"{name}.md", pages) for name in guides]},
        {"Reference": [named(path, pages) for path in sorted((pages / "reference").glob("*.md"))]},
        {"Gallery": "gallery/index.md"},
        {"Project": [named(pages / name, pages) for name in (*PROJECT.values(), "releasing.md")]},
    ]


def named(path: Path, pages: Path) -> dict[str, str]:
    return {title(path.read_text("utf-8")): path.relative_to(pages).as_posix()}


if __name__ == "__main__":
    main()
