"""True captions made false by one exchange: a noun, verb, adjective, number or relation, or two roles.

What is put in is drawn from words that stand in the same place in other captions; it must not be said of the picture, nor mean
the same as what it replaces. Numbers agree and articles are mended, so that the wording does not give it away.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sightline.text.language import Tree
from sightline.train.together.trigrams import Trigrams, runs
from sightline.train.together.words import (
    COLOURS,
    NUMBERS,
    PEOPLE,
    QUALITIES,
    RELATIONS,
    SEXES,
    SYMMETRIC,
    VAGUE,
    WEAK_VERBS,
    apart,
)

Kind = Literal["noun", "verb", "adjective", "number", "relation", "roles"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
Slot = tuple[int, int, str]
"""First and last (exclusive) word, and what is put there."""

TOO_ALIKE = 0.45
"""Cosine of two words, said alone, from which on one may be true where the other is."""
TOO_OFTEN = 4.0
"""How many times more often than by chance two words are said of one picture that may mean the same thing on it."""
FEWEST = 8
"""Times a word must be said in all captions to be put in."""
TRIED = 8
ODD = -7.0
"""A wording that is so much less usual than the truth gives itself away."""
IRREGULAR: Final = {"men": "man", "women": "woman", "children": "child", "people": "person", "feet": "foot"}


@dataclass(frozen=True)
class Exchanged:
    """A caption that is false in one thing."""

    text: str
    kind: Kind
    places: tuple[tuple[int, int], ...]
    """Characters of what was put in."""
    gain: float
    """How much more usual its wording is than the true caption's (log-probability): a blind reader goes by it."""


Likeness = Callable[[Sequence[str]], NDArray[np.float32]]
"""Vectors of unit length for words said alone."""


