"""Words and punctuation of a sentence in Penn Treebank manner, as the published RoViST-NR program cuts them.

The rules are those of Robert MacIntyre's treebank script, with what NLTK's word tokeniser added later.
"""

import re

_BEFORE: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # opening quotation marks
        (r"([«“‘„]|`+)", r" \1 "),
        (r'^"', "``"),
        (r"(``)", r" \1 "),
        (r"([ (\[{<])(\"|'{2})", r"\1 `` "),
        (r"(?i)(?<!\w)(')(?!(?:re|ve|ll|m|t|s|d|n)\b)(?=\w)", r"\1 "),
        # punctuation
        (r"([^.])(\.)([\])}>\"'»”’ ]*+)\s*$", r"\1 \2 \3 "),
        (r"([:,])([^\d])", r" \1 \2"),
        (r"([:,])$", r" \1 "),
        (r"\.{2,}", r" \g<0> "),
        (r"[;@#$%&]", r" \g<0> "),
        (r"[\u2012-\u2015]", r" \g<0> "),
        (r"[?!]", r" \g<0> "),
        (r"([^'])' ", r"\1 ' "),
        (r"[*]", r" \g<0> "),
        (r"[\]\[(){}<>]", r" \g<0> "),
        (r"--", " -- "),
    )
)

_AFTER: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        # closing quotation marks and clitics
        (r"([»”’])", r" \1 "),
        (r"''", " '' "),
        (r'"', " '' "),
        (r"\s+", " "),
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


def treebank_words(sentence: str) -> list[str]:
    """Tokens of one sentence; only its last full stop is cut off, those within stay with their words."""
    text = sentence
    for pattern, replacement in _BEFORE:
        text = pattern.sub(replacement, text)
    text = f" {text} "
    for pattern, replacement in _AFTER:
        text = pattern.sub(replacement, text)
    return text.split()
