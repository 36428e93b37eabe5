"""Features of the pictures and of text against pictures: regions, alignments, whole-picture similarities."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Tools
from sightline.features.text import Phrases, Sentences, Units
from sightline.items import Box, Item
from sightline.text.sentences import split_sentences
from sightline.vision.pictures import Picture

SHORT = 16
"""Characters that every encoder reads whole."""


@dataclass(frozen=True)
class RegionsValue:
    boxes: tuple[tuple[Box, ...], ...]
    """For each picture its regions."""


@dataclass(frozen=True)
class Regions(Feature[RegionsValue]):
    """Where to look in each picture: the item's own regions, or those the run's region source proposes."""

    value = RegionsValue
    reads_pictures = True

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[RegionsValue | Unscorable]:
        loaded = [_load(got.item, tools) for got in batch]
        ask = [
            picture
            for got, pictures in zip(batch, loaded, strict=True)
            if not isinstance(pictures, Unscorable) and got.item.regions is None
            for picture in pictures
        ]
        unique = {picture.path: picture for picture in ask}
        found = _propose(list(unique.values()), tools) if unique else []
        proposed = dict(zip(unique, found, strict=True))
        return [
            pictures if isinstance(pictures, Unscorable) else _regions(got.item, pictures, proposed)
            for got, pictures in zip(batch, loaded, strict=True)
        ]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"regions": tools.regions.signature}


def region_notes(item: Item) -> tuple[str, ...]:
    """The signature names the run's region source; an item may bring its own instead."""
    return ("the regions are the item's own",) if item.regions is not None else ()


def _propose(pictures: Sequence[Picture], tools: Tools) -> list[tuple[Box, ...] | Unscorable]:
    """Boxes of each picture; where the source refuses the batch, picture by picture, so that one fails alone."""
    try:
        return [tuple(boxes) for boxes in tools.regions.propose(pictures)]
    except Unscorable as reason:
        if len(pictures) == 1:
            return [reason]
        return [_propose([picture], tools)[0] for picture in pictures]


def _regions(
    item: Item, pictures: Sequence[Picture], proposed: Mapping[Any, tuple[Box, ...] | Unscorable]
) -> RegionsValue | Unscorable:
    if item.regions is not None:
        if len(item.regions) != len(pictures):
            return Unscorable(f"{len(item.regions)} lists of regions for {len(pictures)} pictures")
        return RegionsValue(item.regions)
    boxes: list[tuple[Box, ...]] = []
    for picture in pictures:
        found = proposed[picture.path]
        if isinstance(found, Unscorable):
            return found
        boxes.append(found)
    return RegionsValue(tuple(boxes))


def _load(item: Item, tools: Tools) -> list[Picture] | Unscorable:
    if not item.images:
        return Unscorable("there is no picture")
    try:
        return [tools.pictures.load(path) for path in item.images]
    except Unscorable as reason:
        return reason


@dataclass(frozen=True)
class AlignmentValue:
    phrases: tuple[str, ...]
    """The story's phrases, each once, in order of first mention."""
    first: tuple[int, ...]
    """Index of each phrase's first mention."""
    cosine: NDArray[np.float32]
    """[phrase, picture]: best calibrated cosine over the picture's regions."""
    box: NDArray[np.float32]
    """[phrase, picture, 4]: the region that gave it."""
    truncated: tuple[int, ...] = ()
    """Numbers of the phrases that were cut to the encoder's length."""


@dataclass(frozen=True)
class Alignment(Feature[AlignmentValue]):
    """How well each phrase, said bare, matches its best region in each picture."""

    units: Units = "phrases"
    value = AlignmentValue
    reads_pictures = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Phrases(self.units), Regions())

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[AlignmentValue | Unscorable]:
        embed, calibrate = tools.embedder, tools.embedder.calibration
        jobs = [self._job(got, tools) for got in batch]
        ready = [job for job in jobs if not isinstance(job, Unscorable)]
        region_rows = iter(
            _split(embed.regions([r for job in ready for r in job.regions]), [len(j.regions) for j in ready])
        )
        phrase_rows = iter(
            _split(embed.texts([p for job in ready for p in job.phrases]), [len(j.phrases) for j in ready])
        )
        return [
            job
            if isinstance(job, Unscorable)
            else job.align(calibrate(next(phrase_rows) @ next(region_rows).T), cut(job.phrases, tools))
            for job in jobs
        ]

    def _job(self, got: Features, tools: Tools) -> "_Job | Unscorable":
        mentions = got[Phrases(self.units)].mentions
        first: dict[str, int] = {}
        for number, mention in enumerate(mentions):
            first.setdefault(mention.text, number)
        if not first:
            return Unscorable(
                f"there is no {'noun phrase' if self.units == 'phrases' else 'noun'} in the text"
            )
        boxes = got[Regions()].boxes
        for number, regions in enumerate(boxes, 1):
            if not regions:
                return Unscorable(f"picture {number} has no region")
        pictures = [tools.pictures.load(path) for path in got.item.images]
        return _Job(tuple(first), tuple(first.values()), pictures, boxes)

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return tools.embedder.calibrated_parts


@dataclass(frozen=True)
class _Job:
    """One story's alignment, before and after encoding."""

    phrases: tuple[str, ...]
    first: tuple[int, ...]
    pictures: Sequence[Picture]
    boxes: tuple[tuple[Box, ...], ...]

    @property
    def regions(self) -> list[tuple[Picture, Box | None]]:
        return [
            (picture, box) for picture, boxes in zip(self.pictures, self.boxes, strict=True) for box in boxes
        ]

    def align(self, cosine: NDArray[Any], truncated: tuple[int, ...]) -> AlignmentValue:
        return AlignmentValue(self.phrases, self.first, *best_regions(cosine, self.boxes), truncated)


