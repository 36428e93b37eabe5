"""Plain text into sentences: Punkt (Kiss and Strunk 2006) with the English parameters that NLTK ships.

The published programs of RoViST, GROOViST and d_HM cut their stories this way, so `punkt_sentences` does it to the
letter, oddities included ("Wow!!!" at the end of a text is "Wow!!" and "!"). `split_sentences` is what a reader
would call the sentences of the same text: marks that stand alone stay with what they close, nothing is cut
where no blank stands, and a blank line always ends a sentence.

Punkt asks of the word after an abbreviation or an ellipsis how it was written in the newspaper it learned from.
That is kept here for the words that stories, captions and web texts use at least three times (starts.txt); any
other capitalised word counts as a name.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from sightline.items import Item

ABBREVIATIONS = frozenset(
    (
        "a.a a.c a.d a.g a.h a.m a.m.e a.s a.t adm ala ariz aug ave b.f b.v bros c c.i.t c.o.m.b c.v calif "
        "chg cie co col colo conn corp cos ct d d.c d.h d.w dec dr e e.f e.h e.l e.m f f.g f.j feb fla fri ft "
        "g g.d g.f g.k ga gen h h.c h.f h.m i.m.s ill inc j.b j.c j.j j.k j.p j.r jan jr k kan ky l l.a l.f "
        "l.p lt ltd m m.b.a m.d.c m.j maj messrs mg mich minn mr mrs ms n n.c n.d n.h n.j n.m n.v n.y nev nov "
        "oct ok okla ore p p.a.m p.m pa ph.d prof r r.a r.h r.i r.j r.k r.t rep reps s s.a s.a.y s.c s.g "
        "s.p.a s.s sen sep sept sr st sw t t.j tenn tues u.k u.n u.s u.s.a u.s.s.r v va vs vt w w.c w.r w.va "
        "w.w wash wed wis yr"
    ).split()
) | {". . "}
"""Without their last full stop; an ellipsis with blanks counts among them."""
STARTERS = frozenset(
    (
        "according although among both but despite even he however i if in indeed instead it many meanwhile "
        "moreover most nevertheless nonetheless nor sales separately similarly since so some the there these "
        "they this though thus under when while yet"
    ).split()
)
"""Words that begin a sentence so often that they do so after an abbreviation too."""
AFTER_NUMBER = frozenset(
    "abreast business corrections credit financing insider international letters notable review who".split()
)
"""Words before which a number's full stop belongs to the number."""

_CONTEXT = re.compile(r"""[.?!](?=(?P<after>[)";}\]*:@'({\[!?]|\s+(?P<next>\S+)))""")
_PUNCT = r"(?:-{2,}|\.{2,}|(?:\.\s){2,}\.)"
_NONWORD = r"""[)";}\]*:@'({\[!?]"""
_TOKEN = re.compile(
    rf"""{_PUNCT}|(?=[^("`{{\[:;&#*@)}}\]\-,])\S+?(?=\s|$|{_NONWORD}|{_PUNCT}|,(?=$|\s|{_NONWORD}|{_PUNCT}))|\S"""
)
_CLOSING = re.compile(r"[\"')\]}]+?(?:\s+|(?=--)|$)", re.MULTILINE)
_ELLIPSIS = re.compile(r"\.\.+$")
_NUMBER = re.compile(r"^-?[.,]?\d[\d,.-]*\.?$")
_INITIAL = re.compile(r"[^\W\d]\.$")
_PARAGRAPH = re.compile(r"\n[^\S\n]*\n\s*")
_BLANK = frozenset(" \t\n\r\v\f")


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, without the blanks around them. A blank line always ends a sentence."""
    found: list[str] = []
    for part in _PARAGRAPH.split(text):
        end = 0
        for index, (start, stop) in enumerate(_spans(part)):
            piece = part[start:stop].strip()
            apart = part[end:start].isspace() or (
                end < stop and part[end:start] == "" and part[end].isspace()
            )
            if index and (not apart or not any(character.isalnum() for character in piece)):
                found[-1] = f"{found[-1]}{' ' if apart else ''}{piece}"
            elif piece:
                found.append(piece)
            end = stop
    return found


def is_caption(item: Item) -> bool:
    """One picture: a caption. None: a caption where the text is one sentence. Several pictures: a story."""
    if item.images:
        return len(item.images) == 1
    given = [text for text in item.sentences or () if text.strip()]
    if given:
        return len(given) == 1
    return not _MAY_END.search(item.text.strip()) or len(split_sentences(item.text)) < 2


def punkt_sentences(text: str) -> list[str]:
    """The sentences as NLTK 3.8's `sent_tokenize` gives them."""
    return [text[start:stop] for start, stop in _spans(text)]


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """First and last place of each sentence; quotation marks and brackets go to the sentence they close."""
    slices = list(_slices(text))
    moved = 0
    for (start, stop), following in zip(slices, [*slices[1:], None], strict=True):
        start += moved
        moved = 0
        if following and (closing := _CLOSING.match(text[slice(*following)])):
            yield start, following[0] + len(closing.group().rstrip())
            moved = closing.end()
        elif text[start:stop]:
            yield start, stop


