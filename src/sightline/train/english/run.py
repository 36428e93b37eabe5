"""The embedded English pipeline: tags, trees and lemmas from Universal Dependencies EWT.

It must read story text as data sets hold it: sentences are seen as written, as gold tokens, and lower-cased.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import spacy
from spacy.language import Language
from spacy.strings import get_string_id
from spacy.tokens import Doc
from spacy.training import Example
from spacy.vectors import Vectors
from thinc.api import Adam, Config, fix_random_seed

from sightline.io.results import ResultFolder
from sightline.train.english.lemmas import lemma_tables
from sightline.train.english.treebank import Tree, bare_doc, read_trees, to_doc
from sightline.train.english.word_vectors import Floats, PieceTable, reduce, story_words

CONFIG = """
[nlp]
lang = "en"
pipeline = ["tok2vec", "morphologizer", "parser", "lemmatizer"]
batch_size = 256

[components]

[components.tok2vec]
factory = "tok2vec"

[components.tok2vec.model]
@architectures = "spacy.Tok2Vec.v2"

[components.tok2vec.model.embed]
@architectures = "spacy.MultiHashEmbed.v2"
width = 96
attrs = ["NORM", "PREFIX", "SUFFIX", "SHAPE"]
rows = [2500, 1000, 2500, 1000]
include_static_vectors = true

[components.tok2vec.model.encode]
@architectures = "spacy.MaxoutWindowEncoder.v2"
width = 96
depth = 4
window_size = 1
maxout_pieces = 3

[components.morphologizer]
factory = "morphologizer"

[components.morphologizer.model]
@architectures = "spacy.Tagger.v2"
nO = null
normalize = false

