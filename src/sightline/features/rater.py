"""What a learned rater thinks a person would give each sentence for its picture."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sightline.encoders.pair_vectors import PairVectors
from sightline.encoders.rater import CaptionRater, fingerprint, load_rater
from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Tools
from sightline.features.text import Sentences
from sightline.features.together import reading_network
from sightline.features.vision import sentence_pairs
from sightline.items import Item
from sightline.vision import Picture


@dataclass(frozen=True)
class PredictedRatingValue:
    """One of each for every sentence and its picture."""

    rating: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    seen: tuple[int, ...]
    """Numbers (from 0) of the pictures whose ratings the rater learned from."""
    truncated: tuple[int, ...]
    """Numbers of the sentences that were cut to the encoder's length."""


@dataclass(frozen=True)
class PredictedRating(Feature[PredictedRatingValue]):
    """The rater's rating of each sentence, with the encoder's prompt, for its own whole picture."""

    value = PredictedRatingValue
    reads_pictures = True

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Sentences(),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[PredictedRatingValue | Unscorable]:
        model, embed = _model(tools), tools.embedder
        jobs = [sentence_pairs(got, tools) for got in batch]
        pairs = [pair for job in jobs if not isinstance(job, Unscorable) for pair in job]
        if (given := _given(tools)) is not None:
            jobs = [_known(got.item, job, given) for got, job in zip(batch, jobs, strict=True)]
            pairs = [pair for job in jobs if not isinstance(job, Unscorable) for pair in job]
        if not pairs:
            return [job for job in jobs if isinstance(job, Unscorable)]
        if given is not None:
            ids = [g.item.id for g, job in zip(batch, jobs, strict=True) if not isinstance(job, Unscorable)]
            found = model.rate(*given.of(ids))
        else:
            images = embed.regions([(picture, None) for _, picture in pairs])
            found = model.rate(
                images, embed.texts([sentence for sentence, _ in pairs]), _read(model, pairs, tools)
            )
        seen = _seen(model, [picture for _, picture in pairs])
        values: list[PredictedRatingValue | Unscorable] = []
        start = 0
        for job in jobs:
            if isinstance(job, Unscorable):
                values.append(job)
                continue
            own = slice(start, start + len(job))
            start += len(job)
            values.append(
                PredictedRatingValue(
                    tuple(found.rating[own].tolist()),
                    tuple(found.low[own].tolist()),
                    tuple(found.high[own].tolist()),
                    tuple(n for n, known in enumerate(seen[own]) if known),
                    tuple(n for n, (sentence, _) in enumerate(job) if embed.encoder.truncated(sentence)),
                )
            )
        return values

    def signature(self, tools: Tools) -> Mapping[str, str]:
        given, model = _given(tools), _model(tools)
        seen = tools.embedder.parts if given is None else {"pairs": given.resource.digest}
        reader = {"together": model.together} if model.together else {}
        return {**seen, **reader, "rater": model.signature}


Job = list[tuple[str, Picture]] | Unscorable


def _read(
    model: CaptionRater, pairs: Sequence[tuple[str, Picture]], tools: Tools
) -> NDArray[np.float32] | None:
    """What the reading network makes of each pair, for a rater that learned with it."""
    if not model.together:
        return None
    reader, prompt = reading_network(tools), tools.embedder.calibration.prompt
    maps = reader.maps([picture for _, picture in pairs], tools.embedder.store)
    return np.stack(
        [
            reader.read(seen, sentence.removeprefix(prompt), words=False).numbers
            for seen, (sentence, _) in zip(maps, pairs, strict=True)
        ]
    )


def _given(tools: Tools) -> PairVectors | None:
    """Vectors of pairs from a file, where the user gave one."""
    place = tools.option("pairs")
    return tools.held(PairVectors, place) if place else None


def _known(item: Item, job: Job, given: PairVectors) -> Job:
    """A caption whose pair has a vector; anything else cannot be rated by one."""
    if isinstance(job, Unscorable):
        return job
    if len(job) != 1:
        return Unscorable(f"{len(job)} pictures: a vector of a pair is of one picture and its caption")
    return job if item.id in given else Unscorable("there is no vector for this pair in the file of pairs")


def _seen(model: CaptionRater, pictures: Sequence[Picture]) -> NDArray[np.bool_]:
    """Whether the rater learned from ratings of each picture; one that several sentences share is looked at once."""
    once = list({picture.digest: picture for picture in pictures}.values())
    found = model.seen(np.stack([fingerprint(picture.crop()) for picture in once]))
    known = {picture.digest: bool(seen) for picture, seen in zip(once, found, strict=True)}
    return np.array([known[picture.digest] for picture in pictures], np.bool_)


def _model(tools: Tools) -> CaptionRater:
    model = tools.held(load_rater, tools.option("rater"))
    given = _given(tools)
    model.fits(tools.embedder.signature if given is None else given.signature)
    if model.together:
        model.fits_reader(reading_network(tools).signature)
    return model
