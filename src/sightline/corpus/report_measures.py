"""The report's sections on confidence, diversity, purity and corrections, and what they come to in a few sentences."""

from collections import Counter

import numpy as np

from sightline import charts
from sightline.corpus.analysis import CorpusAnalysis, expand, overall_confidence, purity_of
from sightline.corpus.corrections import MANY, Corrections
from sightline.corpus.measures import MEASURES, Floats, column, described, links
from sightline.corpus.summary import published
from sightline.report import page, parts
from sightline.report.page import Markup, Section

TITLES = {
    "confidence": "confidence",
    "self_bleu": "self-BLEU",
    "purity": "purity",
    "published_purity": "published purity",
}
SHOWN_EDITS = 12


def verdicts(found: CorpusAnalysis) -> list[str]:
    """The corpus in a few sentences."""
    high = {axis: found.axes[axis] for axis in found.high_axes}
    captions = sum(counts.captions for counts in high.values())
    lines = [
        f"{len(found.entries):,} pictures with {captions:,} captions on {_many(len(high), 'axis', 'axes')}."
    ]
    lengths = {
        axis: counts.tokens / counts.captions for axis, counts in found.axes.items() if counts.captions
    }
    if len(lengths) > 1:
        lines.append(f"Captions are {_ends(lengths, 'shortest', 'longest', 1, 'tokens')}.")
    for measure, words in (
        ("confidence", ("Readers are least sure of", "surest of")),
        ("self_bleu", ("Captions share the fewest words on", "the most on")),
        ("purity", ("They differ most in meaning on", "least on")),
    ):
        means = _means(found, measure)
        if len(means) > 1:
            low, high_axis = min(means, key=means.__getitem__), max(means, key=means.__getitem__)
            lines.append(
                f"{words[0]} {low} ({TITLES[measure]} {page.number(means[low], 2)}), {words[1]} {high_axis} "
                f"({page.number(means[high_axis], 2)})."
            )
    for one in links({name: column(found.rows, name) for name in ("confidence", "self_bleu", "purity")}):
        if one.pearson is not None:
            lines.append(
                f"{TITLES[one.x].capitalize() if one.x != 'self_bleu' else 'Self-BLEU'} and {TITLES[one.y]}: "
                f"r = {page.number(one.pearson, 2)}, {_strength(one.pearson)}."
            )
    if found.hard.conditions:
        lines.append(
            f"{_many(len(found.hard.places), 'picture is', 'pictures are')} hard by the chosen conditions."
        )
    if found.failures:
        lines.append(f"{_many(len(found.failures), 'failure is', 'failures are')} listed below.")
    return lines


def _many(count: int, one: str, more: str) -> str:
    return f"{count:,} {one if count == 1 else more}"


def _ends(values: dict[str, float], low: str, high: str, digits: int, unit: str) -> str:
    first, last = min(values, key=values.__getitem__), max(values, key=values.__getitem__)
    return (
        f"{low} on {first} ({page.number(values[first], digits)} {unit}) and {high} on {last} "
        f"({page.number(values[last], digits)})"
    )


def _strength(r: float) -> str:
    size = abs(r)
    word = (
        "hardly related"
        if size < 0.1
        else "a weak link"
        if size < 0.3
        else "a clear link"
        if size < 0.6
        else "a strong link"
    )
    return word if r >= 0 or size < 0.1 else f"{word}, in opposite directions"


def _means(found: CorpusAnalysis, measure: str) -> dict[str, float]:
    means = {}
    for axis in found.high_axes:
        values = _of(found, axis, measure)
        if measure == "confidence":
            values = expand(found.confidence.get(axis, Counter()))
        known = values[np.isfinite(values)]
        if len(known):
            means[axis] = float(known.mean())
    return means


def _of(found: CorpusAnalysis, axis: str, measure: str) -> Floats:
    return column([row for row in found.rows if row.axis == axis], measure)


def confidence_section(found: CorpusAnalysis) -> Section | None:
    """Figure 8."""
    by_axis = {axis: times for axis in found.axes if (times := found.confidence.get(axis))}
    if not by_axis:
        return None
    rows = []
    for axis, times in by_axis.items():
        rows.append([axis, *_numbers(described(expand(times)))])
    if len(by_axis) > 1:
        rows.append(["all", *_numbers(described(overall_confidence(found)))])
    levels = {axis: dict(times) for axis, times in by_axis.items()}
    few = len({value for times in levels.values() for value in times}) <= 12
    drawn = (
        charts.columns(levels, label="Confidence by axis")
        if few
        else charts.strips(
            {axis: expand(t).tolist() for axis, t in by_axis.items()}, label="Confidence by axis"
        )
    )
    body = parts.card(drawn, "Confidence of each caption") + parts.card(
        page.table(["axis", "mean", "sd", "median", "captions"], rows)
    )
    return Section(
        "Confidence",
        body,
        "How likely independent readers found each caption. Low values mark captions that are no shared reading of "
        "the picture.",
    )


def _numbers(told: dict[str, float] | None) -> list[float | int | None]:
    assert told is not None  # there is at least one confidence
    return [told["mean"], told["sd"], told["median"], told["n"]]


