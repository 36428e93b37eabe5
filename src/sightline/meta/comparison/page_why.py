"""Why a system is worse: what its scores are made of beside the others', and the phrases and words that cost it."""

from collections.abc import Mapping, Sequence

from sightline import charts
from sightline.charts import counted
from sightline.meta.comparison.makings import SHOWN, Making, Wording, costly, more_of, part_rows
from sightline.meta.comparison.reasons import Reason
from sightline.meta.comparison.verdict import Comparison
from sightline.meta.comparison.words import named
from sightline.report import page
from sightline.report.page import Markup, clean

FAR = 0.2
"""Parts whose means lie at least so many of an item's spreads apart are marked: Cohen calls that a small effect."""


def why(
    made: Mapping[str, Mapping[str, Making]],
    said: Mapping[str, Wording],
    found: Comparison,
    told: Sequence[Reason],
    linked: bool,
) -> page.Section | None:
    """Sentences of who is worse and why; cards: the parts of each metric's scores, the phrases that cost, the words.

    `linked` sentences lead to the items that they are about.
    """
    systems, noun = found.systems, found.noun
    cards = [card for metric, by_system in made.items() for card in _metric(metric, by_system, systems, noun)]
    cards += _wording(said, systems, noun)
    if not cards and not told:
        return None
    parts = [Markup('<ul class="reasons">{}</ul>').format(_reasons(told, found, linked))] if told else []
    if cards:
        parts.append(
            Markup('<p class="intro">{}</p><div class="cards why">{}</div>').format(
                "What the scores are made of, system by system. A dot marks where systems lie furthest apart:"
                f" by at least {FAR:g} of the spread between one {noun} and another.",
                Markup("").join(cards),
            )
        )
    intro = (
        "Where a system loses that is worse beyond chance, and in what its scores are made of."
        if told
        else ""
    )
    return page.Section("Why", Markup("").join(parts), intro)


def _reasons(told: Sequence[Reason], found: Comparison, linked: bool) -> Markup:
    return Markup("").join(
        Markup('<li><p><code>{}</code> {} {}</p><p>{} <span class="quiet">{}</span></p></li>').format(
            clean(named(reason.metric, reason.faults)),
            _marked(reason, found.systems),
            _link(reason, found) if linked else "",
            clean(reason.cause),
            clean(reason.where),
        )
        for reason in told
    )


def _marked(reason: Reason, systems: Sequence[str]) -> Markup:
    """The two systems in their colours."""
    chips = [
        Markup('<span class="system side-{}" dir="auto">{}</span>').format(side(name, systems), clean(name))
        for name in (reason.loser, reason.winner)
    ]
    return Markup("{} {} {}").format(chips[0], reason.stands, chips[1])


def _link(reason: Reason, found: Comparison) -> Markup:
    places = (
        found.systems.index(reason.row["higher"]),
        found.systems.index(reason.row["lower"]),
        found.metrics.index(reason.metric),
    )
    return Markup('<a href="#versus-{}-{}-{}">side by side</a>').format(*places)


def _card(title: str, body: Markup, hint: str = "") -> Markup:
    told = Markup('<p class="quiet small">{}</p>').format(clean(hint)) if hint else Markup("")
    return Markup('<article class="card"><h3>{}</h3>{}{}</article>').format(clean(title), told, body)


def _metric(metric: str, made: Mapping[str, Making], systems: Sequence[str], noun: str) -> list[Markup]:
    cards = []
    rows = part_rows(made, systems)
    if rows:
        body = [
            [Markup("{}{}").format(clean(row.name), Markup(' <span class="far">●</span>') if row.apart >= FAR else ""),
             *row.means]
            for row in rows[:12]
        ]  # fmt: skip
        head = ["mean of", *systems]
        cards.append(
            _card(
                metric, page.table(head, body), f"Parts of the score, the furthest apart first; per {noun}."
            )
        )
    costs = {name: costly(made[name]) for name in systems if name in made}
    if any(costs.values()):
        cards.append(
            _card(f"{metric}: phrases not seen in the pictures", _columns(
                {name: _phrases(rows) for name, rows in costs.items()}, systems),
                "Those that took most from each system's scores, and how often they were said."),
        )  # fmt: skip
    return cards


def _phrases(rows: Sequence[tuple[str, int, float]]) -> Markup:
    return _list([(text, f"{times}×") for text, times, _ in rows], "none")


def _list(rows: Sequence[tuple[str, str]], nothing: str) -> Markup:
    if not rows:
        return Markup('<p class="quiet">{}</p>').format(nothing)
    lines = Markup("").join(
        Markup('<li><span dir="auto">{}</span> <span class="quiet">{}</span></li>').format(clean(text), told)
        for text, told in rows
    )
    return Markup('<ol class="told">{}</ol>').format(lines)


def _columns(bodies: Mapping[str, Markup], systems: Sequence[str]) -> Markup:
    parts = [
        Markup('<div><h4><span class="system side-{}" dir="auto">{}</span></h4>{}</div>').format(
            side(name, systems), clean(name), body
        )
        for name, body in bodies.items()
    ]
    return Markup('<div class="beside">{}</div>').format(Markup("").join(parts))


def side(name: str, systems: Sequence[str]) -> int:
    """A system's colour, of those the page has."""
    return list(systems).index(name) % (charts.COLOURS - 1)  # the last is grey, for what is not told apart


def _wording(said: Mapping[str, Wording], systems: Sequence[str], noun: str) -> list[Markup]:
    there = [name for name in systems if name in said and said[name].texts]
    if not there:
        return []
    texts = [said[name] for name in there]
    rows: list[list[object]] = [
        [f"words per {noun}", *(round(one.words / one.texts, 3) for one in texts)],
        ["different words", *(len(one.different) for one in texts)],
    ]
    if all(one.compared for one in texts):
        rows.append(
            ["telling words no reference has, per " + noun,
             *(one.unsupported.total() / one.compared for one in texts)]
        )  # fmt: skip
        rows.append(
            ["telling words most references have, missed, per " + noun,
             *(one.missed.total() / one.compared for one in texts)]
        )  # fmt: skip
    cards = [_card("The texts", page.table(["", *there], rows), f"{counted(texts[0].texts, noun)} of each system."
                   if len({one.texts for one in texts}) == 1 else "")]  # fmt: skip
    if all(one.compared for one in texts):
        for title, counts in (
            ("Telling words that no reference has", {name: said[name].unsupported for name in there}),
            ("Telling words that most references have, missed", {name: said[name].missed for name in there}),
        ):
            bodies = {
                name: _list([(word, f"{n}×") for word, n in more_of(
                    counts[name], [counts[other] for other in there if other != name], SHOWN)],
                    "none more than the others")
                for name in there
            }  # fmt: skip
            cards.append(
                _card(
                    title,
                    _columns(bodies, systems),
                    "Those in which each system is most ahead of the others.",
                )
            )
    return cards
