"""Story sentences tagged and chunked in a second, in batches: one process, and two beside each other.

Beside them, in the same run, what spaCy's bare tokeniser does, and parsing sentence by sentence.
"""

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import spacy
from rich.console import Console
from rich.table import Table

from sightline.text.phrases import find_mentions
from sightline.text.spacy_language import load_language

STORY = (
    "the local parish holds a craft show each year .",
    "lots of folks come out and set up tables to sell their crafts .",
    "the bride and groom leaned forward for a quick kiss .",
    "[male] was very happy to see his old friends at the beach .",
    "we had a great time and ca n't wait to go back to [location] .",
)
STORIES = 600


def parse(stories: int) -> int:
    """Mentions of so many stories; each process keeps its pipeline."""
    return len(find_mentions([STORY] * stories, load_language("embedded")))


def one_by_one(stories: int) -> None:
    language = load_language("embedded")
    for _ in range(stories):
        for sentence in STORY:
            language.parse([sentence])


def rate(work: Callable[[], object], stories: int) -> float:
    """Sentences a second, the best of three."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return stories * len(STORY) / best


def main() -> None:
    start = time.perf_counter()
    load_language("embedded")
    loaded = time.perf_counter() - start
    bare = spacy.blank("en")
    rates = {"spaCy's bare tokeniser": rate(lambda: list(bare.pipe(list(STORY) * STORIES)), STORIES)}
    rates["one sentence at a time"] = rate(lambda: one_by_one(STORIES // 10), STORIES // 10)
    rates["batches, one process"] = rate(lambda: parse(STORIES), STORIES)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(parse, [1, 1]))
        rates["batches, two processes"] = rate(lambda: list(pool.map(parse, [STORIES] * 2)), 2 * STORIES)
    table = Table(title=f"Tagged and chunked; the pipeline loads in {loaded:.2f} s")
    for column in ("way", "sentences/s", "to one at a time"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for name, value in rates.items():
        table.add_row(name, f"{value:,.0f}", f"{value / rates['one sentence at a time']:.1f}x")
    Console().print(table)


if __name__ == "__main__":
    main()
