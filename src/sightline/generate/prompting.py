"""Narratives by a chat model and HL's few-shot prompt (Figure 20)."""

import re
from collections.abc import Sequence
from typing import Final

from sightline.chat import Chat, together
from sightline.errors import Unscorable
from sightline.generate.narratives import Triple

PROMPT: Final = (
    "Given three sentences merge them into one sentence, and make sure that the sentence is grammatically correct. "
    "Here is an example:'in a beach',' holding an umbrella',' so they won't get a sunburn' <holding an umbrella in the "
    "beach so that they won't get a sunburn.>\n The three sentences are: '{scene}','{action}','{rationale}' <"
)
LONGEST: Final = 80
"""Words; a longer answer is no sentence."""
TOKENS: Final = 200


class PromptTeller:
    """Asks a chat model for each three, several at once."""

    def __init__(self, model: Chat) -> None:
        self._model = model

    @property
    def signature(self) -> str:
        return f"{self._model.signature}|prompt=hl"

    def tell(self, triples: Sequence[Triple]) -> list[str | Unscorable]:
        return together(self._one, triples)

    def _one(self, triple: Triple) -> str | Unscorable:
        try:
            (answer,) = self._model.ask(
                [PROMPT.format(**triple.sources.told())], temperature=0.0, max_tokens=TOKENS
            )
            return sentence_in(answer.text)
        except Unscorable as reason:
            return reason


def sentence_in(answer: str) -> str:
    """The sentence in a model's answer: between the brackets of the prompt, else its first line; checked.

    Raises Unscorable where there is none.
    """
    text = answer.replace("&lt;", "<").replace("&gt;", ">")
    closed = re.search(r"<([^<>]+)>", text)
    if closed:
        text = closed[1]
    else:
        text = text.lstrip("< \n").split(">")[0]
        lines = [line for line in text.splitlines() if line.strip()]
        talk = len(lines) > 1 and lines[0].rstrip().endswith(":")  # `Here is the merged sentence:`
        text = (lines[1] if talk else lines[0]) if lines else ""
        text = re.sub(r"^(?:sure|here is|here's)[^:]{0,60}:\s*", "", text, flags=re.IGNORECASE)
    text = " ".join(text.split()).strip(" '\"“”*`")
    shown = " ".join(answer.split())[:120]
    if not any(character.isalpha() for character in text):
        raise Unscorable(f"the answer holds no sentence: '{shown}'")
    if "three sentences" in text.lower() or "merge them" in text.lower():
        raise Unscorable(f"the answer repeats the question: '{shown}'")
    if len(text.split()) > LONGEST:
        raise Unscorable(f"the answer is longer than a sentence: '{shown}…'")
    if len(re.findall(r"[.!?]\s+(?=[A-Z])", text)) > 0:
        raise Unscorable(f"the answer is more than one sentence: '{shown}'")
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "!", "?")) else f"{text}."
