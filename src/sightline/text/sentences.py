"""Plain text into sentences, as Punkt splits it when it knows a dozen abbreviations.

This is the split behind the published RoViST-NR scores: a mark ends a sentence unless it closes an
abbreviation, an initial, a number or an ellipsis. Text that is already tokenised ("the end . then") is split
the same way.
"""

import re
from collections.abc import Iterator

ABBREVIATIONS = frozenset({"mr", "mrs", "ms", "dr", "st", "jr", "sr", "vs", "prof", "inc", "u.s"})
CLOSING = "\"')]}‘’“”«»"
OPENING = "([{\"'`‘“«*"

_CHUNK = re.compile(r"\S+")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_NUMBER = re.compile(r"-?[.,]?\d[\d,.-]*\.")
_MARKS = ".?!"


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, without the blanks around them. A blank line always ends a sentence."""
    return [sentence for part in _PARAGRAPH.split(text) for sentence in _split(part)]


def _split(text: str) -> Iterator[str]:
    chunks = list(_CHUNK.finditer(text))
    start = 0
    place = 0
    while place < len(chunks):
        chunk, following = chunks[place].group(), place + 1
        if following < len(chunks) and ends_sentence(chunk, chunks[following].group()):
            while following < len(chunks) and not chunks[following].group().strip(CLOSING + _MARKS):
                following += 1  # marks, quotation marks and brackets that stand alone close what came before
            yield text[start : chunks[following - 1].end()].strip()
            if following == len(chunks):
                return
            start = chunks[following].start()
        place = following
    if rest := text[start:].strip():
        yield rest


def ends_sentence(chunk: str, following: str) -> bool:
    """Whether a sentence ends with this piece of text between blanks, given the next piece."""
    core = chunk.rstrip(CLOSING)
    if not core or core[-1] not in _MARKS:
        return False
    if core[-1] != "." or core == ".":
        return True
    if core.endswith(".."):
        return False
    word = core.lstrip(OPENING)
    if _is_abbreviation(word[:-1].lower()):
        return False
    first = following[0]
    goes_on = first.islower() or first in ",;:.!?"
    if len(word) == 2 and word[0].isalpha():  # an initial: "j. bach" goes on, whatever its case
        return not (goes_on or first.isupper())
    return not (goes_on and _NUMBER.fullmatch(word))


def _is_abbreviation(word: str) -> bool:
    return word in ABBREVIATIONS or word.rpartition("-")[2] in ABBREVIATIONS
