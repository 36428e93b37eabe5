"""Words and punctuation of a sentence in Penn Treebank manner.

The rules are those of Robert MacIntyre's treebank script, with what NLTK's word tokeniser added later: up to its
version 3.10 for `treebank_words`, up to 3.8, which the published programs name, for `published_words`.
"""

import re

from sightline.text.sentences import punkt_sentences

Rules = tuple[tuple[re.Pattern[str], str], ...]

_SINGLE_QUOTE = r"(?i)(?<!\w)(')(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)"
_DASHES = r"[\u2012-\u2015]"
_BLANKS = r"\s+"

_BEFORE: Rules = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # opening quotation marks
        (r"([«“‘„]|`+)", r" \1 "),
        (r'^"', "``"),
        (r"(``)", r" \1 "),
        (r"([ (\[{<])(\"|'{2})", r"\1 `` "),
        (_SINGLE_QUOTE, r"\1 "),
        # punctuation
        (r"([^.])(\.)([\])}>\"'»”’ ]*+)\s*$", r"\1 \2 \3 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
        (_DASHES, r" \g<0> "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[*]", r" \g<0> "),
        (r"[\]\[(){}<>]", r" \g<0> "),
        (r"--", " -- "),
    )
)

_AFTER: Rules = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # closing quotation marks and clitics
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (_BLANKS, " "),
        (r"([^' ])('[sS]|'[mM]|'[dD]|') ", r"\1 \2 "),
        (r"([^' ])('ll|'LL|'re|'RE|'ve|'VE|n't|N'T) ", r"\1 \2 "),
        # two words written as one
        (r"(?i)\b(can)(not)\b", r" \1 \2 "),
        (r"(?i)\b(d)('ye)\b", r" \1 \2 "),
        (r"(?i)\b(gim)(me)\b", r" \1 \2 "),
        (r"(?i)\b(gon)(na)\b", r" \1 \2 "),
        (r"(?i)\b(got)(ta)\b", r" \1 \2 "),
        (r"(?i)\b(lem)(me)\b", r" \1 \2 "),
        (r"(?i)\b(more)('n)\b", r" \1 \2 "),
        (r"(?i)\b(wan)(na)(?=\s)", r" \1 \2 "),
        (r"(?i) ('t)(is)\b", r" \1 \2 "),
        (r"(?i) ('t)(was)\b", r" \1 \2 "),
    )
)


_OLD_QUOTE = re.compile(r"(?i)(')(?!re|ve|ll|m|t|s|d|n)(\w)\b")


def _older(rules: Rules) -> Rules:
    return tuple(
        (_OLD_QUOTE, r"\1 \2") if pattern.pattern == _SINGLE_QUOTE else (pattern, replacement)
        for pattern, replacement in rules
        if pattern.pattern not in (_DASHES, _BLANKS)
    )


_BEFORE_38, _AFTER_38 = _older(_BEFORE), _older(_AFTER)


_SIMPLE = re.compile(r"(?:[A-Za-z ]|,(?= ))*+(?:(?<=[A-Za-z])\.)? *")
"""Words, commas before a blank, and a last full stop."""
_TWO_WORDS = re.compile(r"(?i)cannot|gimme|gonna|gotta|lemme|wanna")


def treebank_words(sentence: str) -> list[str]:
    """Tokens of one sentence; only its last full stop is cut off, those within stay with their words."""
    if _SIMPLE.fullmatch(sentence) and not _TWO_WORDS.search(sentence):
        return sentence.replace(",", " , ").replace(".", " . ").split()  # no other rule has anything to do
    return _words(sentence, _BEFORE, _AFTER)


def published_words(text: str) -> list[str]:
    """Tokens as NLTK 3.8's `word_tokenize` gives them, which splits its text into sentences once more."""
    return [word for part in punkt_sentences(text) for word in _words(part, _BEFORE_38, _AFTER_38)]


def _words(sentence: str, before: Rules, after: Rules) -> list[str]:
    text = sentence
    for pattern, replacement in before:
        text = pattern.sub(replacement, text)
    text = f" {text} "
    for pattern, replacement in after:
        text = pattern.sub(replacement, text)
    return text.split()
