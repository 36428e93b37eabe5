"""What METEOR counts: the alignment with the best reference, by Sightline or by METEOR's own jar."""

import gzip
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sightline.errors import Unscorable, UsageError
from sightline.features.base import Feature, Features, Tools
from sightline.features.reference import TokenKind, Tokens
from sightline.text.alignment import Paraphrases, align
from sightline.text.wordnet import WordNet, load_wordnet, meteor_jar

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
"""Words said more than once in a thousand (METEOR's definition), counted in the English Web Treebank."""


@dataclass(frozen=True)
class MeteorCounts:
    counts: tuple[tuple[float, ...], ...]
    """For each reference, as `sightline.metrics.meteor.meteor` reads them."""


_PARTS = re.compile(r"'?[\w.,$&%]+|[^\w\s]")


def normal(words: Sequence[str]) -> list[str]:
    """Words as METEOR's `-norm` leaves them: lower case, brackets and contractions apart."""
    return [part for word in words for part in _PARTS.findall(word.lower())]


def count_matches(
    text: Sequence[str],
    reference: Sequence[str],
    wordnet: WordNet | None,
    paraphrases: Paraphrases | None = None,
) -> tuple[float, ...]:
    """Sufficient statistics of one pair."""
    matches, chunks = align(text, reference, wordnet, paraphrases)
    mine = [word in FUNCTION_WORDS for word in text]
    theirs = [word in FUNCTION_WORDS for word in reference]
    stages = np.zeros((4, 4))
    for match in matches:
        for place in range(match.text_start, match.text_start + match.text_length):
            stages[int(mine[place]), match.stage] += 1
        for place in range(match.start, match.start + match.length):
            stages[2 + int(theirs[place]), match.stage] += 1
    head = (len(text), sum(mine), len(reference), sum(theirs), chunks)
    return (*map(float, head), *stages.ravel().tolist())


@lru_cache(maxsize=2)
def load_paraphrases(path: str) -> Paraphrases:
    """METEOR's paraphrase table: three lines an entry, probability, phrase, phrase."""
    table: dict[str, set[str]] = {}
    longest = 0
    try:
        with (
            gzip.open(path, "rt", encoding="utf-8")
            if path.endswith(".gz")
            else Path(path).open(encoding="utf-8") as lines
        ):
            for _, one, other in zip(lines, lines, lines, strict=False):
                one, other = one.strip(), other.strip()
                table.setdefault(other, set()).add(one)
                longest = max(longest, one.count(" ") + 1, other.count(" ") + 1)
    except (OSError, EOFError, UnicodeDecodeError) as fault:
        raise UsageError(f"{path}: not a paraphrase table ({fault})") from None
    return Paraphrases({phrase: frozenset(same) for phrase, same in table.items()}, longest)


@dataclass(frozen=True)
class MeteorMatches(Feature[MeteorCounts]):
    """The alignment with each reference."""

    kind: TokenKind = "ptb"
    value = MeteorCounts

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens(self.kind),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[MeteorCounts | Unscorable]:
        wordnet = load_wordnet(tools.option("wordnet"))
        table = tools.option("paraphrases")
        paraphrases = load_paraphrases(table) if table else None
        found: list[MeteorCounts | Unscorable] = []
        for got in batch:
            value = got[Tokens(self.kind)]
            text = normal(value.candidate)
            every = [normal(reference) for reference in value.references]
            found.append(
                MeteorCounts(tuple(count_matches(text, words, wordnet, paraphrases) for words in every))
            )
        return found

    def signature(self, tools: Tools) -> Mapping[str, str]:
        wordnet = load_wordnet(tools.option("wordnet"))
        stages = ["exact", "stem"] + ([f"synonym({wordnet.name})"] if wordnet else [])
        if table := tools.option("paraphrases"):
            stages.append(f"paraphrase({Path(table).name})")
        return {"stages": "+".join(stages)}


@dataclass(frozen=True)
class JavaMeteor(Feature[MeteorCounts]):
    """METEOR 1.5's own statistics, through its jar."""

    kind: TokenKind = "ptb"
    value = MeteorCounts

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens(self.kind),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[MeteorCounts | Unscorable]:
        values = [got[Tokens(self.kind)] for got in batch]
        lines = [
            f"SCORE ||| {_plain(reference)} ||| {_plain(value.candidate)}"
            for value in values
            for reference in value.references
        ]
        rows = iter([from_java(line) for line in _run_jar(_jar(tools), lines)])
        return [MeteorCounts(tuple(next(rows) for _ in value.references)) for value in values]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"stages": f"exact+stem+synonym+paraphrase({_jar(tools).name})"}


def from_java(line: str) -> tuple[float, ...]:
    """The jar's statistics in our order; its own is lengths, function words, then stage by stage."""
    stats = [float(value) for value in line.split()]
    length, reference_length, function, reference_function = stats[:4]
    content, reference_content, said, reference_said = np.reshape(stats[4:20], (4, 4)).T.tolist()
    head = (length, function, reference_length, reference_function, stats[20])
    return (*head, *content, *said, *reference_content, *reference_said)


def _plain(words: Sequence[str]) -> str:
    """Words in one line of the jar's protocol, whatever they hold."""
    return " ".join(word.replace("|||", "").replace("\n", " ") for word in words)


def _jar(tools: Tools) -> Path:
    given = tools.option("meteor_jar")
    jar = Path(given) if given else meteor_jar()
    if shutil.which("java") is None:
        raise UsageError("meteor:engine=java needs a Java runtime; without one, use meteor")
    if jar is None or not jar.is_file():
        raise UsageError("meteor:engine=java needs meteor-1.5.jar: pip install pycocoevalcap")
    return jar


def _run_jar(jar: Path, lines: Sequence[str]) -> list[str]:
    """All lines in, all answers out: nothing waits for the other's buffer, and nothing is left running."""
    command = ["java", "-Xmx2G", "-jar", jar.name, "-", "-", "-stdio", "-l", "en", "-norm"]
    done = subprocess.run(
        command, cwd=jar.parent, input="\n".join(lines) + "\n", capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise UsageError(f"{jar.name} failed: {done.stderr.strip().splitlines()[-1:] or ['no message']}")
    return done.stdout.splitlines()
