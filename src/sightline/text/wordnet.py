"""Synonyms from a WordNet, where one is installed: METEOR's synonym stage."""

import os
import zipfile
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from sightline.errors import UsageError
from sightline.jars import installed_meteor
from sightline.resources import Resource, shared

ENDINGS = (
    ("s", ""), ("ses", "s"), ("xes", "x"), ("zes", "z"), ("ches", "ch"), ("shes", "sh"), ("men", "man"),
    ("ies", "y"), ("es", "e"), ("es", ""), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""), ("er", ""),
    ("est", ""), ("er", "e"), ("est", "e"),
)  # fmt: skip
"""WordNet's rules of detachment: an ending, and what takes its place. The first that gives a known word holds."""
PARTS = ("noun", "verb", "adj", "adv")


class WordNet:
    """Which sets of synonyms a word belongs to, inflected or not."""

    def __init__(
        self,
        synsets: dict[str, frozenset[str]],
        bases: dict[str, list[str]],
        resource: Resource,
        function_words: frozenset[str] | None = None,
    ) -> None:
        self._synsets = synsets
        self._bases = bases
        self.resource = resource
        self.function_words = function_words
        """METEOR's list, where its jar is the source."""
        self.of = lru_cache(maxsize=200_000)(self._of)

    def _of(self, word: str) -> frozenset[str]:
        own = self._synsets.get(word, frozenset())
        forms = self._bases.get(word) or [self._base(word)]
        return own.union(*(self._synsets.get(form, frozenset()) for form in forms))

    def _base(self, word: str) -> str:
        """The word without its ending, as METEOR detaches it; the word itself where no rule gives a known one."""
        if len(word) > 2 and not word.endswith("ss"):
            for end, new in ENDINGS:
                if word.endswith(end) and (base := word[: len(word) - len(end)] + new) in self._synsets:
                    return base
        return word

    @classmethod
    def from_jar(cls, path: Path) -> "WordNet":
        """The words that METEOR 1.5's jar carries: a word on one line, its synsets on the next; function words."""
        try:
            with zipfile.ZipFile(path) as jar:
                synsets = jar.read("synonym/english.synsets").decode("utf-8").splitlines()
                bases = jar.read("synonym/english.exceptions").decode("utf-8").splitlines()
                function = frozenset(jar.read("function/english.words").decode("utf-8").split())
        except (OSError, KeyError, zipfile.BadZipFile) as fault:
            raise UsageError(f"{path}: no METEOR jar with English synonyms ({fault})") from None
        found: dict[str, list[str]] = {}
        for base, forms in zip(bases[::2], bases[1::2], strict=False):
            for form in forms.split():
                found.setdefault(form, []).append(base)
        sets = {w: frozenset(ids.split()) for w, ids in zip(synsets[::2], synsets[1::2], strict=False)}
        return cls(sets, found, Resource.file(path), function)

    @classmethod
    def from_folder(cls, folder: Path) -> "WordNet":
        """Princeton's database files: index.noun, noun.exc and so on."""
        synsets: dict[str, set[str]] = {}
        bases: dict[str, list[str]] = {}
        for part in PARTS:
            for line in _lines(folder / f"index.{part}"):
                if not line.startswith(" "):
                    fields = line.split()
                    count = int(fields[2])
                    synsets.setdefault(fields[0], set()).update(part[0] + id for id in fields[-count:])
            for line in _lines(folder / f"{part}.exc"):
                form, *stems = line.split()
                bases.setdefault(form, []).extend(stems)
        files = [folder / name for part in PARTS for name in (f"index.{part}", f"{part}.exc")]
        sets = {word: frozenset(ids) for word, ids in synsets.items()}
        return cls(sets, bases, Resource.folder(folder, files))


def _lines(path: Path) -> Iterable[str]:
    try:
        return path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as fault:
        raise UsageError(f"{path}: cannot be read ({fault}); a WordNet folder holds index.noun, …") from None


@shared
def load_wordnet(given: str | None) -> WordNet | None:
    """The WordNet at a path (database files, or METEOR's jar); without a path, one that is installed."""
    if given == "none":
        return None
    if given:
        path = Path(given)
        return WordNet.from_jar(path) if path.is_file() else WordNet.from_folder(path)
    if jar := installed_meteor():
        return WordNet.from_jar(jar)
    nltk = Path(os.environ.get("NLTK_DATA", Path.home() / "nltk_data"))
    for folder in (nltk / "corpora" / "wordnet", Path("/usr/share/wordnet")):
        if (folder / "index.noun").is_file():
            return WordNet.from_folder(folder)
    return None
