"""The report's sections on words: sizes and lengths, frequent words, and the objects that go with them."""

from collections import Counter

from sightline import charts
from sightline.corpus.analysis import CorpusAnalysis
from sightline.corpus.pmi import Informative
from sightline.corpus.summary import LEMMAS, table_row, total
from sightline.report import page, parts
from sightline.report.page import Markup, Section

TOP = 15
CLOUD = 18
TABLE = 3
"""Objects of a lemma in the table, as in the paper's."""


def captions_section(found: CorpusAnalysis) -> Section:
    """Table 2 and Figure 1."""
    rows = {axis: table_row(counts) for axis, counts in found.axes.items()}
    if len(found.high_axes) > 1:
        rows["all" if len(found.high_axes) == len(found.axes) else "all but objects"] = table_row(
            total(found)
        )
    body = parts.card(
        page.table(
            ["axis", "tokens", "mean length", "unique tokens", "captions", "captions a picture"],
            [
                [
                    axis,
                    row["tokens"],
                    row["length"],
                    row["unique"],
                    row["captions"],
                    _per_picture(found, axis),
                ]
                for axis, row in rows.items()
            ],
            digits=2,
        )
    )
    lengths = {
        axis: {float(n): times for n, times in counts.lengths.items()} for axis, counts in found.axes.items()
    }
    body += parts.card(charts.columns(lengths, label="Tokens of a caption, by axis"), "Tokens of a caption")
    return Section(
        "Captions", body, "How many captions there are and how long they are. Punctuation counts as tokens."
    )


def _per_picture(found: CorpusAnalysis, axis: str) -> str:
    times = found.per_picture.get(axis)
    if times is None:
        return ""
    low, high = min(times), max(times)
    return f"{low}" if low == high else f"{low} to {high}"


def words_section(found: CorpusAnalysis) -> Section:
    """Figures 2 to 5: the most frequent nouns, verbs and lemmas."""
    cards = []
    for series, (axis, counts) in enumerate(found.axes.items(), 1):
        kinds = {"nouns": counts.nouns, "verbs": counts.verbs, "all content words": counts.lemmas}
        inner = Markup("").join(_frequent(title, times, axis, series) for title, times in kinds.items())
        cards.append(parts.card(Markup('<div class="words">{}</div>').format(inner), axis))
    return Section(
        "Words",
        Markup("").join(cards),
        "The most frequent lemmas of each axis, by how often they are said. Words that say little by themselves "
        "(the, be, take) are left out.",
    )


def _frequent(title: str, times: Counter[str], axis: str, series: int) -> Markup:
    bars = [
        charts.Bar(lemma[:40], float(n), series=(series - 1) % 6 + 1, text=f"{n:,}")
        for lemma, n in times.most_common(TOP)
    ]
    return Markup("<div><h4>{}</h4>{}</div>").format(
        title, charts.bars(bars, label=f"Most frequent {title} of {axis}", digits=0)
    )


def objects_section(found: CorpusAnalysis) -> Section | None:
    """Table 5, and Figures 6, 7 and 12 to 14."""
    axes = {axis: one for axis, one in found.informative.items() if one.objects}
    if not axes:
        return None
    rows = [
        [axis, lemma, ", ".join(pair.object for pair in one.of(lemma, TABLE))]
        for axis, one in axes.items()
        for lemma in found.top_lemmas(axis, TABLE)
    ]
    body = parts.card(page.table(["axis", "lemma", "most informative objects"], rows))
    clouds = [_clouds(found, axis, one, series) for series, (axis, one) in enumerate(axes.items(), 1)]
    most = max(len(one.objects) for one in axes.values())
    return Section(
        "Objects that tell of a word",
        body + parts.cards(clouds),
        f"The objects whose mention tells most that a high-level word is used of the same picture: the larger a "
        f"word, the higher its pointwise mutual information (PMI). {most:,} objects have at least "
        f"{found.settings.floor:,} {found.settings.floor_by}. Words with negative PMI are not drawn. "
        "All pairs are in pmi.csv.",
    )


def _clouds(found: CorpusAnalysis, axis: str, one: Informative, series: int) -> Markup:
    drawn = []
    for lemma in found.top_lemmas(axis, LEMMAS):
        pairs = [pair for pair in one.of(lemma, CLOUD) if pair.pmi > 0]
        words = [
            charts.SizedWord(
                pair.object,
                pair.pmi,
                f"PMI {page.number(pair.pmi, 2)}: together in {pair.together:,} pictures, "
                f"{pair.lemma} in {pair.lemma_images:,}, {pair.object} in {pair.object_images:,}",
            )
            for pair in pairs
        ]
        images = pairs[0].lemma_images if pairs else 0
        drawn.append(
            Markup('<div class="cloud"><h4>{} <span>{}</span></h4>{}</div>').format(
                lemma,
                f"in {images:,} pictures" if images else "",
                charts.sized_words(words, label=f"Objects that tell of {lemma}", series=(series - 1) % 6 + 1),
            )
        )
    return parts.card(Markup("").join(drawn), axis)