class Exchanger:
    """Learns from parsed captions what stands where; then makes captions false."""

    def __init__(
        self, trees: Mapping[str, Tree], pictures: Sequence[Sequence[str]], likeness: Likeness, seed: int = 0
    ) -> None:
        self._trees = trees
        self._rng = np.random.default_rng(seed)
        groups = [[trees[text] for text in said if text in trees] for said in pictures]
        self._learned = {text for said in pictures for text in said if text in trees}
        self.usual = Trigrams([word.text for word in tree.words] for said in groups for tree in said)
        self._by_place: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        self._lemma: dict[str, str] = {}
        self._times: Counter[str] = Counter()
        self._together: Counter[tuple[str, str]] = Counter()
        self._pictures = max(1, len(groups))
        for said in groups:
            for tree in said:
                self._learn(tree)
            kinds = sorted({lemma(word) for tree in said for word in tree.words if word.tag in ("NOUN", "VERB")})
            self._times.update(kinds)
            self._together.update(combinations(kinds, 2))
        words = sorted({word for counts in self._by_place.values() for word in counts} | set(self._lemma.values()))
        self._row = {word: number for number, word in enumerate(words)}
        self._vectors = likeness(words)
        self._drawn = {place: _shares(counts) for place, counts in self._by_place.items()}

    def falsified(self, text: str, said: Iterable[str], kinds: Sequence[Kind] = KINDS) -> list[Exchanged]:
        """At most one exchange of each kind, where the caption has something to exchange; `said` are the picture's own."""
        tree = self._trees[text]
        own = {form for other in said if other in self._trees for w in self._trees[other].words for form in (w.text.lower(), lemma(w))}
        true = [word.text for word in tree.words]
        known = Counter(runs(true)) if text in self._learned else Counter()
        usual = self.usual.log_probability(true, known)
        found = []
        for kind in kinds:
            tried = []
            for slots in self._slots(tree, kind, own):
                gain = self.usual.log_probability(list(_put(true, slots)), known) - usual
                tried.append(_made(text, tree, kind, slots, gain))
            if kept := [one for one in tried if one.gain > ODD]:
                found.append(self._chosen(kept))
        return found

    def _chosen(self, tried: list[Exchanged]) -> Exchanged:
        """More usual than the truth as often as less, as far as there is a choice."""
        usual, unusual = [t for t in tried if t.gain > 0], [t for t in tried if t.gain <= 0]
        if usual and (not unusual or self._rng.random() < 0.5):
            return usual[self._rng.integers(len(usual))]
        nearest = sorted(unusual, key=lambda one: -one.gain)[:2]
        return nearest[self._rng.integers(len(nearest))]

    def _slots(self, tree: Tree, kind: Kind, own: set[str]) -> list[list[Slot]]:
        if kind == "roles":
            return self._some(list(_roles(tree)))
        found: list[list[Slot]] = []
        for n, word in enumerate(tree.words):
            text = word.text.lower()
            if kind in ("noun", "verb"):
                found += [[(n, n + 1, new)] for new in self._replacements(tree, n, kind, own)]
            elif kind == "number" and text in NUMBERS:
                found += [[(n, n + 1, new)] for new in NUMBERS[:5] if new != text and new not in own]
            elif kind == "adjective":
                found += [[(n, n + 1, new)] for new in _qualities(tree, n) if new not in own]
            elif kind == "relation":
                size = 3 if _joined(tree, n, 3) in RELATIONS else 2 if _joined(tree, n, 2) in RELATIONS else 1
                if size > 1 or (word.tag == "ADP" and tree.labels[n] in ("case", "compound:prt", "advmod")):
                    found += [[(n, n + size, new)] for new in RELATIONS.get(_joined(tree, n, size), ())]
        return self._some(found)

    def _some(self, found: list[list[Slot]]) -> list[list[Slot]]:
        return [found[n] for n in self._rng.permutation(len(found))[:TRIED]]

    def _replacements(self, tree: Tree, n: int, kind: str, own: set[str]) -> list[str]:
        place = _place(tree, n)
        if place is None or place[0] != kind:
            return []
        drawn = self._drawn.get(place) or self._drawn.get(place[:-1])
        if drawn is None:
            return []
        old, was = tree.words[n].text.lower(), lemma(tree.words[n])
        tried = self._rng.choice(drawn[0], min(len(drawn[0]), TRIED), replace=False, p=drawn[1])
        return [str(new) for new in tried if self._false(str(new), old, was, own)]

    def _false(self, new: str, old: str, was: str, own: set[str]) -> bool:
        """Whether a word is not said of the picture, and does not mean what it replaces."""
        kind = self._lemma.get(new, new)
        if new in own or kind in own or not apart(old, new):
            return False
        if old in SEXES and new in SEXES:
            return True
        alike = float(self._vectors[self._row[new]] @ self._vectors[self._row[old]]) if old in self._row else 0.0
        pair = (min(was, kind), max(was, kind))
        chance = self._times[was] * self._times[kind] / self._pictures
        return alike < TOO_ALIKE and self._together[pair] < TOO_OFTEN * chance + 3

    def _learn(self, tree: Tree) -> None:
        for n, word in enumerate(tree.words):
            place = _place(tree, n)
            text = word.text.lower()
            if place is not None and text.isalpha():
                self._by_place[place][text] += 1
                self._by_place[place[:-1]][text] += 1
                self._lemma.setdefault(text, lemma(word))


def _made(text: str, tree: Tree, kind: Kind, slots: Sequence[Slot], gain: float) -> Exchanged:
    words = tree.words
    places, shift, out = [], 0, text
    for first, last, new in sorted(slots):
        before = words[first - 1] if first else None
        start, end = words[first].start + shift, words[last - 1].end + shift
        if before is not None and before.text.lower() in ("a", "an"):
            article = _article(before.text, new)
            begin = before.start + shift
            out = out[:begin] + article + out[begin + len(before.text) :]
            moved = len(article) - len(before.text)
            start, end, shift = start + moved, end + moved, shift + moved
        if words[first].text[:1].isupper():
            new = new[:1].upper() + new[1:]
        out = out[:start] + new + out[end:]
        places.append((start, start + len(new)))
        shift += len(new) - (end - start)
    return Exchanged(out, kind, tuple(places), gain)


def lemma(word: object) -> str:
    """A word's lemma, lower-cased."""
    text = str(getattr(word, "lemma", "")).lower()
    return IRREGULAR.get(text, text)


