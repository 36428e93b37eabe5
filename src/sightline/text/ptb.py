"""Penn Treebank tokens as COCO's caption evaluation uses them: lower case, punctuation left out, no Java.

The reference is Stanford's PTBTokenizer 3.4.1 as pycocoevalcap drives it. Almost all of its rules look at
nothing beyond the blanks around a stretch of text, so each stretch is read once and remembered; the few that
look further (fractions and telephone numbers with blanks, `no. 5`, `B. The`) are handled too.
"""

# ruff: noqa: E501 - a rule reads best on one line

import re
from itertools import chain

from sightline.text.ptb_characters import JOINING, NOT_JOINING, SYMBOLS

PUNCTUATION = frozenset(re.findall(r"\S+", "'' ' `` ` . ? ! , : - -- ... ;"))
"""What COCO's evaluation takes out; brackets stay, as `-lrb-`, because it looks for them in upper case."""

_BLANKS = re.compile(r"[ \t\n\r\f\v\x1c-\x1f\x85\u2000-\u200b\u2028\u2029\u202f\u205f\u3000]+")
_JOINED = re.compile(
    r"(?<![\w.,/-])(?:\d{1,4} \d{1,4}/\d{1,4}(?!\d)|\([0-9]{2,3}\) ?[0-9]{3,4}[- ]?[0-9]{3,5}(?!\d)"
    r"|(?:\+\+?)?(?:[0-9]{2,4}[- ])?[0-9]{2,4}[- ][0-9]{3,4}[- ]?[0-9]{3,5}(?!\d))"
)
"""Fractions and telephone numbers, which hold blanks; those become no-break spaces."""

_LETTER = rf"(?:[^\W\d_{NOT_JOINING}]|[{JOINING}\u00ad])"
_ALNUM = rf"(?:[^\W_{NOT_JOINING}]|[{JOINING}\u00ad])"
_APOS = r"(?:['\u0092\u2019]|&apos;)"
_APOS_IN_WORD = r"(?:['`\u0091\u0092\u2018\u2019\u201b]|&apos;)"
_NUM = r"(?:\d*(?:[.:,]\d+)+|\d+)"
_WORD = rf"{_LETTER}{_ALNUM}*(?:[.!?]{_LETTER}{_ALNUM}*)*"
_ACRONYM = r"[A-Za-z](?:\.[A-Za-z])+"
_CLITIC = rf"{_APOS}(?:[msd]|re|ve|ll)"
_STRAIGHT = rf"(?:'|&apos;)(?:[msd]|re|ve|ll)(?!{_LETTER})"

_BEFORE_LOWER = (
    "jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tues?|wed|thu|thurs|fri|ala|ariz|calif|colo|conn|ct|dak|fla|ga|ind"
    "|kans?|ky|md|mich|minn|mo|mont|neb|nev|okla|penn|tenn|va|vt|wisc?|wyo|inc|cos?|corp|pp?t[ye]s?|ltd|plc|rt|bancorp|bhd"
    "|assn|univ|intl|sys|tel|est|ext|sq|jr|sr|bros|(?:ed|ph)\\.d|esq|etc|al|seq|bldg"
)
_BEFORE_UPPER = (
    "mr|mrs|ms|drs?|profs?|sens?|reps?|attys?|lt|col|gen|messrs|govs?|adm|rev|maj|sgt|cpl|pvt|capt|ste?|ave|pres|lieut|hon"
    "|alex|ph|brig|co?mdr|pfc|spc|supts?|det|mt|ft|adj|adv|asst|assoc|ens|insp|mlle|mme|msgr|sfc|invt|elec|natl|m[ft]g|dept|blvd|rd"
    "|wm|jos|cie|cf|treas|vs|a\\.k\\.a"
)
_CASED = "Az|A[r]k|Del|Ill|La|Mass|Miss|Ore|Pa|Tex|Wash"
_BEFORE_NUMBER = re.compile(r"(?i)(?<![^\W_])(?:ca|figs?|prop|nos?|art|bldg|pp|op)\.$")
_INITIAL = re.compile(r"(?<![^\W_][.])(?<![^\W_])[^\W\d_]\.$|(?<=\d[^\W_]\.)[^\W\d_]\.$")
_SENTENCE_STARTERS = frozenset(
    re.findall(
        r"\S+",
        "a about according additionally after all also although an another as at before both but by did during each "
        "earlier following for from he her here his how however if in it its last later many more most mr. mrs. ms. "
        "now on once one other our she since so some such that the their then there these they this two under upon "
        "we when while what who why yet you",
    )
)

_QUOTES = re.compile(r"[`\u0082\u0084\u0091-\u0094\u2018-\u201f\u2039\u203a\u00ab\u00bb]+")