def diversity_section(found: CorpusAnalysis) -> Section | None:
    """Figures 15 and 16."""
    drawn = []
    for series, key in enumerate(("self_bleu", "purity", "published_purity"), 1):
        groups = {axis: [v for v in _of(found, axis, key).tolist() if v == v] for axis in found.high_axes}
        if any(groups.values()):
            scorer = (
                Markup('<p class="quiet mono">{}</p>').format(purity_of(found)) if key == "purity" else ""
            )
            inner = charts.strips(groups, label=f"{TITLES[key]} by axis", series=series)
            everything = [value for values in groups.values() for value in values]
            inner += charts.histogram(
                everything, label=f"{TITLES[key]} of all axes", series=series, height=64
            )
            drawn.append(parts.card(inner + scorer, TITLES[key]))
    if not drawn:
        return None
    body = parts.cards(drawn)
    theirs = published(found)
    if theirs is not None and theirs["self_bleu"]["n"]:
        equal, n = theirs["self_bleu"]["equal"], theirs["self_bleu"]["n"]
        say = f"{equal:,} of {n:,} published self-BLEU scores are reproduced to 0.000001"
        if theirs["purity"] and theirs["purity"]["pearson"] is not None:
            say += f"; purity here and published purity correlate at r = {page.number(theirs['purity']['pearson'], 3)}"
        body += Markup('<p class="say">{}.</p>').format(say)
    return Section(
        "Diversity and purity",
        body,
        "How alike the captions of one picture are within an axis: in words (self-BLEU, 0 to 100, higher is more "
        "alike; diversity is 1 − self-BLEU / 100) and in meaning (purity). The number at the end of a row is the mean.",
    )


def correlation_section(found: CorpusAnalysis) -> Section | None:
    """Figure 17."""
    tables = []
    for caption, columns_ in (
        ("Axis by axis", {name: column(found.rows, name) for name in MEASURES}),
        ("Picture by picture", {name: found.items[name] for name in MEASURES}),
    ):
        found_links = links(columns_)
        names = [name for name in MEASURES if np.isfinite(columns_[name]).any()]
        if len(names) < 2 or (caption != "Axis by axis" and len(found.high_axes) < 2):
            continue
        r = {frozenset((one.x, one.y)): one.pearson for one in found_links}
        values = [[1.0 if x == y else r.get(frozenset((x, y))) for y in names] for x in names]
        n = max(one.n for one in found_links)
        tables.append(
            parts.card(
                charts.shades(
                    [TITLES[name] for name in names], values, caption=f"{caption}, {n:,} observations"
                )
            )
        )
    if not tables:
        return None
    return Section(
        "How they go together",
        Markup('<div class="two">{}</div>').format(Markup("").join(tables)),
        "Pearson's r. A positive value with self-BLEU means: the more alike captions are in words, the surer or the "
        "more alike in meaning.",
    )


def corrections_section(found: CorpusAnalysis) -> Section | None:
    """Figure 11 and section A.1."""
    given = found.corrections
    if given is None:
        return None
    told = given.to_json()
    pairs = [
        ("corrections", told["corrections"]),
        ("captions", told["captions"]),
        ("correctors", len(told["correctors"])),
        ("edited", f"{100 * told['edited']:.1f} %"),
        (f"by more than {MANY} characters", f"{100 * told['more_than_10']:.1f} %"),
        ("mean distance", told["mean_distance"]),
    ]
    agreement = told["agreement"]
    if agreement is not None:
        pairs += [
            ("shared captions", agreement["shared"]),
            ("alpha, edited or not", _alpha(agreement["alpha_edited"])),
            ("alpha, distance", _alpha(agreement["alpha_distance"])),
            ("left in the same wording", f"{100 * agreement['same_wording']:.1f} %"),
        ]
    times = {float(distance): n for distance, n in _counted(given).items()}
    drawn = charts.columns(
        {"changed captions": times}, label="Levenshtein distance of changed captions", most=60
    )
    body = parts.card(page.definitions(pairs) + Markup('<div class="say"></div>') + drawn)
    changes = Counter((one.original[:300], one.corrected[:300], one.distance) for one in given.made)
    largest = sorted((key for key in changes if key[2]), key=lambda key: -key[2])[:SHOWN_EDITS]
    rows = [[*key, changes[key]] for key in largest]
    if rows:
        body += parts.card(
            page.table(["original", "corrected", "distance", "times"], rows, head=False), "Largest changes"
        )
    return Section(
        "Grammatical corrections",
        body,
        "Levenshtein's distance between each caption and its correction, in characters. Agreement between correctors "
        "is Krippendorff's alpha over the captions they share, with 95 % intervals.",
    )


def _counted(given: Corrections) -> dict[int, int]:
    times: dict[int, int] = {}
    for distance in given.distances:
        if distance:
            times[distance] = times.get(distance, 0) + 1
    return times


def _alpha(told: dict[str, float | None]) -> str:
    if told["value"] is None:
        return "not defined: nothing varies"
    return f"{page.number(told['value'])} [{page.number(told['low'])}, {page.number(told['high'])}]"
