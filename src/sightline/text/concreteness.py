"""How concrete words and phrases are, 1 (abstract) to 5 (concrete): from ratings, or learned and embedded."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from sightline.errors import BadLine, UsageError
from sightline.io.source import Source
from sightline.resources import Resource, embedded, shared
from sightline.text.language import Word
from sightline.text.lexicon import HIGHEST, LOWEST, LearnedLexicon, WordRating

UNRATED = 1.0
"""The weight of a phrase none of whose words has a rating."""


class Lexicon(Protocol):
    """Words to ratings; None for what is not a word it can rate."""

    def rate(self, word: str) -> WordRating | None: ...
    def knows(self, word: str) -> bool:
        """Whether most people know the word: no name, no fragment, no misspelling. Only such words weigh."""
        ...


class RatedWords:
    """Ratings as people gave them."""

    def __init__(self, ratings: Mapping[str, float]) -> None:
        self._ratings = ratings

    def rate(self, word: str) -> WordRating | None:
        value = self._ratings.get(word)
        return None if value is None else WordRating(value, 0.0)

    def knows(self, word: str) -> bool:
        return word in self._ratings


class Concreteness:
    """Concreteness of words and phrases by the published rule."""

    def __init__(self, lexicon: Lexicon, resource: Resource) -> None:
        self._lexicon = lexicon
        self.resource = resource

    @property
    def signature(self) -> str:
        return self.resource.digest

    @classmethod
    def from_file(cls, path: Path) -> "Concreteness":
        """Ratings from `word;rating` lines (also comma or tab), or a lexicon of `sightline train concreteness`."""
        if path.suffix == ".npz":
            return cls._learned(Resource.file(path))
        ratings = ratings_from(path)
        return cls(RatedWords(ratings), Resource.file(path))

    @classmethod
    def embedded(cls) -> "Concreteness":
        """The lexicon that Sightline learned: every word has a value."""
        return cls._learned(embedded("concreteness", "lexicon.npz"))

    @classmethod
    def _learned(cls, resource: Resource) -> "Concreteness":
        return cls(LearnedLexicon.from_file(resource.files[0][1]), resource)

    def of_word(self, word: str, lemma: str | None = None) -> WordRating | None:
        """The word's rating, or else its lemma's."""
        found = self._lexicon.rate(word.lower())
        return self._lexicon.rate(lemma.lower()) if found is None and lemma else found

    def of_phrase(self, words: Sequence[Word]) -> float:
        """The mean over the words that are known, as they stand or as their lemma; 1 where none is."""
        forms = [self._known_form(word) for word in words]
        rated = [found.value for form in forms if form and (found := self._lexicon.rate(form))]
        return sum(rated) / len(rated) if rated else UNRATED

    def _known_form(self, word: Word) -> str | None:
        forms = (word.text.lower(), word.lemma.lower())
        return next((form for form in forms if form and self._lexicon.knows(form)), None)


@shared
def load_concreteness(path: Path | None = None) -> Concreteness:
    """The embedded lexicon, or the ratings in a file."""
    return Concreteness.from_file(path) if path else Concreteness.embedded()


PUBLISHED_COLUMN = "conc.m"
"""The column of mean ratings in the file of Brysbaert et al. (2014): `Word Bigram Conc.M Conc.SD …`, with tabs."""


def ratings_from(path: Path) -> dict[str, float]:
    """Words and their ratings from a file, each line checked: `word;rating`, or Brysbaert's own table."""
    source = Source(path)
    ratings: dict[str, float] = {}
    column = 1
    for number, data in source.lines():
        if isinstance(data, BadLine):
            raise data
        try:
            line = data.decode().strip()
        except UnicodeDecodeError:
            raise BadLine(source.where(number), "not UTF-8; save the file as UTF-8") from None
        mark = next((mark for mark in ";\t," if mark in line), ";")
        cells = [cell.strip().strip('"') for cell in line.split(mark)]
        if number == 1 and PUBLISHED_COLUMN in (named := [cell.lower() for cell in cells]):
            column = named.index(PUBLISHED_COLUMN)
            continue
        word = cells[0]
        try:
            value = float(cells[column])
        except (ValueError, IndexError):
            if number == 1:
                continue
            raise BadLine(source.where(number), f"'{line[:60]}' is not word;rating") from None
        if not LOWEST <= value <= HIGHEST:
            raise BadLine(source.where(number), f"a rating of {value:g} is not between 1 and 5")
        ratings[word.lower()] = value
    if not ratings:
        raise UsageError(f"{path}: no ratings in it; it should hold lines of word;rating")
    return ratings
