"""Items whose answer is known beforehand: what may be written there, and how near an answer comes to it."""

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.errors import UsageError
from sightline.people.forms import TIE, Given, levels_of, words_of
from sightline.people.study import SINGLE, Study
from sightline.people.training import attention_score, competency

RIGHT, NEAR, WRONG = 2, 1, 0
SAME_WORDS, SOME_WORDS = 0.8, 0.4
"""From this share of common marks on (F1), two markings count as the same, or as near."""


def check_known(study: Study, content: Mapping[str, Any], known: Any) -> Any:
    """An item's known answer in the form it is kept in, or what is wrong with it.

    A level for kinds that ask for one; each question's level for surveys; 0, 1 or "tie" for preferences; the
    places of the wrong words for error marking; for descriptions, words of which one must occur.
    """
    if study.kind in SINGLE:
        return study.levels.check(known)
    if study.kind == "pairwise preference":
        if known not in (0, 1, TIE):
            raise UsageError('the better text is 0, 1 or "tie"')
        return known
    if study.kind == "error marking":
        words = len(words_of(content))
        if not isinstance(known, Sequence) or not all(
            isinstance(at, int) and 0 <= at < words for at in known
        ):
            raise UsageError(f"give the places of the wrong words as a list, 0 to {words - 1}")
        return sorted(set(known))
    if not isinstance(known, Mapping) or not known:
        raise UsageError('give the known answer to each question, as in {"scene": 4}')
    if study.kind == "description":
        return {
            str(name): [words] if isinstance(words, str) else list(words) for name, words in known.items()
        }
    return {str(name): study.levels.check(level) for name, level in known.items()}


def score(study: Study, content: Mapping[str, Any], known: Any, given: Given, attention: bool = False) -> int:
    """2 for the known answer, 1 for one near it, 0 for another; over several questions, what most come to."""
    single = attention_score if attention else competency
    if study.kind in SINGLE:
        return single(given.value, known) if given.value is not None else WRONG
    if study.kind == "pairwise preference":
        better = given.answers["better"]
        return RIGHT if better == known else NEAR if TIE in (better, known) and not attention else WRONG
    if study.kind == "error marking":
        share = overlap(given.answers["errors"], known)
        return RIGHT if share >= SAME_WORDS else NEAR if share >= SOME_WORDS else WRONG
    if study.kind == "description":
        return _of_all([_says(given.answers.get(name, ""), words) for name, words in known.items()])
    levels = levels_of(given.value, given.answers)
    return _of_all([single(levels[name], level) for name, level in known.items() if name in levels])


def overlap(marked: Sequence[int], known: Sequence[int]) -> float:
    """F1 of two sets of marked words; two empty ones are the same."""
    both, all_marks = len(set(marked) & set(known)), len(set(marked)) + len(set(known))
    return 2 * both / all_marks if all_marks else 1.0


def _says(text: str, words: Sequence[str]) -> int:
    return RIGHT if any(word.lower() in text.lower() for word in words) else WRONG


def _of_all(scores: Sequence[int]) -> int:
    mean = sum(scores) / len(scores) if scores else 0.0
    return RIGHT if mean >= 1.5 else NEAR if mean >= 0.75 else WRONG
