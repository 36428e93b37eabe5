"""Whether words look English, so that a score on other text can say that it stands on sand."""

from collections.abc import Sequence

_LITTLE = """
the a an and or but of to in on at by for with from up out off over under into onto through about after
before during as is are was were be been being am 's 're 've 'm do does did not n't have has had he she it
they we you i his her its their our my your him them us me this that these those there here who which what
when where how all some any no one two three many most more very so too then than just also only even can
could will would should may might must if because while until next near around down back
"""
FUNCTION_WORDS = frozenset(_LITTLE.split())

ENOUGH = 8
FEW = 0.12


def doubt(words: Sequence[str]) -> tuple[str, ...]:
    """A note where the text does not look English: another script, or hardly any of its little words."""
    letters = [word for word in words if any(character.isalpha() for character in word)]
    if not letters:
        return ()
    latin = sum(word.isascii() for word in letters) / len(letters)
    little = sum(word.lower() in FUNCTION_WORDS for word in letters) / len(letters)
    if latin < 0.5 or (len(letters) >= ENOUGH and little < FEW):
        return ("the text does not look English: its phrases are unreliable",)
    return ()
