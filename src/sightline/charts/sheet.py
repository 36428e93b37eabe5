"""A figure of marks at places of their own, in pixels from the upper left: in a page, as an SVG or a PNG file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from io import BytesIO
from typing import Literal

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from PIL import Image, ImageColor, ImageDraw, ImageFont

from sightline.charts.look import look
from sightline.charts.writing import clean

FONT = "ui-sans-serif, system-ui, 'DejaVu Sans', 'Noto Sans', sans-serif"
FINE = 3
"""A PNG is drawn so many times larger than it is kept, which smooths its edges, and kept at twice its size."""
Point = tuple[float, float]
Anchor = Literal["start", "middle", "end"]


@cache
def colour(name: str) -> str:
    """A colour of the look by day, for files that stand alone: `ink`, `muted`, `series-1`, …"""
    found = re.search(rf"--{name}: (#[0-9a-f]{{6}})", look())
    assert found, name
    return found[1]


@dataclass(frozen=True)
class Line:
    points: Sequence[Point]
    colour: str
    width: float
    dashed: bool

    def svg(self, paint: str) -> Markup:
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in self.points)
        dashes = Markup(' stroke-dasharray="3 2"') if self.dashed else ""
        return Markup('<polyline points="{}" fill="none" stroke="{}" stroke-width="{}"{}/>').format(
            points, paint, self.width, dashes
        )

    def draw(self, pen: ImageDraw.ImageDraw, scale: float) -> None:
        whole = np.array(self.points, float) * scale
        for piece in _dashes(whole, 3 * scale, 2 * scale) if self.dashed else [whole]:
            pen.line([(x, y) for x, y in piece.tolist()], colour(self.colour), round(self.width * scale))


@dataclass(frozen=True)
class Box:
    x: float
    y: float
    width: float
    height: float
    colour: str
    told: str
    opacity: float

    def svg(self, paint: str) -> Markup:
        return Markup(
            '<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}" fill-opacity="{}">{}</rect>'
        ).format(self.x, self.y, self.width, self.height, paint, self.opacity, _title(self.told))

    def draw(self, pen: ImageDraw.ImageDraw, scale: float) -> None:
        rgb = ImageColor.getrgb(colour(self.colour))
        mixed = tuple(round(255 - (255 - part) * self.opacity) for part in rgb)
        x, y = self.x * scale, self.y * scale
        pen.rectangle((x, y, x + self.width * scale, y + self.height * scale), mixed)


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    radius: float
    colour: str
    told: str

    def svg(self, paint: str) -> Markup:
        return Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}">{}</circle>').format(
            self.x, self.y, self.radius, paint, _title(self.told)
        )

    def draw(self, pen: ImageDraw.ImageDraw, scale: float) -> None:
        pen.circle((self.x * scale, self.y * scale), self.radius * scale, colour(self.colour))


@dataclass(frozen=True)
class Label:
    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: Anchor
    turned: bool

    def svg(self, paint: str) -> Markup:
        turn = Markup(' transform="rotate(-90 {:.1f} {:.1f})"').format(self.x, self.y) if self.turned else ""
        return Markup(
            '<text x="{:.1f}" y="{:.1f}" font-size="{}" fill="{}" text-anchor="{}"{}>{}</text>'
        ).format(self.x, self.y, self.size, paint, self.anchor, turn, self.text)

    def draw(self, pen: ImageDraw.ImageDraw, scale: float) -> None:
        font = _font(round(self.size * scale))
        wide, high = round(font.getlength(self.text)) + 1, round(self.size * scale * 1.3)
        sheet = Image.new("L", (wide, high))
        ImageDraw.Draw(sheet).text((0, self.size * scale), self.text, 255, font, anchor="ls")
        before = {"start": 0.0, "middle": wide / 2, "end": wide}[self.anchor]
        x, y = self.x * scale - before, (self.y - self.size) * scale
        if self.turned:
            sheet = sheet.transpose(Image.Transpose.ROTATE_90)
            x, y = (self.x - self.size) * scale, self.y * scale - wide + before
        pen.bitmap((round(x), round(y)), sheet, colour(self.colour))


@dataclass
class Sheet:
    """What is drawn on it, in order. Colours are the look's names: `ink`, `muted`, `line`, `series-1` to `series-6`."""

    width: float
    height: float
    marks: list[Line | Box | Dot | Label] = field(default_factory=list)

    def line(self, *points: Point, colour: str = "line", width: float = 1, dashed: bool = False) -> None:
        self.marks.append(Line(points, colour, width, dashed))

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        *,
        colour: str,
        told: str = "",
        opacity: float = 1,
    ) -> None:
        self.marks.append(Box(x, y, width, height, colour, told, opacity))

    def dot(self, x: float, y: float, *, colour: str, radius: float = 3, told: str = "") -> None:
        """`told` is what pointing at it says."""
        self.marks.append(Dot(x, y, radius, colour, told))

    def text(
        self, x: float, y: float, text: str, *, size: float = 11, colour: str = "muted", anchor: Anchor = "middle",
        turned: bool = False,
    ) -> None:  # fmt: skip
        """`y` is the foot of the letters; turned text reads upward from there."""
        self.marks.append(Label(x, y, " ".join(clean(text).split()), size, colour, anchor, turned))

    def markup(self, told: str) -> Markup:
        """For a page that carries the look: by day and by night. `told` is for those who cannot see it."""
        return Markup('<figure class="sheet" tabindex="0">{}</figure>').format(self.inline(told))

    def inline(self, told: str, css: str = "") -> Markup:
        """The drawing alone, for a page that gives the colours its own way; `css` is its class."""
        named = Markup(' class="{}"').format(css) if css else Markup("")
        return self._svg(told, {mark.colour: f"var(--{mark.colour})" for mark in self.marks}, named)

    def svg(self, told: str) -> str:
        """A file that stands alone, by day; the same marks give the same bytes."""
        paints = {mark.colour: colour(mark.colour) for mark in self.marks}
        paper = Markup('<rect width="100%" height="100%" fill="#ffffff"/>')
        drawn = self._svg(told, paints, Markup(' xmlns="http://www.w3.org/2000/svg"'), paper)
        return f'<?xml version="1.0" encoding="utf-8"?>\n{drawn}\n'

    def png(self) -> bytes:
        """The same as dots, two a pixel."""
        scale = 2 * FINE
        picture = Image.new("RGB", (round(self.width * scale), round(self.height * scale)), "#ffffff")
        pen = ImageDraw.Draw(picture)
        for mark in self.marks:
            mark.draw(pen, scale)
        file = BytesIO()
        picture.reduce(FINE).save(file, "PNG", optimize=True)
        return file.getvalue()

    def _svg(self, told: str, paints: dict[str, str], more: Markup, paper: str = "") -> Markup:
        body = Markup("\n").join(mark.svg(paints[mark.colour]) for mark in self.marks)
        return Markup(
            '<svg{0} viewBox="0 0 {1:.0f} {2:.0f}" width="{1:.0f}" height="{2:.0f}" font-family="{3}" role="img"'
            ' aria-label="{4}">{5}{6}</svg>'
        ).format(more, self.width, self.height, FONT, clean(told), paper, body)


def fitted(text: str, most: int) -> str:
    """A name in one line of at most so many letters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _dashes(ends: NDArray[np.float64], drawn: float, left_out: float) -> list[NDArray[np.float64]]:
    """The pieces of a straight line."""
    (start, end), length = ends[[0, -1]], float(np.hypot(*(ends[-1] - ends[0])))
    places = np.arange(0, length, drawn + left_out)
    return [start + (end - start) * np.array([[a], [min(a + drawn, length)]]) / length for a in places]


def _title(told: str) -> Markup:
    return Markup("<title>{}</title>").format(clean(told)) if told else Markup("")


@cache
def _font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """One that knows most alphabets where it is installed, else Pillow's own."""
    for name in ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial.ttf"):
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            continue
    return ImageFont.load_default(size)
