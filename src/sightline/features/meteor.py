"""What METEOR counts: the alignment with the best reference, by Sightline or by METEOR's own jar."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Fit, Statistic, Tools
from sightline.features.reference import TokenKind, Tokens
from sightline.jars import ask_meteor, jar_files, meteor_jar
from sightline.text.alignment import align
from sightline.text.meteor_words import FUNCTION_WORDS, normal
from sightline.text.paraphrases import Paraphrases, load_paraphrases
from sightline.text.sentences import is_caption
from sightline.text.wordnet import WordNet, load_wordnet

Task = Literal["rank", "hter"]
"""What METEOR's weights were tuned for: COCO's caption evaluation uses `rank`, that of VIST stories `hter`."""


@dataclass(frozen=True)
class MeteorCounts:
    counts: tuple[tuple[float, ...], ...]
    """For each reference, as `sightline.metrics.meteor.meteor` reads them."""


def prepared(words: Sequence[str], kind: TokenKind) -> Sequence[str]:
    """PTB tokens as METEOR's `-norm` cuts them, as COCO's evaluation has it; given tokens stay as they are."""
    return normal(words) if kind == "ptb" else words


def count_matches(
    text: Sequence[str],
    reference: Sequence[str],
    wordnet: WordNet | None,
    paraphrases: Paraphrases | None = None,
) -> tuple[float, ...]:
    """Sufficient statistics of one pair."""
    matches, chunks = align(text, reference, wordnet, paraphrases)
    function = (wordnet.function_words if wordnet else None) or FUNCTION_WORDS
    mine = [word.lower() in function for word in text]
    theirs = [word.lower() in function for word in reference]
    stages = np.zeros((4, 4))
    for match in matches:
        for place in range(match.text_start, match.text_start + match.text_length):
            stages[int(mine[place]), match.stage] += 1
        for place in range(match.start, match.start + match.length):
            stages[2 + int(theirs[place]), match.stage] += 1
    head = (len(text), sum(mine), len(reference), sum(theirs), chunks)
    return (*map(float, head), *stages.ravel().tolist())


MOST = 5000
"""Words of a text: an alignment looks at every way to match them."""


@dataclass(frozen=True)
class MeteorMatches(Feature[MeteorCounts]):
    """The alignment with each reference."""

    kind: TokenKind = "ptb"
    value = MeteorCounts

    def needs(self) -> tuple[Feature[Any], ...]:
        return (Tokens(self.kind),)

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[MeteorCounts | Unscorable]:
        wordnet = tools.held(load_wordnet, tools.option("wordnet"))
        table = tools.option("paraphrases")
        paraphrases = tools.held(load_paraphrases, table) if table else None
        found: list[MeteorCounts | Unscorable] = []
        for got in batch:
            value = got[Tokens(self.kind)]
            longest = max(map(len, (value.candidate, *value.references)))
            if longest > MOST:
                found.append(Unscorable(f"a text of {longest:,} words; METEOR aligns at most {MOST:,}"))
                continue
            text, *every = (prepared(words, self.kind) for words in (value.candidate, *value.references))
            found.append(
                MeteorCounts(tuple(count_matches(text, words, wordnet, paraphrases) for words in every))
            )
        return found

    def signature(self, tools: Tools) -> Mapping[str, str]:
        wordnet = tools.held(load_wordnet, tools.option("wordnet"))
        stages = ["exact", "stem"] + ([f"synonym({wordnet.resource.digest})"] if wordnet else [])
        if table := tools.option("paraphrases"):
            stages.append(f"paraphrase({tools.held(load_paraphrases, table).resource.digest})")
        function = (
            "embedded" if wordnet is None or wordnet.function_words is None else wordnet.resource.digest
        )
        return {"stages": "+".join(stages), "function": function}


@dataclass(frozen=True)
class MeteorTask(Statistic[Task]):
    """The task of a whole run: `rank` where most of its texts are captions, `hter` where most are stories."""

    name = "task"

    def partial(self, corpus: Iterable[Features]) -> tuple[int, int]:
        """How many captions, of how many items."""
        every = [is_caption(got.item) for got in corpus]
        return sum(every), len(every)

    def merged(self, parts: Sequence[tuple[int, int]]) -> tuple[int, int]:
        return sum(captions for captions, _ in parts), sum(items for _, items in parts)

    def fitted(self, part: tuple[int, int], tools: Tools) -> Fit[Task]:
        captions, items = part
        return Fit("rank" if 2 * captions >= items else "hter", "corpus")

    def load(self, saved: Any) -> Task:
        if saved not in ("rank", "hter"):
            raise ValueError("neither rank nor hter")
        return "rank" if saved == "rank" else "hter"

    def told(self, fit: Fit[Task]) -> str:
        return fit.value  # as where the user says so


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
        jar = meteor_jar(tools.option("meteor_jar"))
        rows = map(from_java, ask_meteor(jar, lines, norm=self.kind == "ptb"))
        return [MeteorCounts(tuple(next(rows) for _ in value.references)) for value in values]

    def signature(self, tools: Tools) -> Mapping[str, str]:
        jar = jar_files(meteor_jar(tools.option("meteor_jar")))
        return {"stages": f"exact+stem+synonym+paraphrase({jar.digest})"}


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
