"""Preferences and marked words as files: preferences.csv or words.csv, fit.json, a page."""

from dataclasses import asdict
from itertools import pairwise
from pathlib import Path
from typing import Any

from sightline import charts
from sightline.io.results import ResultFolder
from sightline.psychometrics.agreement.alpha import Interval
from sightline.psychometrics.agreement.marking import MarkedText, PhraseCheck
from sightline.psychometrics.model.preferences import PreferenceFit
from sightline.report.page import Section, render, source, table
from sightline.report.parts import bullets, card

SCALE = "In log odds; 0 is the average. One unit more wins about three times in four."


def write_preferences(found: PreferenceFit, folder: Path, title: str) -> dict[str, Any]:
    """Strengths as preferences.csv, fit.json and report.html; returns what fit.json holds."""
    low, high = found.interval()
    columns = (found.names, found.strength, found.se, low, high, found.wins, found.losses, found.ties)
    names = ("name", "strength", "se", "low", "high", "wins", "losses", "ties")
    rows = sorted(
        (dict(zip(names, map(_plain, row), strict=True)) for row in zip(*columns, strict=True)),
        key=lambda row: -row["strength"],
    )
    summary = {
        "model": "Bradley-Terry" if found.tie is None else "Bradley-Terry with ties (Davidson)",
        "comparisons": found.comparisons,
        "clusters": found.clusters,
        "log_tie": found.tie,
        "log_likelihood": found.log_likelihood,
        "prior": found.prior,
        "strengths": rows,
    }
    bars = [charts.Bar(row["name"], row["strength"], low=row["low"], high=row["high"]) for row in rows]
    drawn = charts.forest(bars, label="Strength of each, with 95 % intervals")
    sections = [
        Section("In short", bullets(preferences_in_short(found))),
        Section(
            "Strengths",
            card(drawn),
            "In log odds; 0 is the average. One unit more wins about three times in four.",
        ),
        Section("Numbers", table(names, [[row[name] for name in names] for row in rows])),
    ]
    facts = [f"{found.comparisons:,} comparisons", f"{len(found.names)} compared"]
    page = render(
        title,
        sections,
        lead="Which of two texts is truer to the pictures.",
        facts=facts,
        style=source("parts.css"),
    )
    with ResultFolder(folder) as out:
        out.csv("preferences.csv", names, ([row[name] for name in names] for row in rows))
        out.json("fit.json", summary)
        out.text("report.html", page)
    return summary


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else value.item()


def preferences_in_short(found: PreferenceFit) -> list[str]:
    """What the comparisons say, in a line or two."""
    order = sorted(found.names, key=lambda name: -found.strength[found.names.index(name)])
    lines = []
    for better, worse in pairwise(order):
        difference, error = found.difference(better, worse)
        sure = "" if difference > 1.96 * error else ", which may be chance"
        lines.append(
            f"{better} is preferred to {worse} by {difference:.2f} ± {1.96 * error:.2f} log odds{sure}"
        )
    if found.prior:
        lines.append("one is preferred, or not, every time: its strength is held finite by a weak prior")
    return lines


def write_marking(
    texts: dict[str, MarkedText], agreement: Interval, check: PhraseCheck | None, folder: Path, title: str
) -> dict[str, Any]:
    """Every word with the share of raters who marked it as words.csv, fit.json and report.html."""
    rows = [
        {"item": name, "place": place, "word": word, "marked": float(share), "raters": len(text.marks)}
        for name, text in texts.items()
        for place, (word, share) in enumerate(zip(text.words, text.shares, strict=True))
    ]
    summary = {
        "texts": len(texts),
        "words": len(rows),
        "alpha": asdict(agreement),
        "phrases": asdict(check) if check else None,
    }
    sections = [Section("In short", bullets(marking_in_short(agreement, check)))]
    most = sorted(rows, key=lambda row: -float(str(row["marked"])))[:300]
    names = ("item", "place", "word", "marked", "raters")
    sections.append(
        Section("Words marked most", table(names, [[row[name] for name in names] for row in most]))
    )
    facts = [f"{len(texts):,} texts", f"{len(rows):,} words"]
    page = render(
        title,
        sections,
        lead="Words that the pictures do not support.",
        facts=facts,
        style=source("parts.css"),
    )
    with ResultFolder(folder) as out:
        out.csv("words.csv", names, ([row[name] for name in names] for row in rows))
        out.json("fit.json", summary)
        out.text("report.html", page)
    return summary


def marking_in_short(agreement: Interval, check: PhraseCheck | None) -> list[str]:
    """How far raters agree on words, and how well a metric's phrases hold against them."""
    lines = [f"raters agree on words with alpha {_told(agreement)}"]
    if check:
        lines.append(
            f"of {check.called} phrases that the metric finds unsupported, most raters marked {check.both}: "
            f"precision {_told(check.precision)}"
        )
        lines.append(f"of {check.marked} marked phrases it finds {check.both}: recall {_told(check.recall)}")
    return lines


def _told(found: Interval) -> str:
    return f"{found.value:.2f} [{found.low:.2f}, {found.high:.2f}]"
