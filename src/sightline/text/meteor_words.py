"""Words as METEOR 1.5's `-norm` leaves them, and the words it counts as function words."""

import re
from collections.abc import Callable, Sequence

ALPHA = r"A-Za-zŠŽšžŸÀ-ÖØ-öø-ž"
ALNUM = "0-9" + ALPHA
FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        "the to and a of i in is you that it for have on was with this be are they not as we 's my do will "
        "he at but if or your from n't by can would me there so all has an had one out about what their when "
        "were up his our who some them which been also am us very any more no did could him other she only "
        'how should may then now after her because its into over than two first last new . , - " ) ( ? : ! '
        "' ; -- ... $ -lrb- -rrb-",
    )
)
"""Words said more than once in a thousand (METEOR's definition), counted in the English Web Treebank. METEOR's own
list, counted in news, is taken where its jar is there."""
ABBREVIATIONS = frozenset({"v", "vs", "rev"})
"""Lower-case words that keep their full stop."""

_DOT = "\x00"
"""Stands for a dot that is one of several."""


def _dots(found: re.Match[str]) -> str:
    return f" {_DOT * len(found.group())} "


_RULES: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (rf"([^{ALNUM}\s.'`,\-‘’])", r" \1 "),  # punctuation stands alone
        (r"\.{2,}", _dots),  # so do several dots, which stay together
        (r"([^0-9]),([^0-9])", r"\1 , \2"),  # commas too, except within numbers
        (r"([0-9]),([^0-9])", r"\1 , \2"),
        (r"([^0-9]),([0-9])", r"\1 , \2"),
        (r"[`‘’]", "'"),
        (r"[“”]|''", ' " '),
        (r"–|--", "-"),
        (rf"([{ALNUM}.])-([{ALNUM}])", r"\1 \2"),  # a hyphen between words is a blank
        (rf"([^{ALPHA}])'([^{ALPHA}])", r"\1 ' \2"),  # contractions are cut before the apostrophe
        (rf"([^{ALNUM}])'([{ALPHA}])", r"\1 ' \2"),
        (rf"([{ALPHA}])'([^{ALPHA}])", r"\1 ' \2"),
        (rf"([{ALPHA}])'([{ALPHA}])", r"\1 '\2"),
        (r"([0-9])'(s)", r"\1 '\2"),
    )
)
_PLAIN = re.compile(r"[0-9a-z ]*")
_LOWER = re.compile(r"[a-z]")


def normal(words: Sequence[str]) -> list[str]:
    """Tokens of lower-case text as METEOR's own tokeniser cuts them."""
    line = " ".join(words).lower()
    if _PLAIN.fullmatch(line):
        return line.split()
    line = f" {line.replace(_DOT, '')} "
    for pattern, replacement in _RULES:
        line = pattern.sub(replacement, line)
    cut = line.split()
    found: list[str] = []
    for place, word in enumerate(cut):
        after = cut[place + 1] if place + 1 < len(cut) else ""
        found += _stopped(word, after)
    return [word.replace(_DOT, ".") for word in found]


def _stopped(word: str, after: str) -> list[str]:
    """A word and its full stop: abbreviations keep it or lose all of them, other words are cut."""
    if len(word) < 2 or not word.endswith("."):
        return [word]
    stem = word[:-1]
    if "." in stem and re.search(f"[{ALPHA}]", stem):
        return [word.replace(".", "")]
    if stem in ABBREVIATIONS or _LOWER.match(after) or (stem == "pp" and after[:1].isdigit()):
        return [word]
    return [stem, "."]
