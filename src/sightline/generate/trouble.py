"""Texts that are none: a captioner that says nothing, or goes round in circles."""

from sightline.errors import Unscorable
from sightline.generate.base import Candidate, Described

LONGEST = 8
"""Words of what may come again and again."""
SHOWN = 120
"""Characters of such a text that its failure tells."""


def trouble(text: str) -> str | None:
    """What is wrong with a text, if anything.

    >>> trouble("a dog and a dog and a dog and a dog")
    "it repeats itself: 'a dog and a dog and a dog and a dog'"
    """
    if not any(character.isalnum() for character in text):
        return f"it says nothing: '{text[:SHOWN]}'"
    if _loops(text.lower().split()):
        shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
        return f"it repeats itself: '{shown}'"
    return None


def _loops(words: list[str]) -> bool:
    """Whether the same words come three times in a row, or one word four times ("very, very, very" may be meant)."""
    for length in range(1, LONGEST + 1):
        times = 4 if length == 1 else 3
        run = 0
        for place in range(length, len(words)):
            run = run + 1 if words[place] == words[place - length] else 0
            if run >= length * (times - 1):
                return True
    return False


def sound(described: Described) -> Described:
    """The candidates that are texts; where there is none, why."""
    if isinstance(described, Unscorable):
        return described
    good: list[Candidate] = []
    reason = "the captioner says nothing"
    for candidate in reversed(described):
        found = trouble(candidate.text)
        if found is None:
            good.append(candidate)
        else:
            reason = found
    return good[::-1] or Unscorable(reason)
