"""The report of a comparison: the verdict, why, how scores are distributed, and the items where systems differ most."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from sightline import charts
from sightline.charts import counted
from sightline.io.results import whole
from sightline.items import Failure, Item, Score
from sightline.meta.comparison.board import Board
from sightline.meta.comparison.contest import SAMPLES
from sightline.meta.comparison.distance import PARTS, squashed
from sightline.meta.comparison.files import chance, published
from sightline.meta.comparison.makings import Making, Wording, makings, wordings
from sightline.meta.comparison.page_items import first, listed, most_apart, ordered, total
from sightline.meta.comparison.page_why import side, why
from sightline.meta.comparison.reasons import Reason, reasons
from sightline.meta.comparison.verdict import Comparison
from sightline.meta.comparison.words import how, interval, named, size, verdicts
from sightline.report import overview, page
from sightline.report.gather import Gathered
from sightline.report.page import Markup, clean, number, source
from sightline.report.parts import bullets
from sightline.report.write import blocks, browser

SCRIPTS = ("data.js", "evidence.js", "board.js", "compare.js")


@dataclass(frozen=True)
class Told:
    """All that a comparison's page is made of. Items and scores are read as often as they are needed."""

    found: Comparison
    board: Board
    summary: Mapping[str, Any]
    scores: Callable[[], Iterable[Score]]
    failures: Sequence[Failure] = ()
    items: Callable[[], Iterable[Item]] | None = None
    """None where only scores are known."""
    samples: int = SAMPLES
    """How often the bootstrap resampled."""
    of_all: Mapping[str, Mapping[str, Making]] | None = None
    """What all scores are made of, where that was noted as they were read."""

    @cached_property
    def shared(self) -> dict[str, set[str]]:
        """The items that every system has a score for, by metric."""
        return {spec: _shared(self.board, spec) for spec in self.board.metrics}

    @cached_property
    def made(self) -> Mapping[str, Mapping[str, Making]]:
        """What the scores of the shared items are made of."""
        columns = self.board.columns
        if self.of_all is not None and all(
            len(column.ids) == len(self.shared[spec]) for spec in columns for column in columns[spec].values()
        ):
            return {spec: self.of_all[spec] for spec in columns if spec in self.of_all}
        return makings(self.scores(), self.shared)

    @cached_property
    def said(self) -> Mapping[str, Wording]:
        return wordings(self.items()) if self.items else {}

    @cached_property
    def reasons(self) -> list[Reason]:
        """Why systems are worse."""
        if self.found.human is not None:
            return []  # higher is not better there
        return reasons(self.found, self.board, self.made, self.said)


def write_page(path: Path, told: Told) -> None:
    """Write the page in one file that asks the network for nothing."""
    with whole(path) as out:
        out.writelines(piece.encode("utf-8", "replace") for piece in pieces(told))


def pieces(told: Told) -> Iterator[str]:
    """The page, piece by piece."""
    found, board = told.found, told.board
    systems = told.summary["systems"]
    shared = told.shared
    sections = [
        page.Section(
            "Verdict", bullets(verdicts(found, systems)) + _forests(found), _how(found), id="verdict"
        ),
        _distances(found),
        why(told.made, told.said, found, told.reasons, linked=told.items is not None),
        _values(found, systems),
        _distributions(found, board, shared),
        _pairs(found),
        page.Section("To keep in mind", bullets(found.notes)) if found.notes else None,
    ]
    facts = [
        counted(len(found.systems), "system"),
        counted(max(pair.contest.n for pair in found.pairs), found.noun),
        counted(len(found.metrics), "metric"),
    ]
    options: dict[str, Any] = {
        "lead": _lead(found),
        "facts": facts,
        "style": source("stories.css") + source("compare.css"),
        "made": told.summary if "versions" in told.summary else None,
    }
    if told.items is None:
        sections.insert(3, listed(found, board))
        yield from page.stream(_title(found), _with_signatures(sections, told.summary), **options)
        return
    chosen = most_apart(found, board)
    gathered = Gathered(
        ordered(told.items(), chosen), (s for s in told.scores() if s.id in chosen), list(told.failures)
    )
    try:
        sections.insert(3, browser(found.noun, "compare.html", title="Side by side", id="items"))
        yield from page.stream(
            _title(found),
            _with_signatures(sections, told.summary),
            script="(() => {\n'use strict';\n" + "".join(map(source, SCRIPTS)) + "})();\n",
            blocks=blocks(
                gathered,
                found.noun,
                found.metrics,
                found.systems,
                told.summary,
                {"total": total(board), "first": first(found)},
            ),
            **options,
        )  # fmt: skip
    finally:
        gathered.close()


