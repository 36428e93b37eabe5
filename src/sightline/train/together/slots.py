"""Where in a parsed caption something can be exchanged, and what stands in the same place elsewhere."""

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Final

from sightline.text.language import Tree, Word
from sightline.train.together.words import ANIMALS, COLOURS, PEOPLE, QUALITIES, SYMMETRIC, VAGUE, WEAK_VERBS

Slot = tuple[int, int, str]
"""First and last (exclusive) word, and what is put there."""

IRREGULAR: Final = {"men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot"}


def lemma(word: Word) -> str:
    """A word's lemma, lower-cased."""
    text = word.lemma.lower()
    return IRREGULAR.get(text, text)


def place_of(tree: Tree, n: int) -> tuple[str, ...] | None:
    """Where a noun or verb stands: its form, what it hangs on and by which word; None where it is best left alone."""
    word = tree.words[n]
    text, label = word.text.lower(), tree.labels[n]
    if word.tag == "NOUN":
        parts = [tree.labels[child] for child in tree.children(n)]
        if text in VAGUE or label == "compound" or "compound" in parts or not text.isalpha():
            return None
        many = "many" if lemma(word) != text or text == "people" else "one"
        by = next((tree.words[c].text.lower() for c in tree.children(n) if tree.labels[c] == "case"), "")
        return ("noun", many, label, by, lemma(tree.words[tree.heads[n]]))
    if word.tag == "VERB" and lemma(word) not in WEAK_VERBS:
        form = next((end for end in ("ing", "ed", "s") if text.endswith(end)), "")
        after = tree.words[n + 1] if n + 1 < len(tree.words) else None
        if not form or (n and tree.words[n - 1].text == "-"):
            return None
        follows = "" if after is None else after.text.lower() if after.tag == "ADP" else after.tag
        return ("verb", form, label, follows)
    return None


def qualities(tree: Tree, n: int) -> Sequence[str]:
    """What contradicts an adjective before its noun, or a colour there."""
    text = tree.words[n].text.lower()
    after = tree.words[n + 1] if n + 1 < len(tree.words) else None
    if after is None or after.tag not in ("NOUN", "ADJ", "PROPN"):
        return ()
    before = tree.words[n - 1].text.lower() if n else ""
    if text in COLOURS:
        return () if before in ("light", "dark", "bright", "and", "-") else sorted(COLOURS - {text})
    return QUALITIES.get(text, ())


def roles(tree: Tree) -> Iterable[list[Slot]]:
    """Two who do something to each other change places; two things exchange their colours or qualities."""
    words = tree.words
    heads = [
        n
        for n, word in enumerate(words)
        if word.tag == "NOUN"
        and tree.labels[n] in ("nsubj", "obj", "obl", "nsubj:pass", "ROOT", "nmod")
        and word.text.lower() not in VAGUE
        and "compound" not in [tree.labels[c] for c in tree.children(n)]
    ]
    for i, j in combinations(heads, 2):
        between = {word.text.lower() for word in words[i + 1 : j]}
        one, other = words[i], words[j]
        acts = any(word.tag == "VERB" for word in words[i + 1 : j]) or between & {
            "on",
            "behind",
            "under",
            "over",
        }
        if (
            acts
            and not between & SYMMETRIC
            and lemma(one) != lemma(other)
            and _animate(one.text)
            and _animate(other.text)
            and (lemma(one) == one.text.lower()) == (lemma(other) == other.text.lower())
        ):
            yield [(i, i + 1, other.text.lower()), (j, j + 1, one.text.lower())]
    for group in (COLOURS, frozenset(QUALITIES)):
        told = [n for n, word in enumerate(words) if word.text.lower() in group and qualities(tree, n)]
        for i, j in combinations(told, 2):
            first, second = words[i].text.lower(), words[j].text.lower()
            alike = words[i + 1].text.lower() == words[j + 1].text.lower()
            if second in qualities(tree, i) and not (alike and "and" in [word.text for word in words[i:j]]):
                yield [(i, i + 1, second), (j, j + 1, first)]


def _animate(text: str) -> bool:
    return text.lower() in ANIMALS or text.lower() in PEOPLE


def joined(tree: Tree, n: int, size: int) -> str:
    words = tree.words[n : n + size]
    return "_".join(word.text.lower() for word in words) if len(words) == size else ""
