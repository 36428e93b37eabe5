"""What texts say there is, as facts: found by our parser, or by SPICE's own jar."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sightline.errors import Unscorable
from sightline.features.base import Feature, Features, Tools
from sightline.jars import ask_spice, jar_files, spice_jar
from sightline.text.scene_graph import Fact, facts, matched
from sightline.text.wordnet import load_wordnet


@dataclass(frozen=True)
class GraphCounts:
    candidate: int
    reference: int
    precise: int
    recalled: int


@dataclass(frozen=True)
class SceneGraphs(Feature[GraphCounts]):
    """Facts of the text against the facts of all its references together."""

    value = GraphCounts

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[GraphCounts | Unscorable]:
        wordnet = tools.held(load_wordnet, tools.option("wordnet"))
        texts = [(got.item.whole_text, *(r for r in got.item.references if r.strip())) for got in batch]
        unique = list(dict.fromkeys(text for group in texts for text in group if text.strip()))
        said = {
            text: facts(parsed) for text, parsed in zip(unique, tools.language.parse(unique), strict=True)
        }
        found: list[GraphCounts | Unscorable] = []
        for mine, *theirs in texts:
            if not theirs:
                found.append(Unscorable("there are no references"))
                continue
            own: set[Fact] = said.get(mine, set())
            known: set[Fact] = set().union(*(said[text] for text in theirs))
            if not own or not known:
                found.append(Unscorable(f"there is no object in the {'text' if not own else 'references'}"))
                continue
            precise, recalled = matched(own, known, wordnet), matched(known, own, wordnet)
            found.append(GraphCounts(len(own), len(known), precise, recalled))
        return found

    def signature(self, tools: Tools) -> Mapping[str, str]:
        wordnet = tools.held(load_wordnet, tools.option("wordnet"))
        return {"nlp": tools.language.signature, "synonyms": wordnet.resource.digest if wordnet else "none"}


@dataclass(frozen=True)
class SpiceValue:
    f: float
    precision: float
    recall: float


@dataclass(frozen=True)
class SpiceGraphs(Feature[SpiceValue]):
    """What the jar says of each text."""

    value = SpiceValue

    def compute(self, batch: Sequence[Features], tools: Tools) -> list[SpiceValue | Unscorable]:
        able = [got for got in batch if self._why_not(got) is None]
        rows = [
            {
                "image_id": n,
                "test": got.item.whole_text,
                "refs": [r for r in got.item.references if r.strip()],
            }
            for n, got in enumerate(able)
        ]
        found = iter(ask_spice(spice_jar(tools.option("spice_jar")), rows)) if rows else iter(())
        return [
            Unscorable(reason) if (reason := self._why_not(got)) else SpiceValue(*next(found))
            for got in batch
        ]

    def _why_not(self, got: Features) -> str | None:
        if not any(text.strip() for text in got.item.references):
            return "there are no references"
        return None if got.item.whole_text.strip() else "the text has no words"

    def signature(self, tools: Tools) -> Mapping[str, str]:
        return {"jar": jar_files(spice_jar(tools.option("spice_jar"))).digest}
