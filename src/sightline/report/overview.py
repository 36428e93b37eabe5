"""What of the report needs no script: scores at a glance, what failed, how each number was measured."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from sightline import charts
from sightline.charts import counted
from sightline.items import Failure, Key
from sightline.report.gather import Distributions
from sightline.report.page import Section, clean, definitions, number, table

SYSTEMS = 24
"""So many systems are drawn beside each other, those with the most stories."""


def overview(summary: Mapping[str, Any], found: Distributions) -> Section:
    """A card per metric: its mean, its distribution, and each system's."""
    cards = [_card(metric, row, found.get(metric, {})) for metric, row in summary["metrics"].items()]
    return Section(
        "Scores", Markup('<div class="cards">{}</div>').format(Markup("").join(cards)), id="scores"
    )


def _card(metric: str, row: Mapping[str, Any], by_system: Mapping[str | None, Sequence[float]]) -> Markup:
    everything = [value for values in by_system.values() for value in values]
    named = sorted((name for name in by_system if name is not None), key=lambda name: -len(by_system[name]))
    facts: list[tuple[str, Any]] = [("scored", row["n"])]
    if row["failed"]:
        facts.append(("failed", row["failed"]))
    if row.get("wordless"):
        facts.append(("without a word", row["wordless"]))
    kind = headline(row)
    if kind == "corpus":
        facts.append(("mean", row["mean"]))
    if (ends := _interval(row)) is not None:
        facts.append(("95 %", ends))
    parts = [
        Markup(
            '<header><h3><code>{}</code></h3><p class="figure-number"><small>{}</small> {}</p></header>'
        ).format(clean(metric), kind, number(row[kind])),
        Markup('<div data-metric="{}">{}</div>').format(
            clean(metric), charts.histogram(everything, label=metric)
        ),
    ]
    if named:
        groups = {name: values for name, values in by_system.items() if name in named[:SYSTEMS]}
        parts.append(charts.strips(groups, label=f"{metric} by system"))
    if len(named) > SYSTEMS:
        parts.append(
            Markup('<p class="quiet">and {}</p>').format(counted(len(named) - SYSTEMS, "more system"))
        )
    parts.append(definitions(facts))
    return Markup('<article class="card metric">{}</article>').format(Markup("").join(parts))


def systems(summary: Mapping[str, Any]) -> Section | None:
    """A row for each system: the published kind of number of every metric, with its interval, the mean beside it."""
    found: Mapping[str, Mapping[str, Any]] = summary.get("systems", {})
    if len(found) < 2:
        return None
    tables = []
    for metric, whole in summary["metrics"].items():
        kind = headline(whole)
        others = ["mean"] if kind == "corpus" else []
        rows = [
            [
                name,
                row[kind],
                _interval(row) or "–",
                *(row[other] for other in others),
                row["n"],
                row["failed"],
            ]
            for name, row in ((name, rows[metric]) for name, rows in found.items())
        ]
        columns = ["system", kind, "95 % interval", *others, "scored", "failed"]
        tables.append(
            Markup('<article class="card"><h3><code>{}</code></h3>{}</article>').format(
                clean(metric), table(columns, rows, digits=4)
            )
        )
    intro = "Each interval is that system's own; whether two differ is what a comparison tells."
    return Section("Systems", Markup("").join(tables), intro=intro, id="systems")


def headline(row: Mapping[str, Any]) -> str:
    """Which number of a metric is the published one: `corpus` or `mean`."""
    return str(row.get("headline") or ("mean" if row.get("corpus") is None else "corpus"))


def _interval(row: Mapping[str, Any]) -> str | None:
    place = "corpus_" if headline(row) == "corpus" else ""
    low, high = row.get(f"{place}low"), row.get(f"{place}high")
    return None if low is None or high is None else f"{number(low, 4)} – {number(high, 4)}"


def failures(found: Sequence[Failure], places: Mapping[Key, int]) -> Section | None:
    """Why scores could not be made, the most frequent reason first."""
    if not found:
        return None
    counts = Counter((failure.reason, failure.metric) for failure in found)
    examples: dict[tuple[str, str], list[Key]] = defaultdict(list)
    for failure in found:
        some = examples[failure.reason, failure.metric]
        name = failure.id or failure.source.rsplit("/", 1)[-1]  # a line that is no item has no id
        if len(some) < 5 and (name, failure.system) not in some:
            some.append((name, failure.system))
    rows = [
        [reason, metric, count, _ids(examples[reason, metric], count, places)]
        for (reason, metric), count in counts.most_common(100)
    ]
    return Section(
        "Failures",
        Markup('<div class="card">{}</div>').format(table(["reason", "metric", "items", "which"], rows)),
        intro="These items have no score; they count neither as zero nor in any mean.",
    )


def _ids(keys: Sequence[Key], count: int, places: Mapping[Key, int]) -> Markup:
    links = Markup(", ").join(
        Markup('<a href="#story-{}">{}</a>').format(places[key], _name(key)) if key in places else _name(key)
        for key in keys
    )
    return links + ", …" if count > len(keys) else links


def _name(key: Key) -> str:
    id, system = key
    return clean(f"{id} ({system})" if system else id)


def signatures(summary: Mapping[str, Any]) -> Section:
    """How each number was measured."""
    cards = [
        Markup(
            '<article class="card signature"><h3><code>{}</code></h3>{}<p><code>{}</code></p></article>'
        ).format(clean(metric), definitions(signature_parts(row["signature"])), clean(row["signature"]))
        for metric, row in summary["metrics"].items()
    ]
    intro = "Two numbers with different signatures are not the same measurement."
    return Section("Signatures", Markup("").join(cards), intro=intro)


def signature_parts(signature: str) -> list[tuple[str, str]]:
    """`name|key:value|…` as pairs."""
    return [
        (key, value) for key, colon, value in (part.partition(":") for part in signature.split("|")) if colon
    ]
