"""How often odd captions and stories are cut as the published programs cut them.

    python benchmarks/measure_tokens.py [--seed 1] [--punkt punkt_tab/english]

Makes 2,000 captions with one to three odd pieces each and counts those that Stanford's PTBTokenizer (the jar that comes
with pycocoevalcap, run by Java) reads otherwise; then the same with half of the blanks before the pieces left out.
`--punkt` names NLTK's English parameters as published (abbrev_types.txt, ortho_context.tab …): VIST's stories of the
folder of real data, as they are and with odd pieces and capitals, are held against NLTK's Punkt.
"""

import argparse
import gzip
import json
import os
import random
import re
import subprocess
import tempfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from nltk.tokenize.punkt import PunktParameters, PunktSentenceTokenizer

from sightline.text import ptb
from sightline.text.sentences import punkt_sentences

DATA = Path(os.environ.get("SIGHTLINE_DATA", Path(__file__).parents[2] / "shared" / "data"))
WHO = "a man|two dogs|The kids|someone|Three zebras|we|the chef|a skate-boarder|my cat".split("|")
DOES = "is riding|stands on|looks at|won't leave|can't see|should've taken|gonna catch|jumps over".split("|")
WHAT = "a pizza|the beach|a T-shirt|his/her bike|an X-ray|the 3rd base|a Mercedes-Benz|St. Mark's".split("|")
ODD = (
    "😀 ❤️ 👍🏽 🇺🇸 🐶! non‑stop well‐known 2010–2012 word—word ‘hello’ “Hi!” „ja“ «oui» o’clock o'clock "
    "’tis '90s don’t dogs’ James’s y’all €5 £10.50 ¥1000 $3.99 US$20 10¢ C++ C# .NET so\u00adft No. "
    "No.5 1/2 ½ 3½ 3/4 24/7 w/ 72°F 10% #cute #1 @user www.flickr.com http://t.co/abc me@mail.com "
    "10:30am p.m. 12/25/2012 Sept. Dr. vs. etc. e.g. U.S. J.R. Ph.D. Inc. :) ;) :D <3 :( … ... !!! "
    "?! -- ~ *wow* (lol) [sic] &amp; AT&T Q&A × 5×5 4x4 3-D LEGO® ™ ¿qué? café 日本 a\u00a0b it`s "
    "``so'' \" 5'6\" 5-year-old mid-90s un-American 1,000 3.14 .5 1. 1) 22nd 'em more'n cannot lemme "
    "OMG sooo hahaha MP3 F-16 M&M's Yahoo! 9/11 007 1-800-555-1234 • → ★ №5"
).split(" ")
ENDS = ("", "", "", ".", " .", "!", "?", "...", "…", ".”", ",")
ODD_STORY = (
    "[male0]|[location2]|t.j.|!.|\"|``|''|...|. . .|?!|Mr.|Dr.|St.|a.m.|U.S.|no. 5|J.|e.g.|etc.|'tis|(|)|--|.|!|"
    '?|;|$5.00|Jan.|"!|."|.)|?"|\'Hello\'|Ph.D.|..|!!!|The|He|Then|"Yes."'
).split("|")
"""No curly quotes: the published programs had NLTK 3.8, and only later versions take them for closing ones."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--punkt", type=Path)
    given = parser.parse_args()
    for glued in (0.0, 0.5):
        texts = captions(random.Random(given.seed), glued)
        print(
            f"captions, {glued:.0%} of them glued: {differing(texts)} of {len(texts)} read otherwise than by Java"
        )
    if given.punkt:
        stories = vist()
        rng = random.Random(given.seed)
        odd = [with_odd(rng, rng.choice(stories)) for _ in range(10_000)]
        cut = punkt(given.punkt)
        for name, texts in {"stories": stories, "odd": odd, "odd, capitals": [*map(capitals, odd)]}.items():
            other = sum(punkt_sentences(text) != cut(text) for text in texts)
            print(f"{name}: {100 - 100 * other / len(texts):.2f} % of {len(texts):,} cut as by Punkt")


def captions(rng: random.Random, glued: float, count: int = 2000) -> list[str]:
    made = []
    for _ in range(count):
        words = [rng.choice(WHO), rng.choice(DOES), rng.choice(WHAT)]
        for _ in range(rng.randint(1, 3)):
            words.insert(rng.randrange(len(words) + 1), rng.choice(ODD))
        if rng.random() < glued:
            at = rng.randrange(len(words) - 1)
            words[at : at + 2] = [words[at] + words[at + 1]]
        made.append(" ".join(words) + rng.choice(ENDS))
    return made


def differing(texts: list[str]) -> int:
    """How many the jar reads otherwise; a line of its output for each text."""
    place = find_spec("pycocoevalcap")
    assert place and place.submodule_search_locations
    jar = Path(place.submodule_search_locations[0]) / "tokenizer" / "stanford-corenlp-3.4.1.jar"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "texts.txt"
        file.write_text("\n".join(texts) + "\n", "utf-8")
        line = (
            f"java -cp {jar} edu.stanford.nlp.process.PTBTokenizer -encoding UTF-8 -preserveLines -lowerCase"
        )
        done = subprocess.run([*line.split(), str(file)], capture_output=True, check=True)
    java = done.stdout.decode("utf-8").split("\n")
    assert len(java) == len(texts) + 1
    bare = ([word for word in found.split(" ") if word and word not in ptb.PUNCTUATION] for found in java)
    return sum(ptb.tokens(text) != words for text, words in zip(texts, bare, strict=False))


def vist() -> list[str]:
    with gzip.open(DATA / "vist_published_scores.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for line in lines]


def with_odd(rng: random.Random, story: str) -> str:
    words = story.split(" ")
    for _ in range(rng.randint(1, 4)):
        at, piece = rng.randrange(len(words)), rng.choice(ODD_STORY)
        glue = rng.random()
        words[at] = (
            words[at] + piece if glue < 0.4 else piece + words[at] if glue < 0.5 else f"{piece} {words[at]}"
        )
    return " ".join(words)


def capitals(story: str) -> str:
    told = re.sub(r"(^|[.!?] )(\w)", lambda found: found[1] + found[2].upper(), story)
    return re.sub(r" ([.,!?])", r"\1", told)


def punkt(folder: Path) -> Callable[[str], list[str]]:
    def rows(name: str) -> list[str]:
        return (folder / name).read_text("utf-8").splitlines()

    known = PunktParameters()
    known.abbrev_types, known.sent_starters = set(rows("abbrev_types.txt")), set(rows("sent_starters.txt"))
    known.collocations = {tuple(row.split("\t")) for row in rows("collocations.tab")}
    for row in rows("ortho_context.tab"):
        word, context = row.split("\t")
        known.ortho_context[word] = int(context)
    cutter = PunktSentenceTokenizer()
    cutter._params = known
    return cutter.tokenize


if __name__ == "__main__":
    main()
