"""BERT's tokeniser in plain Python: words, then the longest pieces of each word that the vocabulary holds.

Equal to `transformers.BertTokenizer`, except that words such as "[SEP]" in a text stay text, and for some 500
rare characters whose class is younger than that library's tables.
"""

import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from sightline.errors import UsageError

LONGEST_WORD = 100
"""A word of more characters is unknown as a whole, as in BERT."""

CACHED_WORDS = 200_000
CACHED_LENGTH = 40

# Ideographs stand alone: BERT's own list of blocks.
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF),
    (0x3400, 0x4DBF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF),
    (0xF900, 0xFAFF),
    (0x2F800, 0x2FA1F),
)


class WordPiece:
    """Texts to ids of pieces. What was split once is remembered: running text costs a look-up a word."""

    def __init__(self, vocabulary: Sequence[str], *, lowercase: bool = True, unknown: str = "[UNK]") -> None:
        self.vocabulary = tuple(vocabulary)
        self._ids = {piece: number for number, piece in enumerate(self.vocabulary)}
        if unknown not in self._ids:
            raise UsageError(f"the vocabulary has no piece '{unknown}'")
        self._unknown = self._ids[unknown]
        self._lowercase = lowercase
        self._known: dict[str, tuple[int, ...]] = {}

    @classmethod
    def from_file(cls, path: Path, *, lowercase: bool = True) -> "WordPiece":
        """A `vocab.txt`: one piece a line, in the order of their ids."""
        try:
            return cls(path.read_text("utf-8").rstrip("\n").split("\n"), lowercase=lowercase)
        except (OSError, UnicodeDecodeError) as fault:
            raise UsageError(f"{path}: not a readable vocabulary ({fault})") from None

    def __len__(self) -> int:
        return len(self.vocabulary)

    def id_of(self, piece: str) -> int:
        """The id of one piece, such as `[CLS]`."""
        if piece not in self._ids:
            raise UsageError(f"the vocabulary has no piece '{piece}'")
        return self._ids[piece]

    def ids(self, text: str) -> list[int]:
        """Ids of the text's pieces, without any special ones around them."""
        found: list[int] = []
        known = self._known
        for chunk in _clean(text).split(" "):
            pieces = known.get(chunk)
            if pieces is None:
                pieces = tuple(self._split_chunk(chunk))
                if len(chunk) <= CACHED_LENGTH:
                    if len(known) >= CACHED_WORDS:
                        known.clear()
                    known[chunk] = pieces
            found.extend(pieces)
        return found

    def pieces(self, text: str) -> list[str]:
        """The pieces themselves, for people to look at."""
        return [self.vocabulary[number] for number in self.ids(text)]

    def _split_chunk(self, chunk: str) -> Iterable[int]:
        for word in words(chunk, lowercase=self._lowercase):
            yield from self._split_word(word)

    def _split_word(self, word: str) -> list[int]:
        if len(word) > LONGEST_WORD:
            return [self._unknown]
        found: list[int] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            for end in range(len(word), start, -1):
                number = self._ids.get(prefix + word[start:end])
                if number is not None:
                    found.append(number)
                    start = end
                    break
            else:
                return [self._unknown]
        return found


def words(text: str, *, lowercase: bool = True) -> list[str]:
    """BERT's basic tokenisation: white space and punctuation separate, ideographs stand alone, accents go."""
    text = _clean(text)
    if lowercase:
        # Lower case goes character by character: str.lower() would look at a sigma's neighbours.
        text = text.lower() if text.isascii() else "".join(c.lower() for c in _without_accents(text))
    found: list[str] = []
    current = 0
    for place, character in enumerate(text):
        if character.isalnum() and character.isascii():
            continue
        blank = character == " "
        if blank or _stands_alone(character):
            if place > current:
                found.append(text[current:place])
            if not blank:
                found.append(character)
            current = place + 1
    if len(text) > current:
        found.append(text[current:])
    return found


def _clean(text: str) -> str:
    """Without control characters, and with a blank for every kind of white space."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(map(_cleaned, text))


@lru_cache(maxsize=65536)
def _cleaned(character: str) -> str:
    if character in "\t\n\r":
        return " "
    category = unicodedata.category(character)
    if category in ("Cc", "Cf", "Co", "Cs") or character == "\ufffd":
        return ""
    if category.startswith("Z"):
        return " "
    return f" {character} " if _is_ideograph(character) else character


def _without_accents(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")


def _is_ideograph(character: str) -> bool:
    code = ord(character)
    return code >= 0x3400 and any(first <= code <= last for first, last in _IDEOGRAPHS)


@lru_cache(maxsize=65536)
def _stands_alone(character: str) -> bool:
    if character.isascii():
        return not character.isalnum() and character > " " and character != "\x7f"
    return unicodedata.category(character).startswith("P")
