"""Any spaCy pipeline as a language: the embedded one, an installed one by name, or a folder."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import spacy
from spacy.tokens import Doc

from sightline.errors import UsageError
from sightline.resources import MODELS, Resource, shared
from sightline.text.language import Parsed, Phrase, Tagged, Tree, Word
from sightline.text.noun_phrases import noun_phrases

EMBEDDED = MODELS / "english"
UNUSED = ("ner", "entity_linker", "entity_ruler", "textcat", "textcat_multilabel", "spancat", "senter")
BATCH = 256
CHARACTERS = 100_000
"""What is parsed at once ends at so many sentences, or so many characters: memory is bounded by these."""
LONGEST = 20_000
"""Characters of one sentence that are parsed at once; a longer one is parsed in pieces, cut at blanks."""

Chunks = Callable[[Doc], Iterable[tuple[int, int]]]


@shared
def load_language(name: str) -> "SpacyLanguage":
    """`embedded`, the name of an installed spaCy pipeline, or the path of one."""
    place = EMBEDDED if name == "embedded" else name
    try:
        nlp = spacy.load(place, exclude=list(UNUSED))
    except (OSError, ValueError, ImportError) as fault:
        raise UsageError(_missing(name, fault)) from None
    return SpacyLanguage(name, nlp)


def _missing(name: str, fault: Exception) -> str:
    if isinstance(fault, OSError) and not Path(name).exists():
        if name == "embedded":
            return f"no embedded English pipeline at {EMBEDDED}; install Sightline anew, or give --nlp NAME"
        return f"no spaCy pipeline '{name}': try 'python -m spacy download {name}', or --nlp embedded"
    return f"the spaCy pipeline '{name}' does not load: {' '.join(str(fault).split())}"


class SpacyLanguage:
    """Words and noun phrases by a spaCy pipeline."""

    def __init__(self, name: str, nlp: Any) -> None:
        self._nlp = nlp
        self._chunks = _chunker(name, nlp)
        self.resource = _files(name, nlp.path).ahead()
        self.stop_words = frozenset(nlp.Defaults.stop_words)

    @property
    def signature(self) -> str:
        about = [str(self._nlp.meta.get(key, "")) for key in ("lang", "name", "version")]
        return f"{'-'.join(part for part in about if part)}@{self.resource.digest}"

    def tag(self, sentences: Sequence[str]) -> list[list[Tagged]]:
        pieces = [[text for _, text in _pieces(sentence)] for sentence in sentences]
        texts = (text for parts in pieces for text in parts)
        docs = self._piped(texts, ["parser"])
        return [
            [
                (token.text, token.lemma_ or token.lower_, token.pos_)
                for _ in parts
                for token in next(docs)
                if not token.is_space
            ]
            for parts in pieces
        ]

    def parse(self, sentences: Sequence[str]) -> list[Parsed]:
        pieces = [list(_pieces(sentence)) for sentence in sentences]
        docs = self._piped(text for parts in pieces for _, text in parts)
        return [
            self._join(sentence, [(offset, next(docs)) for offset, _ in parts])
            for sentence, parts in zip(sentences, pieces, strict=True)
        ]

    def trees(self, sentences: Sequence[str]) -> list[Tree]:
        """Each sentence with its dependencies. What is not one tree has several roots."""
        found = []
        for doc in self._piped(sentence[:LONGEST] for sentence in sentences):
            kept = [token for token in doc if not token.is_space]
            place = {token.i: number for number, token in enumerate(kept)}
            found.append(
                Tree(
                    tuple(_word(token, 0) for token in kept),
                    tuple(place.get(token.head.i, number) for number, token in enumerate(kept)),
                    tuple(token.dep_ for token in kept),
                )
            )
        return found

    def _piped(self, texts: Iterable[str], disable: Sequence[str] = ()) -> Iterator[Doc]:
        for together in _together(texts):
            yield from self._nlp.pipe(together, batch_size=BATCH, disable=list(disable))

    def _join(self, sentence: str, docs: Sequence[tuple[int, Doc]]) -> Parsed:
        words: list[Word] = []
        phrases: list[Phrase] = []
        for offset, doc in docs:
            found = [_word(token, offset) for token in doc]
            words.extend(word for word in found if not word.text.isspace())
            for start, end in self._chunks(doc):
                inside = tuple(word for word in found[start:end] if not word.text.isspace())
                if inside:
                    first, last = inside[0].start, inside[-1].end
                    phrases.append(Phrase(sentence[first:last], first, last, inside))
        notes = (f"a sentence was parsed in {len(docs)} pieces, as it is very long",) if len(docs) > 1 else ()
        return Parsed(tuple(words), tuple(phrases), notes)


def _files(name: str, folder: Path) -> Resource:
    """What a pipeline computes with: all that lies in its folder, but texts for people."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.suffix != ".md"]
    kept = [file for file in files if not file.name.startswith("LICENSE") and "__pycache__" not in file.parts]
    return Resource.folder(folder, kept, name)


def _word(token: Any, offset: int) -> Word:
    start = token.idx + offset
    return Word(token.text, token.lemma_ or token.lower_, token.pos_, start, start + len(token))


def _together(texts: Iterable[str]) -> Iterator[list[str]]:
    """What is parsed at once."""
    waiting: list[str] = []
    characters = 0
    for text in texts:
        if waiting and (len(waiting) >= BATCH or characters + len(text) > CHARACTERS):
            yield waiting
            waiting, characters = [], 0
        waiting.append(text)
        characters += len(text)
    if waiting:
        yield waiting


def _pieces(sentence: str) -> Iterator[tuple[int, str]]:
    """A sentence, or the pieces of a very long one, each with its first character."""
    start = 0
    while len(sentence) - start > LONGEST:
        piece = sentence[start : start + LONGEST]
        last = re.search(r"\s\S*$", piece)
        end = start + (last.start() if last and last.start() else LONGEST)
        yield start, sentence[start:end]
        start = end
    yield start, sentence[start:]


def _chunker(name: str, nlp: Any) -> Chunks:
    """The pipeline's own noun chunks, or ours where it speaks Universal Dependencies and has none."""
    if "parser" not in nlp.pipe_names:
        raise UsageError(
            f"the spaCy pipeline '{name}' has no parser, so it finds no noun phrases; use another"
        )
    universal = "obl" in nlp.get_pipe("parser").labels
    if universal and nlp.lang == "en":  # spaCy's English chunks expect other labels
        return noun_phrases
    if nlp.vocab.get_noun_chunks is not None:
        return lambda doc: ((chunk.start, chunk.end) for chunk in doc.noun_chunks)
    if universal:
        return noun_phrases
    raise UsageError(f"the spaCy pipeline '{name}' has no noun chunks; use another")
