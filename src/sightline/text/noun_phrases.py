"""Noun phrases from Universal Dependencies trees, cut as spaCy cuts its English noun chunks.

A phrase runs from the first word that determines or describes its noun to the noun itself, and over names
that follow it. Prepositions, relative clauses and trailing phrases stay out.
"""

from collections.abc import Iterator

from spacy.tokens import Doc, Token

HEADS = frozenset({"NOUN", "PROPN", "PRON"})

INSIDE = frozenset(
    {
        *("det", "det:predet", "amod", "compound", "nummod", "nmod:poss", "nmod:desc", "nmod:unmarked"),
        *("flat", "goeswith", "reparandum", "advmod", "punct"),
    }
)
"""Relations of words on the left of a noun that belong to its phrase."""

NOT_FIRST = frozenset({"advmod", "punct"})
"""Those that belong to it only behind one of the others: "even the kids" is the phrase "the kids"."""

NO_PHRASE = frozenset(
    {"det", "det:predet", "compound", "nmod:poss", "flat", "fixed", "goeswith", "expl", "amod"}
)
"""Relations of a noun or pronoun that is no phrase of its own, but part of a larger one or a placeholder."""

FOCUS = frozenset({"also", "even", "just", "only", "still", "then", "too"})
"""Adverbs that speak of the whole sentence, wherever a parser hangs them."""

AFTER = frozenset({"flat", "goeswith", "fixed"})
"""Relations of words on the right that continue a name or a word written in two."""


def noun_phrases(doc: Doc) -> Iterator[tuple[int, int]]:
    """First token and end (exclusive) of each noun phrase, in order, none within another."""
    spans = [phrase(word) for word in doc if word.pos_ in HEADS and word.dep_ not in NO_PHRASE]
    last = 0
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if start >= last:
            yield start, end
            last = end


def phrase(head: Token) -> tuple[int, int]:
    """The phrase around its noun: whole branches on the left as long as they touch, a name on the right."""
    start, end, touching = head.i, head.i + 1, head.i
    for child in reversed(list(head.lefts)):
        if child.dep_ not in INSIDE or child.right_edge.i + 1 != touching:
            break
        touching = child.left_edge.i
        if child.dep_ not in NOT_FIRST:
            start = touching
    while start < head.i and head.doc[start].lower_ in FOCUS:
        start += 1
    for child in head.rights:
        if child.dep_ not in AFTER or child.i != end:
            break
        end = child.right_edge.i + 1
    return start, end