[components.morphologizer.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96
upstream = "tok2vec"

[components.parser]
factory = "parser"
min_action_freq = 20

[components.parser.model]
@architectures = "spacy.TransitionBasedParser.v2"
state_type = "parser"
extra_state_tokens = false
hidden_width = 64
maxout_pieces = 2
use_upper = true
nO = null

[components.parser.model.tok2vec]
@architectures = "spacy.Tok2VecListener.v1"
width = 96
upstream = "tok2vec"

[components.lemmatizer]
factory = "lemmatizer"
mode = "rule"
"""


@dataclass(frozen=True)
class EnglishRecipe:
    """What the training may vary. The defaults made the embedded model."""

    epochs: int = 24
    words_per_batch: int = 1000
    learning_rate: float = 0.002
    warmup: int = 250
    dropout: float = 0.2
    vector_rows: int = 22_000
    vector_dimensions: int = 64
    lower: float = 0.5
    """Share of sentences seen lower-cased in an epoch; of the others half as written, half as gold tokens."""
    seed: int = 7


Progress = Callable[[int, float, dict[str, float]], None]
"""Told after each epoch: its number, the mean loss, and the scores on the development trees."""


def train(data: Path, teacher: Path, out: Path, recipe: EnglishRecipe, progress: Progress) -> Language:
    """Train on the data folder's treebank and write the pipeline to `out`."""
    with ResultFolder(out) as results:
        nlp = _trained(data, teacher, recipe, progress)
        with results.staged() as folder:
            nlp.to_disk(folder)
    return nlp


def _trained(data: Path, teacher: Path, recipe: EnglishRecipe, progress: Progress) -> Language:
    fix_random_seed(recipe.seed)
    trees = read_trees(data / "ud_ewt_train.conllu.gz")
    dev = read_trees(data / "ud_ewt_dev.conllu.gz")
    nlp = spacy.util.load_model_from_config(Config().from_str(CONFIG), auto_fill=True)
    pieces = PieceTable(teacher)
    words = vocabulary(trees, data, pieces, recipe)
    table = reduce(pieces.of_words(words), recipe.vector_dimensions)
    nlp.vocab.vectors = by_lower_case(words, table, nlp)
    nlp.get_pipe("lemmatizer").initialize(lookups=lemma_tables(trees))
    fit(nlp, trees, dev, recipe, progress)
    nlp.vocab.vectors = by_written_form(words, table, nlp)
    nlp.meta.update(
        name="sightline", version="1.0.0", license="CC BY-SA 4.0", description="English for story text"
    )
    return nlp


def vocabulary(trees: Sequence[Tree], data: Path, pieces: PieceTable, recipe: EnglishRecipe) -> list[str]:
    """The most useful words: the treebank's and the stories' own, then the teacher's frequent ones."""
    counts = Counter(word.lower() for tree in trees for word in tree.words) + story_words(data)
    own = [word for word, n in counts.most_common() if n > 1 and len(word) < 20]
    return list(dict.fromkeys([*own, *pieces.whole_words]))[: recipe.vector_rows]


def by_lower_case(words: Sequence[str], table: Floats, nlp: Language) -> Vectors:
    """One row per word, found whatever its case."""
    keys = [get_string_id(word) for word in words]
    return Vectors(strings=nlp.vocab.strings, data=table, keys=keys, name="words", attr="LOWER")


def by_written_form(words: Sequence[str], table: Floats, nlp: Language) -> Vectors:
    """The same rows for the lower-cased, capitalised and upper-case forms: spaCy does not save `attr`."""
    vectors = Vectors(strings=nlp.vocab.strings, data=table, name="words")
    for cased in (str.upper, str.capitalize, str.lower):
        for row, word in enumerate(words):
            vectors.key2row[get_string_id(cased(word))] = row
    return vectors


def fit(
    nlp: Language, trees: Sequence[Tree], dev: Sequence[Tree], recipe: EnglishRecipe, progress: Progress
) -> None:
    """Adam with warm-up and linear decay; the best epoch on the development trees is kept."""
    draw = random.Random(recipe.seed)
    gold = [Example(bare_doc([tree], nlp.vocab), to_doc([tree], nlp.vocab)) for tree in trees]
    optimizer = Adam(learn_rate=recipe.learning_rate, L2=0.01, grad_clip=1.0, use_averages=True)
    with nlp.select_pipes(disable=["lemmatizer"]):
        nlp.initialize(lambda: gold, sgd=optimizer)
        steps = recipe.epochs * sum(1 for _ in batches(trees, recipe, nlp, random.Random(recipe.seed)))
        best, step = (-1.0, b""), 0
        for epoch in range(recipe.epochs):
            losses: dict[str, float] = {}
            for batch in batches(trees, recipe, nlp, draw):
                rise, fall = (step + 1) / recipe.warmup, (steps - step) / max(1, steps - recipe.warmup)
                optimizer.learn_rate = recipe.learning_rate * max(0.0, min(1.0, rise, fall))
                nlp.update(batch, sgd=optimizer, drop=recipe.dropout, losses=losses)
                step += 1
            with nlp.use_params(optimizer.averages):
                scores = accuracy(nlp, dev)
                scores["lower"] = accuracy(nlp, [tree.lower() for tree in dev])["las"]
                mean = scores["upos"] + scores["las"] + scores["lower"]
                if mean > best[0]:
                    best = (mean, nlp.to_bytes(exclude=["vocab", "lemmatizer"]))
            progress(epoch + 1, sum(losses.values()), scores)
        nlp.from_bytes(best[1], exclude=["vocab", "lemmatizer"])


def batches(
    trees: Sequence[Tree], recipe: EnglishRecipe, nlp: Language, draw: random.Random
) -> Iterator[list[Example]]:
    """One epoch: neighbouring sentences now and then together, so that sentence starts are learned too."""
    groups = list(_groups(trees, draw))
    draw.shuffle(groups)
    batch: list[Example] = []
    words = 0
    for group in groups:
        batch.append(_example(group, recipe, nlp, draw))
        words += len(batch[-1].reference)
        if words >= recipe.words_per_batch:
            yield batch
            batch, words = [], 0
    if batch:
        yield batch


def _groups(trees: Sequence[Tree], draw: random.Random) -> Iterator[list[Tree]]:
    place = 0
    while place < len(trees):
        size = 1 if draw.random() < 0.8 else draw.randint(2, 4)
        group = [trees[place]]
        while (
            len(group) < size
            and place + len(group) < len(trees)
            and not trees[place + len(group)].opens_document
        ):
            group.append(trees[place + len(group)])
        yield group
        place += len(group)


def _example(group: Sequence[Tree], recipe: EnglishRecipe, nlp: Language, draw: random.Random) -> Example:
    chance = draw.random()
    if chance < recipe.lower:
        group = [tree.lower() for tree in group]
    reference = to_doc(group, nlp.vocab)
    as_written = chance > (1 + recipe.lower) / 2
    return Example(nlp.make_doc(reference.text) if as_written else bare_doc(group, nlp.vocab), reference)


def accuracy(nlp: Language, trees: Sequence[Tree]) -> dict[str, float]:
    """Tags and trees on gold tokens: shares of all tokens (tags) and of all but punctuation (attachments)."""
    right: Counter[str] = Counter()
    docs: Iterator[Doc] = nlp.pipe((bare_doc([tree], nlp.vocab) for tree in trees), batch_size=256)
    for doc, tree in zip(docs, trees, strict=True):
        for token, tag, head, relation in zip(doc, tree.tags, tree.heads, tree.relations, strict=True):
            right.update(tokens=1, upos=token.pos_ == tag)
            if relation != "punct":
                attached = token.head.i == head
                right.update(arcs=1, uas=attached, las=attached and token.dep_ == relation)
    return {
        "upos": right["upos"] / right["tokens"],
        "uas": right["uas"] / right["arcs"],
        "las": right["las"] / right["arcs"],
    }
