"""What the three captions of a picture say, in the parts that a sentence is joined from."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, Protocol

from sightline.generate.compose.words import (
    FINITE,
    MASS,
    PERSONS,
    PLACES,
    PLURALS,
    PREPOSITIONS,
    PRONOUNS,
    VAGUE,
    agreeing,
    preposition,
    with_article,
)
from sightline.text.language import Tree, Word

SUBJECTS: Final = ("nsubj", "nsubj:pass", "nsubj:outer", "expl", "csubj")
FRAME: Final = re.compile(
    r"^(?:(?:the|this|that|a|an)\s+)?(?:(?:picture|photo|photograph|pic|image|shot|scene|it|this|that|place|location|"
    r"setting)s?\s+)?(?:(?:is|was|are|were|has been|seems to be|looks like|might be)\s+)?(?:being\s+)?"
    r"(?:(?:taken|took|shot|clicked|captured|set|photographed)\s+)?(?:of\s+)?(?=\S)",
    re.IGNORECASE,
)
"""`the picture is taken` and the like, which say nothing of the place."""
DOING: Final = re.compile(
    r"^(?:(?:he|she|they|it|(?:the\s+)?(?:subject|person|people|man|woman)s?)\s+)?(?:(?:is|are|was|were)\s+)?(?:just\s+)?"
    r"doing\s+(?:it|this|so|that)\b\s*",
    re.IGNORECASE,
)
"""`he is doing it`, before the reason itself."""
CONTRACTIONS: Final = (
    (r"\b(he|she|it|that|there|who|what)['’]s\b", r"\1 is"),
    (r"\b(they|we|you)['’]re\b", r"\1 are"),
    (r"\bi['’]m\b", "I am"),
    (r"^its (?=a |an |the |my |not |\w+ing\b|on |in |at )", "it is "),
    (r"^(the)ir (?=are )", r"\1re "),
)

Kind = Literal["clause", "gerund", "infinitive", "verb", "noun", "other"]


@dataclass(frozen=True)
class Clause:
    """Who does what; where nobody is named, in which form it is told."""

    kind: Kind
    subject: str
    head: str
    """The subject's noun or pronoun."""
    plural: bool
    predicate: str
    lead: str = ""
    """What stood before the subject."""


def cleaned(text: str) -> str:
    """One line without the end's punctuation, its contractions written out, begun as within a sentence."""
    line = " ".join(text.split()).strip(" .,;:!?-\"'“”").replace("’", "'")
    for pattern, full in CONTRACTIONS:
        line = re.sub(pattern, full, line, flags=re.IGNORECASE)
    line = re.sub(r"\s*([.;!?])\s+", ", ", line)
    first, _, rest = line.partition(" ")
    if first != "I" and not (len(first) > 1 and first.isupper()):
        first = first[:1].lower() + first[1:]
    return f"{first} {rest}".strip()


def read_clause(text: str, tree: Tree) -> Clause:
    """Of an action or a rationale, as `cleaned` leaves it; the tree is of this very text."""
    words = tree.words
    if not words:
        return Clause("other", "", "", False, text)
    subject = _subject(tree)
    if subject is not None:
        start, end = tree.span(subject)
        if start > 0 and not all(word.tag in ("ADV", "SCONJ", "CCONJ", "PUNCT") for word in words[:start]):
            return Clause("clause", "", words[subject].text, False, text)
        head = words[subject]
        plural = is_plural(head, tree, subject)
        named = text[words[start].start : words[end - 1].end]
        named = re.sub(r"^th(?:is|at)(?= )", "these", named) if plural else named
        rest = text[words[end - 1].end :].strip(" ,")  # after `there` the verb agrees with what follows it
        predicate = rest if head.text.lower() == "there" else finite(rest, words[end:], plural)
        return Clause("clause", named, head.text, plural, predicate, text[: words[start].start])
    first = next((word for word in words if word.tag not in ("ADV", "PUNCT")), words[0])
    low = first.text.lower()
    if low == "to" and len(words) > 1:
        return Clause("infinitive", "", "", False, text)
    acted = _acted(text, tree)
    if acted is not None:
        return acted
    if low.endswith("ing") and first.tag in ("VERB", "AUX", "NOUN") and first is words[_root(tree)]:
        return Clause("gerund", "", "", False, text)
    if low in FINITE or (first.tag == "VERB" and low != first.lemma and low.endswith("s")):
        return Clause("verb", "", "", low in ("are", "were", "have", "do"), text)
    if first.tag == "VERB" or low.endswith("ing"):
        return Clause("gerund" if low.endswith("ing") else "verb", "", "", True, text)
    root = words[_root(tree)]
    return Clause("noun" if root.tag in ("NOUN", "PROPN", "PRON") else "other", "", root.text, False, text)


