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


def rate(work: Callable[[], object], stories: int) -> tuple[float, float]:
    """Sentences a second by the clock and by this process's own processor time, the best of three."""
    clock = own = float("inf")
    for _ in range(3):
        start, busy = time.perf_counter(), time.process_time()
        work()
        clock, own = min(clock, time.perf_counter() - start), min(own, time.process_time() - busy)
    return stories * len(STORY) / clock, stories * len(STORY) / own


def main() -> None:
    start, busy = time.perf_counter(), time.process_time()
    load_language("embedded")
    clock, own = time.perf_counter() - start, time.process_time() - busy
    bare = spacy.blank("en")
    rates = {"spaCy's bare tokeniser": rate(lambda: list(bare.pipe(list(STORY) * STORIES)), STORIES)}
    rates["one sentence at a time"] = rate(lambda: one_by_one(STORIES // 10), STORIES // 10)
    rates["batches, one process"] = rate(lambda: parse(STORIES), STORIES)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        list(pool.map(parse, [1, 1]))
        together, _ = rate(lambda: list(pool.map(parse, [STORIES] * 2)), 2 * STORIES)
    rates["batches, two processes"] = (together, float("nan"))
    slowest = rates["one sentence at a time"][0]
    table = Table(title=f"Tagged and chunked; loading took {clock:.2f} s, {own:.2f} s of processor time")
    for column in ("way", "sentences/s", "per core second", "to one at a time"):
        table.add_column(column, justify="left" if column == "way" else "right")
    for name, (value, per_core) in rates.items():
        shown = "–" if per_core != per_core else f"{per_core:,.0f}"  # the other processes' time is not ours
        table.add_row(name, f"{value:,.0f}", shown, f"{value / slowest:.1f}x")
    Console().print(table)


if __name__ == "__main__":
    main()