def _slices(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match, context in _contexts(text):
        if _breaks(context):
            yield start, match.end()
            start = match.start("next") if match["next"] else match.end()
    yield start, len(text.rstrip())


def _contexts(text: str) -> Iterator[tuple[re.Match[str], str]]:
    """Every mark that may end a sentence, the last of several at one word, with the word before and after it."""
    last: re.Match[str] | None = None
    begin = end = 0
    for match in _CONTEXT.finditer(text):
        word = next((k + 1 for k in range(match.start() - 1, end, -1) if text[k] in _BLANK), begin)
        if last and end <= word:
            yield last, text[begin:end] + last.group() + last["after"]
        last, begin, end = match, word, match.start()
    if last:
        yield last, text[begin:end] + last.group() + last["after"]


_MAY_END = re.compile(r"[.?!]\S*\s|\n\s*\n")
"""What a text of several sentences has somewhere before its end."""


@dataclass(slots=True)
class _Token:
    text: str
    ends: bool = False
    abbreviation: bool = False

    @property
    def type(self) -> str:
        return _NUMBER.sub("##number##", self.text.lower())

    @property
    def bare(self) -> str:
        """The type without the full stop that ends its sentence."""
        return self.type[:-1] if self.ends and len(self.type) > 1 and self.type.endswith(".") else self.type


def _breaks(context: str) -> bool:
    """Whether a sentence ends within these words, the last of which only tells how it goes on."""
    tokens = [_Token(found) for line in context.split("\n") for found in _TOKEN.findall(line)]
    for token in tokens:
        if token.text in {".", "?", "!"}:
            token.ends = True
        elif token.text.endswith(".") and not token.text.endswith(".."):
            word = token.text[:-1].lower()
            token.abbreviation = word in ABBREVIATIONS or word.rpartition("-")[2] in ABBREVIATIONS
            token.ends = not token.abbreviation
    for token, following in pairwise(tokens):
        if token.text.endswith("."):
            _reconsider(token, following)
    return any(token.ends for token in tokens[:-1])


def _reconsider(token: _Token, following: _Token) -> None:
    """What the next word tells about an abbreviation, an ellipsis, an initial or a number."""
    initial = bool(_INITIAL.match(token.text))
    number = token.type in {"##number##", "##number##."}
    word = following.bare
    if number and word in AFTER_NUMBER:
        token.ends = False
        return
    upper = following.text[0].isupper()
    weak = token.abbreviation or _ELLIPSIS.match(token.text)
    if weak and not initial and upper and (word in _lower_case()[0] or word in STARTERS):
        token.ends = True
        return
    if (initial or number) and (
        following.text in ";:,.!?"
        or following.text[0].islower()
        or (initial and upper and not any(word in words for words in _lower_case()))
    ):
        token.ends = False


@cache
def _lower_case() -> tuple[frozenset[str], frozenset[str]]:
    """Words that are no names: those written with a capital at the beginning of sentences only, and the others."""
    lines = files("sightline.text").joinpath("starts.txt").read_text(encoding="utf-8").splitlines()
    only, also = (frozenset(line.split()) for line in lines)
    return only, also


def sentences_of(item: Item) -> tuple[str, ...]:
    """The item's sentences: a caption is one, given ones are kept, a story's text is split.

    A given sentence that is blank keeps its place: the next one belongs to the next picture.
    """
    if not item.whole_text.strip():
        return ()
    if item.is_caption:
        return (item.whole_text,)
    return tuple(item.sentences) if item.sentences else tuple(split_sentences(item.text))
