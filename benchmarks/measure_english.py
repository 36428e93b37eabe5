"""How good the embedded English pipeline and concreteness lexicon are, on data they never saw.

    python benchmarks/measure_english.py [PIPELINE]

Reads the shared data folder ($SIGHTLINE_DATA, or ../shared/data beside the repository).
"""

import gzip
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import spacy
from rich.console import Console
from rich.table import Table

from sightline.text.concreteness import UNRATED, Concreteness
from sightline.text.noun_phrases import noun_phrases
from sightline.text.phrases import find_mentions
from sightline.text.spacy_language import EMBEDDED, load_language
from sightline.train.concreteness import is_held_out, read_ratings
from sightline.train.english.run import accuracy
from sightline.train.english.treebank import Tree, bare_doc, read_trees, to_doc

DATA = Path(os.environ.get("SIGHTLINE_DATA", Path(__file__).parents[2] / "shared" / "data"))
console = Console()


def phrase_f1(nlp: spacy.language.Language, trees: Sequence[Tree]) -> float:
    """Phrases from predicted trees against phrases from gold trees, by the same rule."""
    shared = total = 0
    docs = nlp.pipe((bare_doc([tree], nlp.vocab) for tree in trees), batch_size=256)
    for doc, tree in zip(docs, trees, strict=True):
        found, gold = set(noun_phrases(doc)), set(noun_phrases(to_doc([tree], nlp.vocab)))
        shared, total = shared + len(found & gold), total + len(found) + len(gold)
    return 2 * shared / total


def measure_trees(path: str) -> None:
    nlp = spacy.load(path)
    trees = read_trees(DATA / "ud_ewt_test.conllu.gz")
    table = Table(title="UD English EWT, test part, gold tokens")
    for column in ("text", "UPOS", "UAS", "LAS", "lemma", "phrase F1"):
        table.add_column(column, justify="left" if column == "text" else "right")
    for name, seen in (("as written", trees), ("lower-cased", [tree.lower() for tree in trees])):
        scores = accuracy(nlp, seen)
        numbers = (
            scores["upos"],
            scores["uas"],
            scores["las"],
            lemma_accuracy(nlp, seen),
            phrase_f1(nlp, seen),
        )
        table.add_row(name, *(f"{number:.4f}" for number in numbers))
    console.print(table)


def lemma_accuracy(nlp: spacy.language.Language, trees: Sequence[Tree]) -> float:
    """Lower-cased lemmas, punctuation and names left out."""
    right: list[bool] = []
    docs = nlp.pipe((bare_doc([tree], nlp.vocab) for tree in trees), batch_size=256)
    for doc, tree in zip(docs, trees, strict=True):
        for token, lemma, tag in zip(doc, tree.lemmas, tree.tags, strict=True):
            if tag in ("NOUN", "VERB", "ADJ", "ADV", "AUX", "PRON", "DET"):
                right.append(token.lemma_.lower() == lemma.lower())
    return sum(right) / len(right)


def measure_concreteness(nlp: str) -> None:
    learned, original = Concreteness.embedded(), Concreteness.from_file(DATA / "concreteness.csv")
    held = {word: rating for word, rating in read_ratings(DATA).items() if is_held_out(word)}
    known = {word: rating for word, rating in held.items() if " " not in word}
    with gzip.open(DATA / "vist_test_stories.jsonl.gz", "rt") as lines:
        stories = [json.loads(line)["sentences"] for line in lines]
    phrases = [m.words for story in find_mentions(stories, load_language(nlp)) for m in story.mentions]
    ours_all = np.array([learned.of_phrase(words) for words in phrases])
    theirs_all = np.array([original.of_phrase(words) for words in phrases])
    covered = theirs_all != UNRATED  # a phrase without any original rating weighs 1 there
    table = Table(title="Concreteness, learned against people's")
    for column in ("what", "n", "Pearson r"):
        table.add_column(column, justify="left" if column == "what" else "right")
    for name, ours, theirs in (
        (
            "held-out words",
            [rating.value for word in known if (rating := learned.of_word(word))],
            list(known.values()),
        ),
        ("weights of VIST test phrases", ours_all, theirs_all),
        ("those that the original ratings cover", ours_all[covered], theirs_all[covered]),
    ):
        table.add_row(name, str(len(theirs)), f"{np.corrcoef(ours, theirs)[0, 1]:.4f}")
    console.print(table)


if __name__ == "__main__":
    pipeline = sys.argv[1] if len(sys.argv) > 1 else "embedded"
    measure_trees(str(EMBEDDED) if pipeline == "embedded" else pipeline)
    measure_concreteness(pipeline)
