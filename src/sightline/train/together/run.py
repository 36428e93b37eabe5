"""The whole of `sightline train together`: captioned pictures in; a network and its calibration out."""

import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch

from sightline.encoders.pocket import Pocket
from sightline.io.results import ResultFolder
from sightline.text.language import Tree
from sightline.text.spacy_language import load_language
from sightline.train.pocket_captioner import maps
from sightline.train.pocket_captioner.fit import load_decoder
from sightline.train.pocket_captioner.network import DecoderConfig, begun
from sightline.train.pocket_captioner.texts import Vocabulary, gather_vocabulary
from sightline.train.together.blend import fitted
from sightline.train.together.examples import (
    Corpus,
    Falsified,
    Reader,
    Shares,
    Text,
    drawn,
    falsified,
    nearest,
)
from sightline.train.together.exchange import Exchanger, Kind
from sightline.train.together.export import export
from sightline.train.together.fit import FitConfig, Say, Trainer, graded, judge, measured
from sightline.train.together.network import TogetherNetwork, begun_from
from sightline.train.together.settle import SettleConfig, by_halves, together

DEV = (maps.DEV, maps.FRESH)
"""Pictures that the image network did not learn from."""
EXCHANGED = 2
"""Captions of a picture that are exchanged in."""
TEXTS = 4096


@dataclass(frozen=True)
class Recipe:
    fit: FitConfig = field(default_factory=FitConfig)
    shares: Shares = field(default_factory=Shares)
    settle: SettleConfig = field(default_factory=SettleConfig)
    unseen: float = 0.15
    """Share of a picture's places that are hidden in training."""
    least: int = 3
    """A piece is read if the captions have it so often; without a captioner to begin with."""
    width: int = 256
    layers: int = 3
    longest: int = 40
    pictures: int | None = None
    """Of each set, for a trial."""


TINY = Recipe(
    fit=FitConfig(minutes=0.05, pictures=8, warmup=2, narrow=False),
    settle=SettleConfig(steps=4),
    width=16,
    layers=1,
    pictures=24,
    least=1,
)
"""A minute's trial."""


def train(
    data: Path, out: Path, captioner: Path | None, recipe: Recipe, say: Say = print
) -> dict[str, float]:
    """Learn, fit the blend on held-out pictures, write the three files; returns what was reached on those."""
    with ResultFolder(out) as results, tempfile.TemporaryDirectory() as place:
        kept = Path(place)
        sets = maps.captioned(data, recipe.pictures)
        for name in (maps.TRAIN, *DEV):
            views = (maps.whole, maps.mirrored) if name == maps.TRAIN else ()
            maps.keep(kept, name, sets[name](), views, say=say)
        seen = {name: maps.read(kept, name) for name in (maps.TRAIN, *DEV)}
        groups = {name: captions_of(found) for name, found in seen.items()}
        network, vocabulary = begin(groups[maps.TRAIN], captioner, recipe)
        corpora = corpora_of(seen, groups, vocabulary, recipe.longest, say)
        rng = np.random.default_rng(recipe.fit.seed)
        grades = graded(corpora[maps.TRAIN], recipe.shares, rng)
        trainer = Trainer(network, corpora[maps.TRAIN], seen[maps.TRAIN], grades, recipe.shares, recipe.fit)
        looked = {name: texts_of(corpora[name], rng) for name in DEV}

        def look(at: TogetherNetwork) -> dict[str, float]:
            narrow = recipe.fit.narrow
            return {
                f"{name} {key}": value
                for name in DEV
                for key, value in measured(
                    judge(
                        at, corpora[name], seen[name], looked[name], range(len(corpora[name])), narrow=narrow
                    )
                ).items()
            }

        history = trainer.run(kept, look, say)
        dev, dev_maps = together([corpora[name] for name in DEV], [seen[name] for name in DEV])
        texts = [text for name in DEV for text in looked[name]]
        network, parts = by_halves(
            trainer.average, dev, dev_maps, texts, grades, recipe.fit, recipe.settle, recipe.shares, say
        )
        blend = fitted(parts, grades, narrow=recipe.fit.narrow)
        with results.staged() as folder:
            export(network, vocabulary, blend, folder)
        told = {"recipe": asdict(recipe), "grades": asdict(grades), "blend": blend, "history": history}
        results.json("training.json", told)
    return history[-1]