# In order of precedence; group 1 is the token, what follows it is looked at but not taken. The longest match wins.
_RULES = tuple(
    re.compile(rule, re.IGNORECASE)
    for rule in (
        r"(can)not",
        rf"('t)(?:is|was)(?!{_LETTER})",
        r"((?:gon|wan)(?=na)|got(?=ta)|(?:gim|lem)(?=me))..(?![^\W\d_])",
        r"(</?[A-Za-z!?][A-Za-z0-9_:.-]*/?>)",
        r"(&(?:md|mdash|ndash);|[\u0096\u0097\u2013\u2014\u2015])",
        r"(&amp;|&\#\d+;|&nbsp;)",
        r"((?:ca|figs?|prop|nos?|art|bldg|pp|op)\.)\d",
        r"(c\+\+|[cf]\#)",
        rf"({_WORD}){_CLITIC}",
        rf"([A-Za-z]*[A-MO-Za-mo-z])n{_APOS_IN_WORD}t",
        rf"({_WORD})",
        rf"({_APOS}n{_APOS}|'n(?!\S)|\u2019n|[ldj]{_APOS}|dunkin{_APOS}|somethin{_APOS}|ol{_APOS}|{_APOS}em|(?-i:[A-HJ-XZn]){_APOS_IN_WORD}"
        rf"{_LETTER}{{2,}}|{_APOS}[2-9]0s|{_APOS}till?|{_LETTER}+[aeiouy]{_APOS_IN_WORD}[aeiou]{_LETTER}*|{_APOS}cause"
        rf"|cont'd\.?|nor'easter|c'mon|e'er|s'mores|ev'ry|li'l|nat'l|o{_APOS_IN_WORD}o)",
        rf"(y{_APOS})(?={_LETTER})",
        r"(https?://[^ \t\n\f\r\"<>|()]+[^ \t\n\f\r\"<>|.!?(){},-])",
        r"((?:www\.(?:[^ \t\n\f\r\"<>|.!?(){},]+\.)+[a-zA-Z]{2,4}|(?:[^ \t\n\f\r\"`'<>|.!?(){},\-_$/]+\.)+(?-i:com|net|org|edu))"
        r"(?:/[^ \t\n\f\r\"<>|()]+[^ \t\n\f\r\"<>|.!?(){},-])?)",
        r"((?:<)?[a-zA-Z0-9][^ \t\n\f\r\"<>|()\u00a0]*@(?:[^ \t\n\f\r\"<>|().\u00a0]+\.)*[^ \t\n\f\r\"<>|().\u00a0]+(?:>)?)",
        rf"(@[A-Za-z_][A-Za-z0-9_]*|#{_LETTER}+)",
        rf"({_APOS}\d\d)(?!\S)",
        rf"({_STRAIGHT}|[\u0092\u2019](?:[msd]|re|ve|ll))",
        rf"(n{_APOS_IN_WORD}t)(?![^\W\d_])",
        r"(\d{1,2}[-/]\d{1,2}[-/]\d{2,4})",
        rf"([-+]?{_NUM})",
        r"((?:\d{1,4}[-\u00a0])?\d{1,4}(?:\\?/|\u2044)\d{1,4})",
        r"(-(?:rrb|lrb|rcb|lcb|rsb|lsb)-|c\.d\.s|pro-|anti-|s(?:&|&amp;)p-500|s(?:&|&amp;)ls|cap['\u2019]n|c'est)",
        r"([A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*\.(?:bmp|docx?|exe|gif|html?|jpe?g|mov|mp[34g]|mpeg|pdf|png|ppt|txt|wav|xml|zip))"
        r"(?![^.?!,\"'<()])",
        r"([A-Za-z0-9]+(?:-[A-Za-z]+){0,2}(?:\\?/[A-Za-z0-9]+(?:-[A-Za-z]+){0,2}){1,2})",
        r"((?-i:[A-Z])*\$|#)",
        rf"((?:{_BEFORE_LOWER}|{_BEFORE_UPPER}|{_ACRONYM}|[A-Za-z])\.)",
        rf"((?-i:{_CASED})\.)",
        rf"((?:{_WORD}|\d{_ALNUM}*)\.)[,;:]",
        r"(\([0-9]{2,3}\)\u00a0?[0-9]{3,4}[-\u00a0]?[0-9]{3,5}|(?:\+\+?)?(?:[0-9]{2,4}[-\u00a0])?[0-9]{2,4}[-\u00a0]"
        r"[0-9]{3,4}[-\u00a0]?[0-9]{3,5}|(?:(?:\+\+?)?[0-9]{2,4}\.)?[0-9]{2,4}\.[0-9]{3,4}\.[0-9]{3,5})",
        r"([<>]?[:;=](?-i:[-o*']?[()DPdpO\\{@|\[\]]))(?![A-Za-z0-9])",
        r"([-^x=~<>']_[-^x=~<>']|\([-^x=~<>'][_.]?[-^x=~<>']\))",
        r"(<<|>>|<|>|&lt;|&gt;)",
        r"([?!]+)",
        r"(\.{3,}|[\u0085\u2026]|[.,;:])",
        r"(-+|_+|@+|#+|\*+)",
        rf"((?:[dol]{_APOS_IN_WORD}{_ALNUM})?(?:{_ALNUM}+|{_NUM})(?:[-_\u2010\u2011]"
        rf"(?:[dol]{_APOS_IN_WORD}{_ALNUM})?(?:{_ALNUM}+|{_NUM}))*)",
        rf"([A-Za-z0-9][A-Za-z0-9.,\u00ad]*(?:-(?:{_ACRONYM}\.|[A-Za-z0-9\u00ad]+))+)",
        r"((?-i:[A-Z]+(?:(?:[+&]|&amp;)[A-Z]+)+))",
        rf"(''|``|\"|&quot;|'|{_QUOTES.pattern[:-1]}{{1,2}})",
        r"(.)",
    )
)
_WRITTEN = {
    "(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-",
    "&amp;": "&", "&lt;": "<", "&gt;": ">", "\u2026": "...", "\u0085": "...", "\u2013": "--", "\u2014": "--", "\u2015": "--",
    "\u0096": "--", "\u0097": "--", "&mdash;": "--", "&ndash;": "--", "&md;": "--",
    "\u2039": "`", "\u203a": "'", "&nbsp;": "",
    "\u2018": "`", "\u201b": "`", "\u2019": "'", "\u201c": "``", "\u201d": "''", "\u00ab": "``", "\u00bb": "''",
    "\u00a2": "cents", "\u00a3": "#", "\u20ac": "$", "\u00a4": "$", "\u20a0": "$",
    "\u00bc": "1/4", "\u00bd": "1/2", "\u00be": "3/4", "\u2153": "1/3", "\u2154": "2/3", "&quot;": "''", '"': "''",
}  # fmt: skip
_BRACKETS = re.compile(r"[()](?<!^.)|[()](?!$)")
"""Within smileys and telephone numbers."""
_UNKNOWN = re.compile(
    rf"[^\x00-\x7e\w{JOINING}{SYMBOLS}]|[{NOT_JOINING}](?<![{SYMBOLS}])|[\U00010000-\U0010ffff]"
)
"""Characters that the reference leaves out."""
_CURLY_CLITIC = re.compile(r"(?:n?[\u2018\u2019](?:[msdt]|re|ve|ll))$", re.IGNORECASE)
_MANY = re.compile(r"\.{3,}|-{2,4}")
"""Written `...` and `--`, and left out as punctuation."""