def _place(tree: Tree, n: int) -> tuple[str, ...] | None:
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


def _qualities(tree: Tree, n: int) -> Sequence[str]:
    """What contradicts an adjective before its noun, or a colour there."""
    text = tree.words[n].text.lower()
    after = tree.words[n + 1] if n + 1 < len(tree.words) else None
    if after is None or after.tag not in ("NOUN", "ADJ", "PROPN"):
        return ()
    before = tree.words[n - 1].text.lower() if n else ""
    if text in COLOURS:
        return () if before in ("light", "dark", "bright", "and", "-") else sorted(COLOURS - {text})
    return QUALITIES.get(text, ())


def _roles(tree: Tree) -> Iterable[list[Slot]]:
    """Two who do something to each other change places; two things exchange their colours or qualities."""
    words = tree.words
    heads = [
        n
        for n, word in enumerate(words)
        if word.tag == "NOUN" and tree.labels[n] in ("nsubj", "obj", "obl", "nsubj:pass", "ROOT", "nmod")
        and word.text.lower() not in VAGUE and "compound" not in [tree.labels[c] for c in tree.children(n)]
    ]
    for i, j in combinations(heads, 2):
        between = {word.text.lower() for word in words[i + 1 : j]}
        one, other = words[i], words[j]
        acts = any(word.tag == "VERB" for word in words[i + 1 : j]) or between & {"on", "behind", "under", "over"}
        if (
            acts and not between & SYMMETRIC and lemma(one) != lemma(other)
            and _animate(one.text) and _animate(other.text) and (lemma(one) == one.text.lower()) == (lemma(other) == other.text.lower())
        ):
            yield [(i, i + 1, other.text.lower()), (j, j + 1, one.text.lower())]
    for group in (COLOURS, frozenset(QUALITIES)):
        told = [n for n, word in enumerate(words) if word.text.lower() in group and _qualities(tree, n)]
        for i, j in combinations(told, 2):
            one, other = words[i].text.lower(), words[j].text.lower()
            same = words[i + 1].text.lower() == words[j + 1].text.lower() and any(w.text == "and" for w in words[i:j])
            if (other in _qualities(tree, i)) and not same:
                yield [(i, i + 1, other), (j, j + 1, one)]


ANIMALS: Final = frozenset(
    """dog dogs puppy puppies cat cats kitten horse horses cow cows bull sheep lamb goat elephant elephants giraffe
    giraffes zebra zebras bear bears bird birds duck ducks goose geese monkey fox deer camel donkey pig lion tiger""".split()
)


def _animate(text: str) -> bool:
    return text.lower() in ANIMALS or text.lower() in PEOPLE


def _joined(tree: Tree, n: int, size: int) -> str:
    words = tree.words[n : n + size]
    return "_".join(word.text.lower() for word in words) if len(words) == size else ""


def _put(words: Sequence[str], slots: Sequence[Slot]) -> Iterable[str]:
    """The words with what is put in, articles mended."""
    new = {first: (last, text.split()) for first, last, text in slots}
    n = 0
    while n < len(words):
        if n in new:
            last, text = new[n]
            yield from text
            n = last
        else:
            follows = new.get(n + 1)
            yield _article(words[n], follows[1][0]) if follows and words[n].lower() in ("a", "an") else words[n]
            n += 1


def _article(was: str, new: str) -> str:
    """`a` or `an`, with the capital it had."""
    vowel = new[:1].lower() in "aeiou" and not new.lower().startswith(("uni", "use", "one", "eu", "ut"))
    found = "an" if vowel else "a"
    return found.capitalize() if was[:1].isupper() else found


def _shares(counts: Counter[str]) -> tuple[NDArray[np.str_], NDArray[np.float64]] | None:
    """Words and how often each is drawn: the frequent ones less than they are said."""
    kept = {
        word: times**0.75
        for word, times in counts.items()
        if times >= 2 and word not in VAGUE and word not in ("person", "people")
    }
    if len(kept) < FEWEST:
        return None
    weight = np.array([*kept.values()])
    return np.array([*kept]), weight / weight.sum()