def begin(
    groups: Sequence[Sequence[str]], captioner: Path | None, recipe: Recipe
) -> tuple[TogetherNetwork, Vocabulary]:
    """A network that starts as a captioner, or from the pocket's word pieces alone."""
    if captioner is not None:
        decoder, vocabulary = load_decoder(captioner)
        return begun_from(decoder, unseen=recipe.unseen), vocabulary
    vocabulary = gather_vocabulary((text for said in groups for text in said), recipe.least)
    config = DecoderConfig(
        len(vocabulary), recipe.width, recipe.layers, longest=recipe.longest, unseen=recipe.unseen
    )
    return begun_from(begun(config, vocabulary.vectors(), torch.tensor(vocabulary.counts))), vocabulary


def captions_of(found: maps.Maps) -> list[list[str]]:
    """Of each picture, once."""
    return [list(row["captions"]) for row in found.rows if row["view"] == maps.whole.__name__]


def corpora_of(
    seen: dict[str, maps.Maps],
    groups: dict[str, list[list[str]]],
    vocabulary: Vocabulary,
    longest: int,
    say: Say,
) -> dict[str, Corpus]:
    """Captions parsed, exchanged and encoded; pictures with those near them."""
    texts = list(dict.fromkeys(text for said in groups.values() for one in said for text in one))
    language, pocket = load_language("embedded"), Pocket()
    trees: dict[str, Tree] = {}
    for start in range(0, len(texts), TEXTS):
        part = texts[start : start + TEXTS]
        trees.update(zip(part, language.trees(part), strict=True))
        say(f"parsed {len(trees):,} of {len(texts):,} captions")
    read = Reader(vocabulary, longest)
    exchanger = Exchanger(trees, groups[maps.TRAIN], lambda words: pocket.encode_texts(list(words)))
    found = {}
    for name, said in groups.items():
        false = falsified(exchanger, said, EXCHANGED if name == maps.TRAIN else None)
        vectors = [text for one in said for text in one]
        encoded = [
            pocket.encode_texts(vectors[start : start + TEXTS]) for start in range(0, len(vectors), TEXTS)
        ]
        found[name] = corpus_of(seen[name], said, np.concatenate(encoded), false, read)
        say(f"{name}: {len(said):,} pictures, {len(vectors):,} captions, {sum(map(len, false)):,} exchanged")
    return found


def corpus_of(
    seen: maps.Maps, groups: Sequence[Sequence[str]], vectors: np.ndarray,
    false: Sequence[Sequence[tuple[str, Kind]]],
    read: Reader,
) -> Corpus:  # fmt: skip
    views = len(seen) // len(groups)
    starts = np.cumsum([0, *map(len, groups)])
    means = np.add.reduceat(vectors, starts[:-1]) / np.diff(starts)[:, None]
    pictures = np.asarray(seen.vector, np.float32)[::views]
    return Corpus(
        [tuple(range(views * n, views * n + views)) for n in range(len(groups))],
        [text for said in groups for text in said],
        starts,
        np.asarray(vectors, np.float32),
        [read(text) for said in groups for text in said],
        nearest(_unit(means), _unit(_unit(pictures) - _unit(pictures).mean(0))),
        [[Falsified(text, kind, read(text)) for text, kind in one] for one in false],
    )


def _unit(rows: np.ndarray) -> np.ndarray:
    found: np.ndarray = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)
    return found


def texts_of(corpus: Corpus, rng: np.random.Generator) -> list[list[Text]]:
    """The texts that a held-out picture is judged with."""
    shares = Shares(own=2, exchanged=6, near=4, far=2)
    return [drawn(corpus, picture, shares, rng) for picture in range(len(corpus))]
