"""True captions made false by one exchange: a noun, verb, adjective, number or relation, or two roles.

What is put in is drawn from words that stand in the same place in other captions; it must not be said of the picture,
nor mean the same as what it replaces. Numbers agree and articles are mended, so that the wording does not give it away.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sightline.text.language import Tree
from sightline.train.together.slots import Slot, joined, lemma, place_of, qualities, roles
from sightline.train.together.trigrams import Trigrams, runs
from sightline.train.together.words import (
    NUMBERS,
    RELATIONS,
    SEXES,
    VAGUE,
    apart,
)

Kind = Literal["noun", "verb", "adjective", "number", "relation", "roles"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

TOO_ALIKE = 0.45
"""Cosine of two words, said alone, from which on one may be true where the other is."""
TOO_OFTEN = 4.0
"""How many times more often than by chance two words are said of one picture that may mean the same thing on it."""
FEWEST = 8
"""Times a word must be said in all captions to be put in."""
TRIED = 8
ODD = -7.0
"""A wording that is so much less usual than the truth gives itself away."""


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
            kinds = sorted(
                {lemma(word) for tree in said for word in tree.words if word.tag in ("NOUN", "VERB")}
            )
            self._times.update(kinds)
            self._together.update(combinations(kinds, 2))
        words = sorted(
            {word for counts in self._by_place.values() for word in counts} | set(self._lemma.values())
        )
        self._row = {word: number for number, word in enumerate(words)}
        self._vectors = likeness(words)
        self._drawn = {place: _shares(counts) for place, counts in self._by_place.items()}

    def falsified(self, text: str, said: Iterable[str], kinds: Sequence[Kind] = KINDS) -> list[Exchanged]:
        """At most one exchange of each kind, where there is something to exchange; `said` are the picture's own."""
        tree = self._trees[text]
        own = {
            form
            for other in said
            if other in self._trees
            for w in self._trees[other].words
            for form in (w.text.lower(), lemma(w))
        }
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
            return self._some(list(roles(tree)))
        found: list[list[Slot]] = []
        for n, word in enumerate(tree.words):
            text = word.text.lower()
            if kind in ("noun", "verb"):
                found += [[(n, n + 1, new)] for new in self._replacements(tree, n, kind, own)]
            elif kind == "number" and text in NUMBERS:
                found += [[(n, n + 1, new)] for new in NUMBERS[:5] if new != text and new not in own]
            elif kind == "adjective":
                found += [[(n, n + 1, new)] for new in qualities(tree, n) if new not in own]
            elif kind == "relation":
                size = 3 if joined(tree, n, 3) in RELATIONS else 2 if joined(tree, n, 2) in RELATIONS else 1
                if size > 1 or (word.tag == "ADP" and tree.labels[n] in ("case", "compound:prt", "advmod")):
                    found += [[(n, n + size, new)] for new in RELATIONS.get(joined(tree, n, size), ())]
        return self._some(found)

    def _some(self, found: list[list[Slot]]) -> list[list[Slot]]:
        return [found[n] for n in self._rng.permutation(len(found))[:TRIED]]

    def _replacements(self, tree: Tree, n: int, kind: str, own: set[str]) -> list[str]:
        place = place_of(tree, n)
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
        alike = (
            float(self._vectors[self._row[new]] @ self._vectors[self._row[old]]) if old in self._row else 0.0
        )
        pair = (min(was, kind), max(was, kind))
        chance = self._times[was] * self._times[kind] / self._pictures
        return alike < TOO_ALIKE and self._together[pair] < TOO_OFTEN * chance + 3

    def _learn(self, tree: Tree) -> None:
        for n, word in enumerate(tree.words):
            place = place_of(tree, n)
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
            yield (
                _article(words[n], follows[1][0]) if follows and words[n].lower() in ("a", "an") else words[n]
            )
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