def cut(texts: Sequence[str], tools: Tools) -> tuple[int, ...]:
    """Numbers of the texts that are longer than the encoder reads."""
    encoder = tools.embedder.encoder
    return tuple(n for n, text in enumerate(texts) if len(text) > SHORT and encoder.truncated(text))


def best_regions(
    cosine: NDArray[Any], boxes: Sequence[Sequence[Box]]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Reduce [phrase, region] to the best region of each picture: its cosine and its box."""
    best = np.zeros((len(cosine), len(boxes)), np.float32)
    where = np.zeros((len(cosine), len(boxes), 4), np.float32)
    start = 0
    for number, of_picture in enumerate(boxes):
        block = cosine[:, start : start + len(of_picture)]
        best[:, number] = block.max(axis=1)
        where[:, number] = np.asarray(of_picture, np.float32)[block.argmax(axis=1)]
        start += len(of_picture)
    return best, where


def _split(rows: NDArray[Any], sizes: Sequence[int]) -> list[NDArray[Any]]:
    return np.split(rows, np.cumsum(sizes)[:-1]) if sizes else []


Long = Literal["cut", "mean"]
"""What becomes of a text that is longer than the encoder reads: it is cut, or read sentence by sentence."""


@dataclass(frozen=True)
class PairsValue:
    cosine: tuple[float, ...]
    """One for each sentence and its picture, calibrated."""
    truncated: tuple[int, ...]
    """Numbers of the sentences that were cut to the encoder's length."""
    parts: tuple[tuple[int, int], ...] = ()
    """Numbers of those that were read in parts, each with how many."""


@dataclass(frozen=True)
class PairSimilarity(Feature[PairsValue]):
    """Each sentence, with the encoder's prompt, against its own whole picture."""

    long: Long = "cut"
    value = PairsValue
    reads_pictures = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[PairsValue | Unscorable]:
        embed = tools.embedder
        jobs = [self._parts(sentence_pairs(got, tools), tools) for got in batch]
        pairs = [pair for job in jobs if not isinstance(job, Unscorable) for parts in job for pair in parts]
        images = embed.regions([(picture, None) for _, picture in pairs])
        texts = embed.texts([sentence for sentence, _ in pairs])
        cosine = iter(embed.calibration(np.einsum("nd,nd->n", images, texts)).tolist())
        return [
            job
            if isinstance(job, Unscorable)
            else PairsValue(
                tuple(_mean_cosine([next(cosine) for _ in parts]) for parts in job),
                tuple(n for n, parts in enumerate(job) if cut([sentence for sentence, _ in parts], tools)),
                tuple((n, len(parts)) for n, parts in enumerate(job) if len(parts) > 1),
            )
            for job in jobs
        ]

    def _parts(
        self, pairs: Sequence[tuple[str, Picture]] | Unscorable, tools: Tools
    ) -> list[list[tuple[str, Picture]]] | Unscorable:
        """Each pair, or where its sentence is too long and may be read in parts, a pair for each part."""
        if isinstance(pairs, Unscorable):
            return pairs
        prompt = tools.embedder.calibration.prompt
        found = []
        for text, picture in pairs:
            long = self.long == "mean" and bool(cut([text], tools))
            parts = split_sentences(text.removeprefix(prompt)) if long else []
            found.append(
                [(prompt + part, picture) for part in parts] if len(parts) > 1 else [(text, picture)]
            )
        return found

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return tools.embedder.calibrated_parts


def _mean_cosine(parts: Sequence[float]) -> float:
    """Of one text; of several parts the mean of what CLIPScore takes of each, which is nothing below 0."""
    return parts[0] if len(parts) == 1 else sum(max(0.0, part) for part in parts) / len(parts)


def sentence_pairs(
    got: Features, tools: Tools, prompt: str | None = None
) -> list[tuple[str, Picture]] | Unscorable:
    """Each sentence, with a prompt (the encoder's), and its picture; or why they cannot be paired."""
    sentences = got[Sentences()].sentences
    pictures = _load(got.item, tools)
    if isinstance(pictures, Unscorable):
        return pictures
    if len(sentences) != len(pictures):
        return Unscorable(f"{len(sentences)} sentences for {len(pictures)} pictures: they cannot be paired")
    if blank := [number for number, sentence in enumerate(sentences, 1) if not sentence.strip()]:
        return Unscorable(f"sentence {blank[0]} is empty: it cannot be held against its picture")
    before = tools.embedder.calibration.prompt if prompt is None else prompt
    return [(before + sentence, picture) for sentence, picture in zip(sentences, pictures, strict=True)]


@dataclass(frozen=True)
class ReferenceCosines:
    cosine: tuple[float, ...]
    """The caption, prompted, against each reference, prompted."""
    truncated: tuple[int, ...] = ()
    """Numbers of the references that were cut to the encoder's length."""


@dataclass(frozen=True)
class ReferenceSimilarity(Feature[ReferenceCosines]):
    """The caption against its references, in the encoder's text space."""

    value = ReferenceCosines

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[ReferenceCosines | Unscorable]:
        references = [tuple(r for r in got.item.references if r.strip()) for got in batch]
        prompt = tools.embedder.calibration.prompt
        rows = tools.embedder.texts([prompt + text for refs in references for text in refs])
        captions = tools.embedder.texts([prompt + got.item.whole_text for got in batch])
        return [
            ReferenceCosines(tuple((block @ caption).tolist()), cut([prompt + text for text in refs], tools))
            if refs
            else Unscorable("there are no references")
            for refs, block, caption in zip(
                references, _split(rows, [len(refs) for refs in references]), captions, strict=True
            )
        ]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return tools.embedder.parts
