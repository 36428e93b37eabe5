"""Takes the picture of the demo's report that the documentation shows, as docs/images/report.png.

sightline demo -o demo-output && python docs/screenshot.py demo-output/report.html
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

OUT = Path(__file__).parent / "images" / "report.png"
STORY, PHRASE = "morning-good", "coffee"


def main(report: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium") or shutil.which("google-chrome"), args=["--no-sandbox"]
        )
        page = browser.new_page(viewport={"width": 1440, "height": 1280}, reduced_motion="reduce")
        page.goto(report.resolve().as_uri())
        page.get_by_role("link", name=STORY).first.click()
        page.wait_for_selector("#evidence table.phrases")
        page.locator("#evidence .phrase", has_text=PHRASE).first.evaluate(
            "e => e.focus({ preventScroll: true })"
        )
        page.locator("#browser").evaluate("e => e.closest('section').scrollIntoView({ behavior: 'instant' })")
        page.mouse.move(0, 0)  # no row is under it
        image = Image.open(io.BytesIO(page.screenshot()))
        browser.close()
    OUT.parent.mkdir(exist_ok=True)
    image.quantize(224, dither=Image.Dither.NONE).save(OUT, optimize=True)
    print(OUT, f"{OUT.stat().st_size / 1024:.0f} KB")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
