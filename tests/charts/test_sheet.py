"""A sheet says the same in a page, as an SVG file and as a PNG file, whatever the names hold."""

import io
import xml.etree.ElementTree as ET

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from sightline.charts import Sheet, fitted
from sightline.charts.sheet import colour

SVG = "{http://www.w3.org/2000/svg}"


def sheet(text: str = "a & b") -> Sheet:
    drawn = Sheet(60, 40)
    drawn.box(10, 10, 20, 10, colour="series-1", told=text)
    drawn.line((0, 35), (60, 35), colour="ink", dashed=True)
    drawn.dot(50, 10, colour="series-2", radius=4, told=text)
    drawn.text(5, 30, text, anchor="start")
    return drawn


@settings(max_examples=40, deadline=None)
@given(st.text(st.characters(), max_size=12))
def test_any_text_makes_a_file_that_can_be_parsed(text: str) -> None:
    root = ET.fromstring(sheet(text).svg(text).encode())
    (words,) = root.iter(f"{SVG}text")
    assert words.get("fill") == colour("muted")
    assert len(fitted(text, 5)) <= 5
    Image.open(io.BytesIO(sheet(text).png())).load()


def test_marks_lie_where_they_were_put() -> None:
    root = ET.fromstring(sheet().svg("told"))
    box = list(root.iter(f"{SVG}rect"))[1]  # the first is the paper
    assert [box.get(name) for name in ("x", "y", "width", "height")] == ["10.0", "10.0", "20.0", "10.0"]
    picture = np.asarray(Image.open(io.BytesIO(sheet().png())).convert("RGB"), int)
    assert picture.shape == (80, 120, 3)
    blue = bytes.fromhex(colour("series-1")[1:])
    assert (picture[24:36, 24:56] == list(blue)).all() and (picture[:16, :80] == 255).all()
    orange = bytes.fromhex(colour("series-2")[1:])
    assert tuple(picture[20, 100]) == tuple(orange)
    dark = (picture[70] < 128).all(axis=1)
    assert 0.4 < dark.mean() < 0.8  # dashes and gaps


def test_a_page_gets_the_colours_of_its_look() -> None:
    markup = str(sheet().markup("told"))
    assert 'fill="var(--series-1)"' in markup and "#" not in markup.replace("&#", "") and "://" not in markup
    assert "<title>a &amp; b</title>" in markup
