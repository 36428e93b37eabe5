"""The analysis as a page: every figure of the paper's sections 4 and A for the corpus at hand."""

from sightline import charts
from sightline.corpus.analysis import CorpusAnalysis, purity_of
from sightline.corpus.report_failures import failures_section
from sightline.corpus.report_measures import (
    confidence_section,
    corrections_section,
    correlation_section,
    diversity_section,
    verdicts,
)
from sightline.corpus.report_words import captions_section, objects_section, words_section
from sightline.corpus.samples import HARD, Samples, extremes
from sightline.corpus.self_bleu import signature
from sightline.report import page, parts
from sightline.report.page import Markup, Section

GALLERIES = (
    ("confidence", True, "Least sure"),
    ("purity", True, "Least alike in meaning"),
    ("purity", False, "Most alike in meaning"),
    ("self_bleu", True, "Most varied in words"),
    ("self_bleu", False, "Most alike in words"),
)


def report(found: CorpusAnalysis, name: str) -> str:
    """The page. Pictures that turn out to be damaged when they are drawn join the failures."""
    galleries = [(title, extremes(found.items, key, low=low)) for key, low, title in GALLERIES]
    hard = found.hard.places[:HARD]
    samples = Samples(found, [*hard, *(place for _, places in galleries for place in places)])
    known = {failure.id for failure in found.failures if failure.metric == "picture"}
    found.failures += [failure for failure in samples.trouble if failure.id not in known]
    made = [
        Section("In short", parts.bullets(verdicts(found))),
        captions_section(found),
        words_section(found),
        objects_section(found),
        confidence_section(found),
        diversity_section(found),
        correlation_section(found),
        _hard(found, hard, samples),
        _items(found, galleries, samples),
        corrections_section(found),
        failures_section(found.failures),
        _method(found),
    ]
    captions = sum(counts.captions for counts in found.axes.values())
    facts = [
        f"{len(found.entries):,} pictures",
        f"{captions:,} captions",
        f"{len(found.axes)} {'axis' if len(found.axes) == 1 else 'axes'}",
    ]
    return page.render(
        name,
        [section for section in made if section is not None],
        lead="What this caption corpus contains: its words, how sure people are of it, how far its captions agree.",
        facts=facts,
        style=page.source("parts.css") + page.source("corpus.css"),
    )


def _hard(found: CorpusAnalysis, hard: list[int], samples: Samples) -> Section | None:
    if not found.hard.conditions:
        return None
    limits = "; ".join(
        f"{c.measure.replace('self_bleu', 'self-BLEU')} {'at most' if c.low else 'at least'} {page.number(limit, 2)}"
        for c, limit in found.hard.conditions
    )
    count = len(found.hard.places)
    intro = (
        f"{count:,} of {len(found.entries):,} pictures: {limits}. The hardest first; all are in hard.jsonl."
    )
    body = samples.cards(hard) if hard else Markup('<p class="quiet">No picture meets all of these.</p>')
    if count > len(hard):
        body += Markup('<p class="quiet">The first {} are shown.</p>').format(len(hard))
    return Section("Hard samples", body, intro)


def _items(found: CorpusAnalysis, galleries: list[tuple[str, list[int]]], samples: Samples) -> Section | None:
    """Figures 18 and 19, and the pictures at the ends of each distribution."""
    titles = {"confidence": "confidence", "self_bleu": "self-BLEU", "purity": "purity"}
    drawn = [
        parts.card(charts.histogram(values, label=title, series=place), f"{title}, mean over the axes")
        for place, (key, title) in enumerate(titles.items(), 1)
        if len(values := [float(v) for v in found.items[key] if v == v])
    ]
    if not drawn:
        return None
    shown = Markup("").join(
        Markup('<details class="gallery"><summary>{}</summary>{}</details>').format(
            title, samples.cards(places)
        )
        for title, places in galleries
        if places
    )
    intro = (
        "Each picture with all its axes: the dashed line is the mean over pictures. Pictures to the right are "
        "the more consistent ones. All are in items.csv."
    )
    return Section("Picture by picture", parts.cards(drawn) + shown, intro)


def _method(found: CorpusAnalysis) -> Section:
    settings = found.settings
    pairs = [
        ("language pipeline", found.signatures["nlp"]),
        ("self-BLEU", signature()),
        ("diversity", "1 − self-BLEU / 100"),
        ("purity", f"{purity_of(found)}: each caption against the picture's others, the mean"),
        ("PMI", f"log2 over pictures; objects with at least {settings.floor} {settings.floor_by}"),
        ("tokens", "with punctuation; unique ones in lower case"),
        ("words", "lemmas of nouns, verbs and adjectives that are no stop words"),
        ("hard", settings.hard),
    ]
    body = parts.card(page.definitions(pairs))
    if found.notes:
        body += Markup('<div class="say"></div>') + parts.bullets(
            [f"{note[:1].upper()}{note[1:]}." for note in found.notes]
        )
    return Section("How this was measured", body)
