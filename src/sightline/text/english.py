"""Whether words look English, so that a score on other text can say that it stands on sand."""

from collections.abc import Sequence
from functools import cache

from sightline.text.idf import Idf

_LITTLE = """
the a an and or but of to in on at by for with from up out off over under into onto through about after
before during as is are was were be been being am 's 're 've 'm do does did not n't have has had he she
it they we you i his her its their our my your him them us me this that these those there here who which
what when where how all some any no one two three many most more very so too then than just also only
even can could will would should may might must if because while until next near around down back
"""
LITTLE_WORDS = frozenset(_LITTLE.split())
ENOUGH = 5
"""Words from which on their kind can be judged; below, only their script is."""


@cache
def _story_words() -> frozenset[str]:
    """Words that more than one English story uses."""
    return frozenset(word for word, stories in Idf.shipped().frequencies.items() if stories > 1)


def doubt(words: Sequence[str]) -> tuple[str, ...]:
    """A note where the text does not look English: another script, or few words that English stories use."""
    spoken = [word.lower() for word in words if any(character.isalpha() for character in word)]
    if not spoken:
        return ()
    latin = sum(word.isascii() for word in spoken) / len(spoken)
    little = sum(word in LITTLE_WORDS for word in spoken) / len(spoken)
    known = sum(word in LITTLE_WORDS or word in _story_words() for word in spoken) / len(spoken)
    if latin < 0.5 or (len(spoken) >= ENOUGH and known < 0.4 and little < 0.25):
        return ("the text does not look English: its phrases are unreliable",)
    return ()