def _subject(tree: Tree) -> int | None:
    root = _root(tree)
    found = [child for child in tree.children(root) if tree.labels[child] in SUBJECTS and child < root]
    return found[0] if found else None


def _root(tree: Tree) -> int:
    return next((place for place, label in enumerate(tree.labels) if label == "ROOT"), 0)


def _acted(text: str, tree: Tree) -> Clause | None:
    """`a man eating pizza`: a noun with what it does behind it."""
    root, words = _root(tree), tree.words
    if words[root].tag not in ("NOUN", "PROPN", "PRON"):
        return None
    for child in tree.children(root):
        verb = words[child]
        if child > root and tree.labels[child] == "acl" and verb.text.lower().endswith("ing"):
            start = tree.span(child)[0]
            subject = text[: words[start].start].strip(" ,")
            plural = is_plural(words[root], tree, root)
            return Clause(
                "clause", subject, words[root].text, plural, f"{_be(plural)} {text[words[start].start :]}"
            )
    return None


def is_plural(head: Word, tree: Tree, place: int) -> bool:
    word = head.text.lower()
    if word in PRONOUNS:
        return PRONOUNS[word]
    if head.tag == "NUM":
        return word not in ("one", "1")
    joined = any(tree.labels[child] == "conj" for child in tree.children(place))
    counted = any(
        tree.labels[child] == "nummod" and tree.words[child].text.lower() not in ("one", "1")
        for child in tree.children(place)
    )
    many = any(tree.words[child].text.lower() in ("these", "those", "many") for child in tree.children(place))
    formed = word in PLURALS or word.endswith("men") or (word.endswith("s") and head.lemma.lower() != word)
    return joined or counted or many or formed


def _be(plural: bool) -> str:
    return "are" if plural else "is"


def finite(predicate: str, words: tuple[Word, ...], plural: bool) -> str:
    """The predicate with its first verb as the subject needs it; `is` where it had none."""
    offset = words[0].start if words else 0
    for word in words:
        low = word.text.lower()
        if word.tag in ("ADV", "PUNCT") or low in ("not", "all", "both"):
            continue
        if low in FINITE or (word.tag in ("VERB", "AUX") and not low.endswith("ing")):
            start = word.start - offset - (len(words[0].text) if words[0].tag == "PUNCT" else 0)
            start = predicate.find(word.text, max(0, start - 1))
            if start < 0:
                return predicate
            form = agreeing(word.text, word.lemma.lower(), plural, word.tag)
            return predicate[:start] + form + predicate[start + len(word.text) :]
        return f"{_be(plural)} {predicate}"
    return f"{_be(plural)} {predicate}".strip()


