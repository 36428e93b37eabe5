"""What a sentence says there is, as facts: objects, their attributes, and relations between them."""

from itertools import pairwise

from sightline.text.language import Parsed, Phrase
from sightline.text.wordnet import WordNet

Fact = tuple[str, ...]
"""(object), (object, attribute) or (object, relation, object), as lemmas."""
NOUNS, QUALITIES, LINKS = ("NOUN", "PROPN"), ("ADJ", "NUM"), ("VERB", "ADP")


def facts(parsed: Parsed) -> set[Fact]:
    """What a sentence says there is: a phrase's last noun is an object, the rest its attributes."""
    found: set[Fact] = set()
    heads: list[tuple[str, Phrase]] = []
    for phrase in parsed.phrases:
        nouns = [word.lemma.lower() for word in phrase.words if word.tag in NOUNS]
        if not nouns:
            continue
        head = nouns[-1]
        found.add((head,))
        found |= {(head, word.lemma.lower()) for word in phrase.words if word.tag in QUALITIES}
        found |= {(head, noun) for noun in nouns[:-1]}
        heads.append((head, phrase))
    for (head, phrase), (other, following) in pairwise(heads):
        between = [w for w in parsed.words if phrase.end <= w.start < following.start]
        found |= {(head, word.lemma.lower(), other) for word in between if word.tag in LINKS}
    acts = {word.lemma.lower() for word in parsed.words if word.tag == "VERB"}
    return found | {(heads[0][0], act) for act in acts if heads}


def matched(mine: set[Fact], theirs: set[Fact], wordnet: WordNet | None) -> int:
    """How many facts of one side the other has too, synonyms counted as equal."""
    exact = mine & theirs
    if wordnet is None:
        return len(exact)
    by_length: dict[int, list[Fact]] = {}
    for fact in theirs - exact:
        by_length.setdefault(len(fact), []).append(fact)
    alike = sum(
        any(_alike(fact, other, wordnet) for other in by_length.get(len(fact), ())) for fact in mine - exact
    )
    return len(exact) + alike


def _alike(one: Fact, other: Fact, wordnet: WordNet) -> bool:
    return all(a == b or not wordnet.of(a).isdisjoint(wordnet.of(b)) for a, b in zip(one, other, strict=True))
