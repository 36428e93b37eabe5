"""The three parts in one sentence: subject found and shared, verbs made to agree, connectives chosen."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sightline.generate.compose.grammar import faults
from sightline.generate.compose.reading import (
    Clause,
    TreeOf,
    cleaned,
    is_vague,
    read_clause,
    read_place,
    read_reason,
    spoken_of,
)
from sightline.generate.compose.words import MASS, PREPOSITIONS, PRONOUNS, pronoun_of, with_article
from sightline.generate.kept import Sources, lost
from sightline.text.spacy_language import SpacyLanguage, load_language

AFTER = 9
"""Words of a clause that a place may follow; a longer one gets it in front."""


@dataclass(frozen=True)
class Composed:
    """One sentence, what it lost of its sources, and what our pipeline finds wrong with it."""

    text: str
    lost: tuple[str, ...]
    faults: tuple[str, ...]


@dataclass(frozen=True)
class Whom:
    """Who a sentence is about."""

    name: str
    pronoun: str
    takes_plural: bool
    """Whether the pronoun's verb has the plural's form: a person may be `they`."""
    many: bool
    person: bool


def _whom(clause: Clause, said: str) -> Whom:
    head = clause.head.lower()
    if head in PRONOUNS:
        return Whom(clause.subject, clause.subject, clause.plural, clause.plural, head != "it")
    pronoun, plural = _gendered(*pronoun_of(head, clause.plural), clause.plural, said)
    return Whom(clause.subject, pronoun, plural, clause.plural, pronoun != "it")


def _gendered(pronoun: str, plural: bool, many: bool, said: str) -> tuple[str, bool]:
    """`he` or `she` for one person, where the captions speak so."""
    if pronoun != "they" or many:
        return pronoun, plural
    kinds = {
        kind
        for kind, words in (("he", r"\b(he|his|him)\b"), ("she", r"\b(she|her|hers)\b"))
        if re.search(words, said)
    }
    return (kinds.pop(), False) if len(kinds) == 1 else (pronoun, plural)


class Composer:
    """Joins scenes, actions and rationales; the same three always give the same sentence."""

    def __init__(self, language: SpacyLanguage | None = None) -> None:
        self._language = language or load_language("embedded")
        self._trees = TreeOf(self._language)

    @property
    def signature(self) -> str:
        return f"compose|nlp={self._language.signature}"

    def compose(self, given: Sequence[Sources]) -> list[Composed]:
        """A sentence for each three."""
        self._trees.ahead([cleaned(text) for one in given for text in (one.action, one.rationale)])
        return [self._one(sources) for sources in given]

    def _one(self, sources: Sources) -> Composed:
        """The first arrangement that is grammatical and keeps all; else the one with the fewest faults."""
        best: Composed | None = None
        for text in dict.fromkeys(self._arrangements(sources)):
            (tree,) = self._language.trees([text])
            (gone,) = lost([sources], [text], self._language)
            found = Composed(text, gone, tuple(faults(tree)))
            if not found.lost and not found.faults:
                return found
            if best is None or len(found.lost) + len(found.faults) < len(best.lost) + len(best.faults):
                best = found
        assert best is not None
        return best

    def _arrangements(self, sources: Sources) -> Iterator[str]:
        action = read_clause(cleaned(sources.action), self._trees(cleaned(sources.action)))
        place, there = read_place(cleaned(sources.scene), self._trees)
        reason = read_reason(cleaned(sources.rationale), self._trees)
        said = " ".join((sources.action, sources.rationale, sources.scene)).lower()
        whom = self._shared(action, reason, there, said)
        main = self._main(action, whom)
        why = self._why(reason, whom)
        if _says(main, place):
            place = ""
        after, before = f"{main} {place} {why}", f"{place}, {main} {why}" if place else f"{main} {why}"
        long = len(main.split()) > AFTER or "," in main or re.search(r"\b(to|that|because|while|and)\b", main)
        yield from map(_written, (before, after) if long or place.startswith("with") else (after, before))
        split = f"{main} {place}".strip()
        told = re.sub(r"^(?:because|since)\s+", "", why)
        if told != why:
            yield _written(f"{split}, as {told}")
            yield _written(f"{split}: {told}")
            yield _written(f"as {told}, {split}")

    def _shared(self, action: Clause, reason: Clause | str, there: Clause | None, said: str) -> Whom:
        """Whom it is told of: named by the action, else by the rationale or the scene."""
        if action.subject:
            return _whom(action, said)
        for other in (reason, there):
            if isinstance(other, Clause) and other.subject:
                head = other.head.lower()
                if head in ("he", "she", "they") or (head not in PRONOUNS and is_vague(other)):
                    return _whom(other, said)
        named = re.search(r"\b(he|she|they)\b", reason) if isinstance(reason, str) else None
        if named:
            return Whom(named[1], named[1], PRONOUNS[named[1]], PRONOUNS[named[1]], True)
        if action.kind == "verb" and action.plural:
            return Whom("they", "they", True, True, True)
        return Whom("the person", *_gendered("they", True, False, said), False, True)

    def _main(self, action: Clause, whom: Whom) -> str:
        """The action as a clause of its own."""
        if action.kind == "clause":
            return f"{action.lead}{action.subject} {action.predicate}" if action.subject else action.predicate
        be = "are" if whom.many else "is"
        if action.kind == "gerund":
            return f"{whom.name} {be} {action.predicate}"
        if action.kind == "infinitive":
            return f"{whom.name} {be} there {action.predicate}"
        if action.kind == "verb":
            spoken = whom.name if whom.name.lower() in PRONOUNS else "they" if whom.many else "he"
            return f"{whom.name} {spoken_of(action, spoken, whom.many, self._trees).predicate}"
        if action.kind == "noun":
            return self._there(action)
        return f"{whom.name} {be} {action.predicate}"

    def _there(self, action: Clause) -> str:
        """`a baseball game` as `there is a baseball game`."""
        words = self._trees(action.predicate).words
        root = next((word for word in words if word.text == action.head), words[0])
        noun = root.text.lower()
        many = noun.endswith("s") and root.lemma.lower() != noun
        named = words[0].tag in ("DET", "PRON", "NUM", "PROPN") or many
        bare = named or noun in MASS or noun.endswith(("ing", "ball", "tennis"))
        phrase = action.predicate if bare else with_article(action.predicate)
        return f"there {'are' if many else 'is'} {phrase}"

    def _why(self, reason: Clause | str, whom: Whom) -> str:
        """The rationale with what connects it."""
        if isinstance(reason, str):
            return reason
        pronoun, plural = whom.pronoun, whom.takes_plural
        if reason.kind == "clause":
            if not reason.subject:
                return f"because {reason.predicate}"
            alike = is_vague(reason) and whom.person and reason.plural == whom.many
            if reason.head.lower() not in PRONOUNS and (alike or reason.subject.lower() == whom.name.lower()):
                reason = spoken_of(reason, pronoun, plural, self._trees)
            return f"because {reason.lead}{reason.subject} {reason.predicate}"
        if reason.kind == "infinitive":
            return reason.predicate
        be = "are" if plural else "is"
        if reason.kind == "gerund":
            return f"because {pronoun} {be} {reason.predicate}"
        if reason.kind == "verb":
            if reason.plural and reason.predicate.split()[0].lower() not in ("are", "were", "have", "do"):
                return f"to {reason.predicate}"  # `have fun`
            told = spoken_of(reason, pronoun, plural, self._trees)
            return f"because {pronoun} {told.predicate}"
        first = reason.predicate.split()[0].lower() if reason.predicate else ""
        if reason.kind == "noun" and first not in PREPOSITIONS:
            return f"for {reason.predicate}"
        return f"because {pronoun} {be} {reason.predicate}"


def _says(main: str, place: str) -> bool:
    """Whether the clause has told the place already: `he is standing inside the restaurant`, `in the restaurant`."""
    told = {word for word in re.findall(r"\w+", main.lower()) if word not in ("the", "a", "an")}
    words = [
        word for word in re.findall(r"\w+", place.lower()) if word not in ("the", "a", "an", *PREPOSITIONS)
    ]
    return bool(words) and set(words) <= told


def _written(parts: str) -> str:
    """As one sentence: a capital, a full stop, no blank too many."""
    line = re.sub(r"\s+([,.:;])", r"\1", " ".join(parts.split())).strip(" ,")
    line = re.sub(r",\s*,", ",", line)
    line = re.sub(r"\bi\b", "I", line)
    line = re.sub(r"\b([Aa]) (?=[aeio])(?!one\b|once\b|eu)", r"\1n ", line)
    return f"{line[:1].upper()}{line[1:]}."