def read_place(text: str, tree_of: "TreeOf") -> tuple[str, Clause | None]:
    """The scene as what can follow a clause (`in a car`), and its own clause where it tells who is there."""
    bare = FRAME.sub("", text, count=1).strip() or text
    bare = re.sub(r"^in ?side\b", "inside", bare, flags=re.IGNORECASE)
    first = re.sub(r"\W+$", "", bare.split()[0].lower())
    if first in PREPOSITIONS or first in PLACES or bare.lower().startswith(("out ", "next to", "in front")):
        return bare, None
    tree = tree_of(bare)
    clause = read_clause(bare, tree)
    if clause.kind == "clause" and clause.subject:
        rest = re.sub(r"^(?:is|are|was|were)\s+(?:all\s+)?", "", clause.predicate)
        begins = rest.split()[0].lower() if rest else ""
        if begins in PREPOSITIONS or begins in PLACES:
            return rest, clause
        return f"while {clause.lead}{clause.subject} {clause.predicate}", clause
    if clause.kind == "gerund":
        return f"while {bare}", None
    root = tree.words[_root(tree)]
    if root.text.lower() in PERSONS or root.text.lower() in PLURALS:
        return f"with {bare}", None
    return f"{preposition(root.text)} {_determined(bare, tree, root)}", None


def _determined(phrase: str, tree: Tree, root: Word) -> str:
    """The phrase with an article, where it is one thing and has none."""
    first = tree.words[0]
    if first.tag in ("DET", "PRON", "NUM") or (first.tag == "PROPN" and first.text[0].isupper()):
        return phrase
    noun = root.text.lower()
    if (
        noun in MASS
        or (noun.endswith("s") and root.lemma.lower() != noun)
        or root.tag not in ("NOUN", "PROPN", "ADJ")
    ):
        return phrase
    return with_article(phrase)


def read_reason(text: str, tree_of: "TreeOf") -> Clause | str:
    """The rationale: with its connective where it has one, else as a clause."""
    bare = re.sub(r"^(?:maybe|probably|perhaps|may be)\s+", "", text, flags=re.IGNORECASE)
    bare = DOING.sub("", bare, count=1).strip() or bare
    low = f"{bare.lower()} "
    if low.startswith(("so that ", "so ")):
        rest = re.sub(r"^so (?:that )?", "", bare, flags=re.IGNORECASE)
        return f"so that {_mended(rest, tree_of)}"
    for word in ("because of ", "due to ", "in order to ", "for ", "to ", "just for ", "just to "):
        if low.startswith(word):
            return bare
    for word in ("because ", "since ", "as ", "while ", "after "):
        if low.startswith(word):
            rest = bare[len(word) :]
            found = read_clause(rest, tree_of(rest))
            if found.kind == "clause":
                return f"{word}{_mended(rest, tree_of)}"
            return bare if word in ("as ", "while ", "after ") else found
    return read_clause(bare, tree_of(bare))


def _mended(text: str, tree_of: "TreeOf") -> str:
    found = read_clause(text, tree_of(text))
    return f"{found.lead}{found.subject} {found.predicate}" if found.subject else text


def is_vague(clause: Clause) -> bool:
    return clause.head.lower() in VAGUE and len(clause.subject.split()) <= 2


def spoken_of(clause: Clause, pronoun: str, plural: bool, tree_of: "TreeOf") -> Clause:
    """The clause told of this pronoun, its verb with it."""
    tree = tree_of(f"{pronoun} {clause.predicate}")
    words = tree.words[1:]
    predicate = finite(clause.predicate, words, plural)
    return replace(clause, subject=pronoun, head=pronoun, plural=plural, predicate=predicate)


class Trees(Protocol):
    def trees(self, sentences: Sequence[str]) -> list[Tree]: ...


class TreeOf:
    """Trees by text, each parsed once."""

    def __init__(self, language: Trees) -> None:
        self._language = language
        self._known: dict[str, Tree] = {}

    def __call__(self, text: str) -> Tree:
        if text not in self._known:
            (self._known[text],) = self._language.trees([text])
        return self._known[text]

    def ahead(self, texts: list[str]) -> None:
        """Parse these together, which is quicker."""
        missing = [text for text in dict.fromkeys(texts) if text not in self._known]
        self._known.update(zip(missing, self._language.trees(missing), strict=True))
