"""A scorer of inspect-ai: the model's answer as a text about the sample's pictures.

>>> from inspect_ai import Task  # doctest: +SKIP
>>> from sightline.integrations.inspect_ai import sightline_scorer  # doctest: +SKIP
>>> Task(dataset=..., scorer=[sightline_scorer("clipscore"), sightline_scorer("vicr")])  # doctest: +SKIP

inspect-ai scores sample by sample, so metrics that weigh words by all texts together (CIDEr's idf) are refused, and
BLEU is a mean over samples, not the corpus's.
"""

import asyncio
import base64
import threading
from collections.abc import Iterable
from typing import Any

import sightline
from sightline.errors import UsageError, extra
from sightline.integrations.texts import items_of, scores_of, several
from sightline.metrics import make_metric

scoring = extra("inspect_ai.scorer", "integrations")


@scoring.scorer(metrics=[scoring.mean(), scoring.stderr()], name="sightline")
def sightline_scorer(
    metric: str = "clipscore",
    images: str = "images",
    references: str = "references",
    options: dict[str, Any] | None = None,
) -> Any:
    """Score each answer with one metric.

    Pictures are those of the sample's input, or the paths under `images` in its metadata; references those under
    `references` there, or else the target. What cannot be scored is left unscored with the reason, outside the mean.
    """
    if any(statistic.name == "df" for statistic in make_metric(metric).fits()):
        raise UsageError(
            f"{metric} weighs words by all texts together, and inspect-ai scores them one by one"
        )
    holder, one_at_a_time = sightline.Holder(), threading.Lock()

    def measure(text: str, seen: list[Any], said: list[str]) -> Any:
        with one_at_a_time:
            return scores_of(items_of([text], [seen], [said]), metric, holder=holder, **(options or {}))

    async def score(state: Any, target: Any) -> Any:
        text = state.output.completion.strip()
        seen = [*several(state.metadata.get(images)), *pictures_in(state.input)]
        said = several(state.metadata.get(references)) or [one for one in target if one]
        found = await asyncio.to_thread(measure, text, seen, said)
        told = {"signature": found.signature}
        if found.failures:
            return scoring.Score.unscored(answer=text, explanation=found.failures[0], metadata=told)
        return scoring.Score(
            value=found.value, answer=text, explanation=why(found.result.scores[0]), metadata=told
        )

    return score


def pictures_in(given: Any) -> Iterable[Any]:
    """The pictures of a sample's input: paths, or the bytes within `data:` addresses."""
    for message in [] if isinstance(given, str) else given:
        for part in [] if isinstance(message.content, str) else message.content:
            if part.type == "image":
                head, comma, rest = part.image.partition(",")
                inline = comma and head.startswith("data:")
                yield base64.b64decode(rest) if inline else part.image.removeprefix("file://")


def why(score: sightline.Score) -> str:
    """What a reader of the log wants to know: the evidence in a line."""
    evidence = score.evidence
    phrases = [f"{phrase.text} {phrase.contribution:+.2f}" for phrase in evidence.phrases]
    pairs = [f"{pair.left} with {pair.right}: {pair.score:.3f}" for pair in evidence.pairs]
    return "; ".join([*phrases, *pairs, *evidence.notes])