def _with_signatures(
    sections: Sequence[page.Section | None], summary: Mapping[str, Any]
) -> list[page.Section]:
    return [section for section in (*sections, overview.signatures(summary)) if section is not None]


def _title(found: Comparison) -> str:
    if found.human is not None and len(found.systems) == 2:
        other = next(name for name in found.systems if name != found.human)
        return f"{other} beside {found.human}"
    if len(found.systems) == 2:
        return f"{found.systems[0]} against {found.systems[1]}"
    return f"{counted(len(found.systems), 'system')} compared" + (
        f" with {found.against}" if found.against else ""
    )


def _lead(found: Comparison) -> str:
    stories = counted(2, found.noun).removeprefix("2 ")
    if found.human is not None:
        return (
            f"How far {stories} lie from those of {found.human}. Higher is not better here: a distance of 0 means"
            f" {stories} that score like people's."
        )
    return f"The same {stories} by each system, measured once: what differs, by how much, and why."


def _how(found: Comparison) -> str:
    pair = found.pairs[0].contest
    unit = counted(2, "picture" if found.noun == "caption" else found.noun).removeprefix("2 ")
    return (
        f"Differences with 95 % intervals from a paired bootstrap over {unit}; p by approximate randomisation, after"
        f" Holm's correction over {counted(len(found.pairs), 'comparison')}. {_said(found)} is said where p < .05."
        + ("" if pair.low is not None else " One item leaves no interval.")
    )


def _said(found: Comparison) -> str:
    words = dict.fromkeys(how(pair.faults).capitalize() for pair in found.pairs)
    return " or ".join(f"\u201c{word}\u201d" for word in words)


def _forests(found: Comparison) -> Markup:
    """A forest plot for each metric: their scales differ."""
    drawn = []
    for metric in found.metrics:
        pairs = [pair for pair in found.pairs if pair.metric == metric]
        if not pairs:
            continue
        points = [
            charts.Bar(
                f"{pair.a} − {pair.b}", pair.contest.difference, pair.contest.low, pair.contest.high,
                series=6 if pair.winner is None else side(pair.winner, found.systems) + 1,
                text=f"{'+' if pair.contest.difference > 0 else ''}{size(pair.contest.difference)}",
            )
            for pair in pairs
        ]  # fmt: skip
        level = "corpus-level values" if pairs[0].level == "corpus" else "means"
        plot = charts.forest(points, label=f"Differences in {metric}", digits=4)
        drawn.append(
            Markup(
                '<article class="card"><header><h3><code>{}</code></h3><p class="quiet small">{}</p></header>'
                "{}</article>"
            ).format(clean(named(metric, pairs[0].faults)), f"difference of {level}", plot)
        )  # fmt: skip
    return Markup('<div class="cards forests">{}</div>').format(Markup("").join(drawn))


