"""The page and its charts: escaping, roundness of numbers, and marks where the values are."""

import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sightline import charts
from sightline.report import overview, page

HOSTILE = "<script>alert(1)</script>\"'&"


class Tags(HTMLParser):
    """Collects tags and checks that they are closed in order."""

    void = frozenset(("meta", "link", "img", "br", "input"))

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def tags(html: str) -> list[str]:
    parser = Tags()
    parser.feed(html)
    assert parser.open == []
    return parser.seen


def test_a_page_is_whole_and_escapes_all_that_is_not_markup() -> None:
    body = page.table([HOSTILE], [[HOSTILE], [None], [True]], caption=HOSTILE) + page.definitions(
        [(HOSTILE, HOSTILE)]
    )
    sections = [
        page.Section(HOSTILE, body, intro=HOSTILE),
        page.Section("Two words", page.Markup("<p>x</p>")),
    ]
    html = page.render(HOSTILE, sections, lead=HOSTILE, facts=[HOSTILE])
    assert "script" not in tags(html)
    assert 'href="#two-words"' in html and 'id="two-words"' in html


def test_scripts_run_only_with_their_hash() -> None:
    html = page.render("t", [], script="let x = '&<';")
    assert "script-src 'sha256-" in html and "<script>let x = '&<';</script>" in html
    assert "script-src" not in page.render("t", [])


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.12345, "0.123"), (-2.0, "−2.000"), (-0.0001, "0.000"), (1234567, "1,234,567"), (None, "–"),
     (math.nan, "–"), (-3, "−3"), (0, "0"), (-0.0, "0.000")],
)  # fmt: skip
def test_numbers_are_written_as_people_read_them(value: float | None, shown: str) -> None:
    assert page.number(value) == shown


def test_columns_of_numbers_stand_right_even_with_gaps() -> None:
    html = page.table(["metric", "tau_c", "note"], [["a", 0.1, "x"], ["b", None, 2]])
    assert html.count('class="number"') == 3  # a heading and two cells


values = st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=200)


@example([1.0, 1.0000000000000002])
@example([0.0, 5e-324])
@given(values)
def test_a_histogram_counts_every_value_once(numbers: list[float]) -> None:
    html = charts.histogram(numbers, label=HOSTILE)
    assert "script" not in tags(html)
    counts = [int(n.replace(",", "")) for n in re.findall(r": ([\d,]+)</title></rect>", html)]
    assert sum(counts) == len(numbers)
    places = [float(x) for x in re.findall(r'(?:x|x1|cx)="(-?[\d.]+)%', html)]
    assert all(-0.5 <= x <= 100.5 for x in places)


@given(st.dictionaries(st.text(max_size=20), values, min_size=1, max_size=5))
def test_strips_and_bars_stay_inside_and_name_each_row(groups: dict[str, list[float]]) -> None:
    html = charts.strips(groups, label="x")
    rows = [charts.Bar(name, found[0], min(found), max(found)) for name, found in groups.items()]
    for drawn in (html, charts.bars(rows, label="x")):
        tags(drawn)
        assert drawn.count('class="name"') >= len(groups)
        for x in re.findall(r'(?:x|x1|x2|cx)="(-?[\d.]+)%', drawn):
            assert -0.5 <= float(x) <= 100.5


def test_the_median_is_drawn_where_it_lies() -> None:
    html = charts.strips({"a": [0.0, 1.0, 4.0]}, label="x", domain=(0.0, 10.0))
    assert re.search(r'class="median" x1="10.000%"', html)


def test_bars_begin_at_zero() -> None:
    html = charts.bars([charts.Bar("a", 5.0), charts.Bar("b", -5.0)], label="x", domain=(-10.0, 10.0))
    found = re.findall(r'class="bar series-1" x="([\d.]+)%" width="([\d.]+)%"', html)
    assert [(float(x), float(w)) for x, w in found] == [(50.0, 25.0), (25.0, 25.0)]


def test_a_forest_places_points_and_intervals_beside_its_line() -> None:
    html = charts.forest([charts.Bar("a − b", 5.0, 2.5, 7.5)], label="x", domain=(-10.0, 10.0))
    tags(html)
    assert 'class="axis" x1="50.000%"' in html and 'cx="75.000%"' in html
    assert 'class="interval" x1="62.500%" x2="87.500%"' in html


def test_a_value_that_is_no_number_is_a_row_without_a_bar() -> None:
    html = charts.bars([charts.Bar("a", 1.0), charts.Bar("b", math.nan, math.nan, math.nan)], label="x")
    assert html.count("<rect") == 1 and "nan" not in html


def test_many_points_are_thinned_and_said_to_be() -> None:
    x = np.linspace(0, 1, 9000)
    html = charts.scatter(x, x, label="l", x_label="people", y_label="metric")
    assert html.count("<circle") == 2000 and "2,000 of 9,000 points" in html


@pytest.mark.parametrize("nothing", [[], [math.nan], [math.inf]])
def test_nothing_to_draw_is_said(nothing: list[float]) -> None:
    for html in (
        charts.histogram(nothing, label="groovist"),
        charts.strips({"a": nothing}, label="groovist"),
        charts.bars([charts.Bar("a", v) for v in nothing], label="groovist"),
        charts.scatter(nothing, nothing, label="groovist", x_label="x", y_label="y"),
    ):
        assert "groovist: nothing to draw" in html


def test_one_value_many_times_is_one_bar() -> None:
    assert charts.histogram([0.5] * 40, label="x").count("<rect") == 1


def test_systems_stand_in_the_order_of_the_run() -> None:
    """However many items each has; the longest ones are left where not all find room."""
    scores = {f"s{place}": [0.5] * (1 if place in (0, 3) else 2) for place in range(overview.SYSTEMS + 1)}
    row = {"n": 9, "failed": 0, "mean": 0.5}
    drawn = str(overview.overview({"metrics": {"cider": row}}, {"cider": scores}).body)
    shown = re.findall(r">(s\d+)<", drawn)
    assert shown == [name for name in scores if name != "s3"]
    assert "and 1 more system<" in drawn
