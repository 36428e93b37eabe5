"""The last steps, on pictures that the image network never learned from: there its maps are what they will be.

Maps of pictures that it did learn from are too good, and a network that reads them trusts maps too much. There are few
others, so each half of them is judged by a network that settled on the other half; the shipped one settles on all.
"""

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sightline.train.pocket_captioner.maps import Maps
from sightline.train.together.blend import Part
from sightline.train.together.examples import Corpus, Shares, Text
from sightline.train.together.fit import FitConfig, Grades, Judged, Say, Trainer, judge, measured
from sightline.train.together.network import TogetherNetwork


@dataclass(frozen=True)
class SettleConfig:
    steps: int = 120
    """Of the final network; those on halves take half as many."""
    rate: float = 1e-4
    noise: float = 0.1
    average: float = 0.98


def together(corpora: Sequence[Corpus], maps: Sequence[Maps]) -> tuple[Corpus, Maps]:
    """Several sets of pictures as one."""
    pictures = np.cumsum([0, *map(len, corpora)])
    rows = np.cumsum([0, *map(len, maps)])
    captions = np.cumsum([0, *(len(one.captions) for one in corpora)])
    whole = Corpus(
        [
            tuple(row + start for row in views)
            for one, start in zip(corpora, rows, strict=False)
            for views in one.views
        ],
        [text for one in corpora for text in one.captions],
        np.concatenate(
            [*(one.starts[:-1] + start for one, start in zip(corpora, captions, strict=False)), captions[-1:]]
        ),
        np.concatenate([one.vectors for one in corpora]),
        [ids for one in corpora for ids in one.ids],
        np.concatenate([one.near + start for one, start in zip(corpora, pictures, strict=False)]),
        [false for one in corpora for false in one.exchanged],
    )
    parts = {
        name: np.concatenate([getattr(one, name) for one in maps]) for name in ("map16", "map32", "vector")
    }
    return whole, Maps(**parts, rows=tuple(row for one in maps for row in one.rows))


def settled(
    network: TogetherNetwork, corpus: Corpus, maps: Maps, grades: Grades, pictures: Sequence[int], steps: int,
    recipe: FitConfig, config: SettleConfig, shares: Shares,
) -> TogetherNetwork:  # fmt: skip
    """A copy of the network after some steps on these pictures alone; the rate falls to nothing."""
    own = replace(recipe, rate=config.rate, noise=config.noise, average=config.average)
    trainer = Trainer(copy.deepcopy(network).requires_grad_(True), corpus, maps, grades, shares, own)
    for number in range(steps):
        rows = trainer.rng.permutation(np.asarray(pictures))[: recipe.pictures].tolist()
        rate = config.rate * min(1.0, (number + 1) / 10) * 0.5 * (1 + math.cos(math.pi * number / steps))
        trainer.step(rows, rate)
        trainer.steps += 1
    return trainer.average


def by_halves(
    network: TogetherNetwork, corpus: Corpus, maps: Maps, texts: Sequence[Sequence[Text]], grades: Grades,
    recipe: FitConfig, config: SettleConfig, shares: Shares, say: Say,
) -> tuple[TogetherNetwork, list[Part]]:  # fmt: skip
    """The network that settled on all pictures, and each half as judged by one that settled on the other."""
    halves = [list(range(start, len(corpus), 2)) for start in (0, 1)]
    parts = []
    for learned, held in (halves, halves[::-1]):
        before = judge(network, corpus, maps, [texts[n] for n in held], held, narrow=recipe.narrow)
        half = settled(network, corpus, maps, grades, learned, config.steps // 2, recipe, config, shares)
        after: Judged = judge(half, corpus, maps, [texts[n] for n in held], held, narrow=recipe.narrow)
        say(f"before settling: {measured(before)}")
        say(f"settled on the other half: {measured(after)}")
        parts.append(Part(half, corpus, maps, texts, held, after))
    whole = settled(network, corpus, maps, grades, range(len(corpus)), config.steps, recipe, config, shares)
    return whole, parts