class _Readings(dict[str, tuple[str, ...] | None]):
    """Stretches read so far; None for one whose reading depends on what follows."""

    def __missing__(self, piece: str) -> tuple[str, ...] | None:
        if len(self) >= 1_000_000:
            self.clear()
        depends = piece[-1] == "." and (_INITIAL.search(piece) or _BEFORE_NUMBER.search(piece))
        self[piece] = read = None if depends else _read(piece)
        return read


_reading = _Readings().__getitem__
_DIGIT = re.compile(r"\d")


def tokens(text: str) -> list[str]:
    """The text's tokens, lower-cased and without punctuation."""
    if text.isascii() and not _DIGIT.search(text):
        pieces = text.split()
    else:
        text = text.replace("\u00a0", " ")
        text = _JOINED.sub(lambda found: found.group().replace(" ", "\u00a0"), text)
        pieces = [piece for piece in _BLANKS.split(text) if piece]
    read = list(map(_reading, pieces))
    if None in read:
        nexts = [*pieces[1:], ""]
        read = [_read_before(p, n) if r is None else r for r, p, n in zip(read, pieces, nexts, strict=True)]
    return list(chain.from_iterable(read))  # type: ignore[arg-type]


def _read_before(piece: str, following: str) -> tuple[str, ...]:
    """A stretch ending in a full stop that belongs to it, or not, by what comes next."""
    if _BEFORE_NUMBER.search(piece):
        return _read(piece + "0")[:-1] if following[:1].isdigit() else _read(piece)
    return (
        _read(piece[:-1])
        if following.lower() in _SENTENCE_STARTERS and following[:1].isupper()
        else _read(piece)
    )


def _read(piece: str) -> tuple[str, ...]:
    """The tokens of a stretch without blanks: at each place the longest match, the earlier rule among equals."""
    found: list[str] = []
    place = 0
    while place < len(piece):
        best, reach = None, place
        for rule in _RULES:
            match = rule.match(piece, place)
            if match and match.end() > reach:
                best, reach = match, match.end()
        assert best is not None  # the last rule takes any character
        token = best.group(1)
        place = best.end(1)
        if len(token) == 1 and token not in _WRITTEN and _UNKNOWN.match(token):
            continue
        if _CURLY_CLITIC.match(token):
            token = token.replace("\u2019", "'").replace("\u2018", "`")
        if len(token) == 2 and _QUOTES.fullmatch(token):
            token = "".join(_WRITTEN.get(mark, mark) for mark in token)
        token = token.replace("&amp;", "&") if len(token) > 5 else token
        token = _WRITTEN.get(token.lower(), _BRACKETS.sub(lambda bracket: _WRITTEN[bracket.group()], token))
        token = token.replace("\u00ad", "").lower()
        if token and token not in PUNCTUATION and not _MANY.fullmatch(token):
            found.append(token)
    return tuple(found)
