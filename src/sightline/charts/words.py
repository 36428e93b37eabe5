"""Words drawn by their size, and a table of shades."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from sightline.charts.writing import clean, number


@dataclass(frozen=True)
class SizedWord:
    """A word, and how large it is drawn."""

    text: str
    size: float
    """What the area stands for; the largest of a cloud fills it."""
    told: str = ""
    """What pointing at it says."""


SMALLEST, LARGEST = 0.8, 1.9
"""Letter heights in rem."""


def sized_words(words: Sequence[SizedWord], *, label: str, series: int = 1) -> Markup:
    """Words, the largest first, each as high as its size: proportional to it down to what can still be read."""
    if not words:
        return Markup('<p class="quiet">{}: nothing to draw.</p>').format(clean(label))
    top = max(word.size for word in words)
    drawn = [
        Markup('<li style="font-size: {:.2f}rem" title="{}">{}</li>').format(
            max(SMALLEST, LARGEST * word.size / top if top > 0 else SMALLEST),
            clean(word.told),
            clean(word.text),
        )
        for word in words
    ]
    return Markup('<ul class="sized-words series-{}" aria-label="{}">{}</ul>').format(
        series, clean(label), Markup("").join(drawn)
    )


def shades(
    names: Sequence[str], values: Sequence[Sequence[float | None]], *, caption: str, digits: int = 2
) -> Markup:
    """A square table of numbers from -1 to 1, each cell shaded by its value: blue above zero, orange below."""
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(clean(name)) for name in names)
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            clean(name), Markup("").join(_shade(value, digits) for value in row)
        )
        for name, row in zip(names, values, strict=True)
    )
    return Markup(
        '<div class="scroll" tabindex="0" role="group" aria-label="{}"><table class="shades">'
        "<caption>{}</caption><thead><tr><td></td>{}</tr></thead><tbody>{}</tbody></table></div>"
    ).format(clean(caption), clean(caption), head, rows)


def _shade(value: float | None, digits: int) -> Markup:
    if value is None or value != value:
        return Markup('<td class="number">–</td>')
    name, strength = ("--series-1" if value >= 0 else "--series-2"), min(abs(value), 1) * 55
    return Markup(
        '<td class="number" style="background: color-mix(in srgb, var({}) {:.0f}%, transparent)">{}</td>'
    ).format(name, strength, number(value, digits))
