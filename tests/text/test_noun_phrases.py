"""The rule for noun phrases on hand-made Universal Dependencies trees, and mentions from them."""

from itertools import pairwise

import pytest
import spacy

from sightline.text.noun_phrases import noun_phrases
from sightline.train.english.treebank import Tree, to_doc

VOCAB = spacy.blank("en").vocab

# Each word as text/TAG/head/relation; heads count from 1, 0 is the root.
SENTENCES = {
    "the/DET/3/det quick/ADJ/3/amod fox/NOUN/4/nsubj ran/VERB/0/root": ["the quick fox"],
    "men/NOUN/3/nsubj in/ADP/3/case hats/NOUN/0/root of/ADP/5/case straw/NOUN/3/nmod": [
        "men",
        "hats",
        "straw",
    ],
    "the/DET/2/det man/NOUN/6/nsubj who/PRON/4/nsubj sang/VERB/2/acl:relcl was/AUX/6/cop him/PRON/0/root": [
        "the man",
        "who",
        "him",
    ],
    "a/DET/4/det very/ADV/3/advmod old/ADJ/4/amod church/NOUN/0/root": ["a very old church"],
    "even/ADV/3/advmod the/DET/3/det kids/NOUN/4/nsubj slept/VERB/0/root": ["the kids"],
    "mary/PROPN/3/nmod:poss 's/PART/1/case dress/NOUN/4/nsubj tore/VERB/0/root": ["mary 's dress"],
    "the/DET/2/det bride/NOUN/5/nsubj and/CCONJ/4/cc groom/NOUN/2/conj kissed/VERB/0/root": [
        "the bride",
        "groom",
    ],
    "there/PRON/2/expl were/VERB/0/root two/NUM/4/nummod dogs/NOUN/2/nsubj": ["two dogs"],
    "we/PRON/2/nsubj met/VERB/0/root barack/PROPN/2/obj obama/PROPN/3/flat": ["we", "barack obama"],
    "all/DET/3/det:predet my/PRON/3/nmod:poss friends/NOUN/4/nsubj came/VERB/0/root": ["all my friends"],
    "it/PRON/4/nsubj is/AUX/4/cop ice/NOUN/4/compound cream/NOUN/0/root": ["it", "ice cream"],
    "run/VERB/0/root !/PUNCT/1/punct": [],
    "a/DET/4/det big/ADJ/4/amod ,/PUNCT/4/punct house/NOUN/0/root": ["a big , house"],
    "we/PRON/2/nsubj ate/VERB/0/root ,/PUNCT/4/punct cake/NOUN/2/obj": ["we", "cake"],
}


def tree(written: str) -> Tree:
    rows = [token.rsplit("/", 3) for token in written.split()]
    return Tree(
        words=tuple(row[0] for row in rows),
        spaces=(True,) * len(rows),
        lemmas=tuple(row[0] for row in rows),
        tags=tuple(row[1] for row in rows),
        heads=tuple(int(row[2]) - 1 if int(row[2]) else place for place, row in enumerate(rows)),
        relations=tuple("ROOT" if row[3] == "root" else row[3] for row in rows),
    )


@pytest.mark.parametrize("written", SENTENCES)
def test_phrases(written: str) -> None:
    doc = to_doc([tree(written)], VOCAB)
    assert [doc[start:end].text for start, end in noun_phrases(doc)] == SENTENCES[written]


def test_no_phrase_overlaps_another(data) -> None:
    from sightline.train.english.treebank import read_trees

    for gold in read_trees(data / "ud_ewt_dev.conllu.gz")[:600]:
        found = list(noun_phrases(to_doc([gold], VOCAB)))
        assert all(start < end for start, end in found)
        assert all(first[1] <= second[0] for first, second in pairwise(found))
