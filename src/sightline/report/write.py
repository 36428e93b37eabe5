"""Writes the report of a run: an overview that needs no script, and every story, unpacked when asked for.

Stories travel as compressed JSON in base64, a few dozen to a block, and pictures as base64 too: letters among
which no text of a story can end a tag. The script builds the page from them with text nodes only.
"""

import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from markupsafe import Markup

from sightline.charts import counted
from sightline.io.results import whole
from sightline.io.scores import StoredScore
from sightline.items import DUPLICATE, Evidence, Failure, Item, Score
from sightline.report import overview
from sightline.report.gather import Gathered, Story
from sightline.report.page import Section, clean, number, source, stream
from sightline.report.thumbnails import Thumbnails

BLOCK = 32
"""Stories to a block: what the browser unpacks to show one of them."""

SCRIPTS = ("data.js", "list.js", "evidence.js", "board.js", "story.js", "report.js")


def write_report(
    path: Path,
    items: Iterable[Item],
    scores: Iterable[Score | StoredScore],
    failures: Sequence[Failure],
    *,
    title: str,
    summary: Mapping[str, Any],
) -> None:
    """Write the HTML report of a run in one file that asks the network for nothing.

    Items and scores may be streams of any length. The first 10,000 stories are shown one by one; pictures are
    shrunk until all fit into 24 MB.
    """
    gathered = Gathered(items, scores, failures)
    try:
        with whole(path) as out:
            out.writelines(
                piece.encode("utf-8", "replace") for piece in _pieces(gathered, failures, title, summary)
            )
    finally:
        gathered.close()


def _pieces(
    gathered: Gathered, failures: Sequence[Failure], title: str, summary: Mapping[str, Any]
) -> Iterator[str]:
    systems = sorted(
        {name for found in gathered.distributions.values() for name in found if name is not None}
    )
    failed = {failure.key for failure in failures if failure.id and failure.reason != DUPLICATE}
    others = len({failure.source for failure in failures if not failure.id or failure.reason == DUPLICATE})
    noun = gathered.noun(summary.get("captions"))
    sections = [
        overview.overview(summary, gathered.distributions),
        overview.systems(summary),
        browser(noun),
        overview.failures(failures, gathered.places(failed)),
        overview.signatures(summary),
    ]
    facts = [counted(gathered.items, noun)]
    if systems:
        facts.append(counted(len(systems), "system"))
    if failed:
        facts.append(f"{number(len(failed))} with a failure")
    if others:
        facts.append(f"{counted(others, 'line')} left out")
    return stream(
        title,
        [section for section in sections if section],
        facts=facts,
        style=source("stories.css"),
        script="(() => {\n'use strict';\n" + "".join(map(source, SCRIPTS)) + "})();\n",
        made=summary if "date" in summary else None,
        blocks=blocks(gathered, noun, list(summary["metrics"]), systems, summary),
    )


def browser(noun: str, page: str = "stories.html", title: str = "", id: str = "stories") -> Section:
    """The part in which the script shows what was scored, one by one."""
    stories = counted(2, noun).removeprefix("2 ")
    markup = source(page).replace("{stories}", stories).replace("{Stories}", stories.title())
    return Section(
        title or stories.title(), Markup(markup.replace("{Story}", noun.title())), id=id, wide=True
    )


def blocks(
    gathered: Gathered,
    noun: str,
    metrics: Sequence[str],
    systems: Sequence[str],
    summary: Mapping[str, Any],
    more: Mapping[str, Any] | None = None,
) -> Iterator[Markup]:
    """Blocks of stories and pictures, and at last the index of all, with what `more` there is for the script."""
    order = {metric: number for number, metric in enumerate(metrics)}
    pictures = Thumbnails(gathered.pictures)
    index: list[list[Any]] = []
    stories = gathered.stories()
    for block, chunk in enumerate(iter(lambda: list(islice(stories, BLOCK)), [])):
        for number_, data in pictures.add(path for story in chunk for path in story.item.images):
            yield _data(f"picture-{number_}", data)
        yield _data(f"block-{block}", pack([_detail(story, order, pictures) for story in chunk]))
        index += [_row(story, metrics, systems) for story in chunk]
    about = {
        "metrics": [
            {
                "name": name,
                "weights": _weights(summary["metrics"][name]["signature"]),
                "faults": bool(summary["metrics"][name].get("lower_is_better")),
            }
            for name in metrics
        ],
        "systems": [clean(name) for name in systems],
        "items": gathered.items,
        "noun": noun,
        "block": BLOCK,
        "stories": index,
        **(more or {}),
    }
    yield _data("index", pack(about))


def pack(value: Any) -> str:
    """JSON, compressed, as base64; text that is not valid Unicode was cleaned before."""
    return b64encode(zlib.compress(msgspec.json.encode(value), 6)).decode("ascii")


def _data(name: str, text: str) -> Markup:
    return Markup(f'<script type="text/plain" id="{name}">{text}</script>')


def _row(story: Story, metrics: Sequence[str], systems: Sequence[str]) -> list[Any]:
    """A story's line in the index: id, system, text, scores, number of failures."""
    scores = [_short(story.scores[metric][0]) if metric in story.scores else None for metric in metrics]
    system = systems.index(story.item.system) if story.item.system in systems else -1
    return [clean(story.item.id), system, clean(story.item.whole_text), scores, len(story.failures)]


def _detail(story: Story, order: Mapping[str, int], pictures: Thumbnails) -> dict[str, Any]:
    item = story.item
    told = [evidence.sentences for _, evidence in story.scores.values() if evidence.sentences]
    sentences = told[0] if told else item.sentences or (item.text,)
    shown = [pictures[path] for path in item.images]
    return {
        "source": clean(item.source.rsplit("/", 1)[-1]),  # the file, not where it lies on this machine
        "sentences": [clean(sentence) for sentence in sentences],
        "references": [clean(reference) for reference in item.references],
        "ratings": {clean(name): list(values) for name, values in item.ratings.items()},
        "images": [
            [number, found.width, found.height, clean(path.name), clean(found.trouble)]
            for path, (number, found) in zip(item.images, shown, strict=True)
        ],
        "scores": [
            [order[metric], score, _evidence(found)] for metric, (score, found) in story.scores.items()
        ],
        "failures": [[order.get(metric, -1), reason] for metric, reason in story.failures.items()],
    }


def _evidence(found: Evidence) -> dict[str, Any]:
    return {
        "sentences": [clean(sentence) for sentence in found.sentences],
        "threshold": found.threshold,
        "phrases": [
            [
                clean(p.text),
                p.sentence,
                p.start,
                p.end,
                _round(p.similarity),
                _round(p.penalized),
                _round(p.weight),
                _round(p.contribution),
                p.image,
                p.box and [_round(edge, 1) for edge in p.box],
                [_round(value) for value in p.by_image],
                p.again,
            ]
            for p in found.phrases
        ],
        "words": [
            [clean(word.text), word.sentence, word.start, word.end, _round(word.change)]
            for word in found.words
        ],
        "pairs": [[clean(pair.left), clean(pair.right), _round(pair.score)] for pair in found.pairs],
        "parts": {clean(name): value for name, value in found.parts.items()},
        "notes": [clean(note) for note in found.notes],
    }


def _short(value: float) -> float:
    """To six digits from the first that counts, so that small scores that differ do not look the same."""
    return float(f"{value:.6g}")


def _round(value: float, digits: int = 4) -> float:
    return round(value, digits)


def _weights(signature: str) -> str:
    """What the weight of a phrase is, as the signature tells it."""
    return dict(overview.signature_parts(signature)).get("weights", "weight")