def _distances(found: Comparison) -> page.Section | None:
    if not found.distances:
        return None
    bars: list[charts.Bar] = []
    rows: list[list[Any]] = []
    for name, one in found.distances.items():
        if one.d_hm is not None:
            bars.append(charts.Bar(name, one.d_hm, series=side(name, found.systems) + 1))
        for metric, part in one.parts.items():
            title = PARTS.get(metric.partition(":")[0], metric)
            rows.append(
                [
                    name,
                    title,
                    part.n,
                    part.human,
                    part.generated,
                    part.deviation,
                    f"{100 * part.higher:.0f} %",
                ]
            )
    missing = [PARTS[name] for name in PARTS if name not in {m.partition(":")[0] for m in found.metrics}]
    intro = (
        f"d_HM needs {', '.join(PARTS.values())}; {', '.join(missing)} is missing."
        if missing
        else "d_HM is the mean of the absolute differences in tanh(GROOViST), RoViST-C and RoViST-NR."
    )
    columns = ["system", "metric", counted(2, found.noun).removeprefix("2 "), f"mean, {found.human}", "mean, system",
               "mean |difference|", "system is higher"]  # fmt: skip
    drawn = charts.bars(bars, label=f"d_HM: distance from {found.human}", digits=4) if bars else Markup("")
    return page.Section(
        f"Distance from {found.human}: d_HM", drawn + page.table(columns, rows, digits=4), intro, id="d-hm"
    )


def _values(found: Comparison, systems: Mapping[str, Any]) -> page.Section:
    rows = []
    for name in found.systems:
        row: list[Any] = [name]
        for metric in found.metrics:
            one = systems.get(name, {}).get(metric)
            value, low, high = published(one)
            if one is None or value is None:
                row.append("–")
                continue
            beside = f"mean {number(one['mean'], 4)}" if one.get("corpus") not in (None, one["mean"]) else ""
            span = "" if low is None or high is None else f"{number(low, 4)} to {number(high, 4)}"
            failed = f"{one['failed']} failed" if one.get("failed") else ""
            told = " · ".join(text for text in (span, beside, f"n {one['n']:,}", failed) if text)
            row.append(
                Markup('<strong>{}</strong><br><span class="quiet small">{}</span>').format(
                    number(value, 4), told
                )
            )
        rows.append(row)
    intro = "The number that is published of each metric (corpus-level where it has such a value), with its interval."
    return page.Section("Systems", page.table(["system", *found.metrics], rows), intro)


def _shared(board: Board, spec: str) -> set[str]:
    """The items that every system has a score for."""
    columns = [set(column.ids) for column in board.columns[spec].values() if column.ids]
    return set.intersection(*columns) if columns else set()


def _distributions(found: Comparison, board: Board, shared: Mapping[str, set[str]]) -> page.Section:
    cards = []
    for metric in found.metrics:
        squash = found.human is not None
        groups = {}
        for name in found.systems:
            scores = board.scores(metric, name)
            groups[name] = [
                squashed(metric, v) if squash else v for id, v in scores.items() if id in shared[metric]
            ]
        title = PARTS.get(metric.partition(":")[0], metric) if squash else metric
        strips = charts.strips(
            {name: values for name, values in groups.items() if values}, label=f"{title} by system"
        )
        cards.append(
            Markup('<article class="card"><h3><code>{}</code></h3>{}</article>').format(clean(title), strips)
        )
    intro = (
        f"Each system's scores over the {counted(2, found.noun).removeprefix('2 ')} all of them have: the middle half"
        " as a box, 5 to 95 % as a line, the median as a tick; the number is the mean."
    )
    return page.Section(
        "Distributions", Markup('<div class="cards">{}</div>').format(Markup("").join(cards)), intro
    )


def _pairs(found: Comparison) -> page.Section:
    columns = ["metric", "a", "b", "a − b", "95 % interval", "p", "p (Holm)", "a wins", "ties", "b wins", "n",
               "detectable"]  # fmt: skip
    rows = [
        [pair.metric, pair.a, pair.b, Markup("<strong>{}</strong>").format(size(one.difference)),
         Markup('<span class="keep">{}</span>').format(interval(pair)[8:-1] or "–"),
         chance(one.p), chance(one.p_holm), one.wins, one.ties, one.losses, one.n, size(one.detectable)]
        for pair in found.pairs if (one := pair.contest)
    ]  # fmt: skip
    intro = (
        "\u201cDetectable\u201d is the smallest true difference that so many items would show at p < .05 in four cases"
        " of five: a smaller one may be there unseen."
    )
    return page.Section("All comparisons", page.table(columns, rows, head=False), intro, id="comparisons")
