"""What is counted of each picture, in this process or in several: words, lengths, self-BLEU and purity."""

import os
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context

from sightline.corpus.entries import Caption, Entry
from sightline.corpus.purity import PurityScorer, load_scorer
from sightline.corpus.self_bleu import self_bleu
from sightline.errors import UsageError
from sightline.resources import Holder
from sightline.text.language import Language, Tagged

CHUNK = 64
"""Pictures that are counted at once."""

NOUNS = ("NOUN", "PROPN")
CONTENT = (*NOUNS, "VERB", "ADJ")


@dataclass(frozen=True)
class CountingTask:
    """What a process must know to count."""

    nlp: str
    purity: str | None
    """None: not computed."""
    objects: str
    """The axis whose captions name objects; its likeness is not measured."""


@dataclass
class AxisCounts:
    """The words of one axis."""

    captions: int = 0
    tokens: int = 0
    types: Counter[str] = field(default_factory=Counter)
    """Tokens in lower case."""
    lengths: Counter[int] = field(default_factory=Counter)
    nouns: Counter[str] = field(default_factory=Counter)
    verbs: Counter[str] = field(default_factory=Counter)
    lemmas: Counter[str] = field(default_factory=Counter)
    mentions: Counter[str] = field(default_factory=Counter)
    """Every noun, spaCy's stop words ("front", "one") too: what the floor of PMI's objects counts."""

    def update(self, other: "AxisCounts") -> None:
        self.captions += other.captions
        self.tokens += other.tokens
        for name in ("types", "lengths", "nouns", "verbs", "lemmas", "mentions"):
            getattr(self, name).update(getattr(other, name))


@dataclass
class PictureCounts:
    """One picture: its different content lemmas by axis, and how alike its captions are."""

    lemmas: dict[str, list[str]]
    """Of the axis of objects only nouns."""
    self_bleu: dict[str, float]
    purity: dict[str, tuple[float, ...]]


@dataclass
class Counted:
    """A chunk of pictures."""

    entries: list[Entry]
    axes: dict[str, AxisCounts]
    pictures: list[PictureCounts]
    signatures: dict[str, str]


def count(entries: list[Entry], task: CountingTask, holder: Holder) -> Counted:
    """Count a chunk. The holder keeps the language pipeline and the scorer from chunk to chunk."""
    from sightline.text.spacy_language import load_language  # spaCy takes seconds to import

    language = holder.get(load_language, task.nlp)
    captions = [caption.text for entry in entries for own in entry.axes.values() for caption in own]
    tagged = iter(language.tag(captions))
    axes: dict[str, AxisCounts] = {}
    pictures = []
    for entry in entries:
        lemmas: dict[str, set[str]] = {}
        for axis, own in entry.axes.items():
            counts, seen = axes.setdefault(axis, AxisCounts()), lemmas.setdefault(axis, set())
            for _ in own:
                _add(next(tagged), counts, seen, language, nouns_only=axis == task.objects)
        compared = {
            axis: [caption.text for caption in own]
            for axis, own in entry.axes.items()
            if axis != task.objects and len(own) > 1
        }
        alike = {axis: self_bleu(texts) for axis, texts in compared.items()}
        pictures.append(PictureCounts({axis: sorted(seen) for axis, seen in lemmas.items()}, alike, {}))
    signatures = {"nlp": language.signature}
    if task.purity is not None:
        signatures["purity"] = _add_purity(entries, pictures, holder.get(load_scorer, task.purity))
    return Counted(entries, axes, pictures, signatures)


def _add(
    tokens: Sequence[Tagged], counts: AxisCounts, seen: set[str], language: Language, *, nouns_only: bool
) -> None:
    counts.captions += 1
    counts.tokens += len(tokens)
    counts.lengths[len(tokens)] += 1
    counts.types.update(text.lower() for text, _, _ in tokens)
    for _, lemma, tag in tokens:
        if tag not in CONTENT:
            continue
        lemma = lemma.lower()
        if not any(map(str.isalpha, lemma)):
            continue
        if nouns_only and tag in NOUNS:
            counts.mentions[lemma] += 1
            seen.add(lemma)
        if lemma in language.stop_words:
            continue
        counts.lemmas[lemma] += 1
        if tag in NOUNS:
            counts.nouns[lemma] += 1
        elif tag == "VERB":
            counts.verbs[lemma] += 1
        if not nouns_only:
            seen.add(lemma)


def _add_purity(entries: Sequence[Entry], pictures: Sequence[PictureCounts], scorer: PurityScorer) -> str:
    places = [
        (number, axis, entries[number].axes[axis])
        for number, picture in enumerate(pictures)
        for axis in picture.self_bleu
    ]
    scores = scorer.score([_texts(own) for _, _, own in places])
    for (number, axis, _), found in zip(places, scores, strict=True):
        pictures[number].purity[axis] = tuple(map(float, found))
    return scorer.signature


def _texts(captions: Sequence[Caption]) -> list[str]:
    return [caption.text for caption in captions]


def count_all(chunks: Iterable[list[Entry]], task: CountingTask, processes: int) -> Iterator[Counted]:
    """Count chunk by chunk, in order; a bounded number of chunks is under way at a time."""
    if processes <= 1:
        with Holder() as holder:
            yield from (count(chunk, task, holder) for chunk in chunks)
        return
    pending: deque[Future[Counted]] = deque()
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        try:
            for chunk in chunks:
                pending.append(pool.submit(_count_beside, chunk, task))
                if len(pending) > 2 * processes:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        except BrokenProcessPool:
            raise UsageError(
                "a counting process ended by itself, perhaps for want of memory; try --processes 1"
            ) from None
        finally:
            for waiting in pending:
                waiting.cancel()


_of_this_process = Holder()


def _count_beside(chunk: list[Entry], task: CountingTask) -> Counted:
    """In a process of its own, which ends with the run."""
    return count(chunk, task, _of_this_process)


def cores() -> int:
    """The cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
