"""Describing a picture along three axes, and the rules a good answer keeps (HL, Appendix D)."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sightline.people.words import Say, english

QUESTIONS = {
    "scene": "Where is the picture taken?",
    "action": "What is the subject doing?",
    "rationale": "Why is the subject doing it?",
}
EXAMPLES = {
    "scene": "in a ski resort",
    "action": "They are skiing.",
    "rationale": "They are on a family holiday.",
}
INSTRUCTIONS = (
    "Each picture shows one person or several: the subject. Answer three questions about it.",
    "Trust your own reading and common sense; do not think too long. Not sure? State your best guess.",
    'Leave out "I think", "I suppose" and "maybe", and do not offer a choice with "or": pick one.',
    "Write full English sentences with their subject (he, she, it, they), never a single word.",
    "No acronyms, no slang. Check your spelling.",
    "Where: the kind of place. What: short, and true of everybody in the picture. Why: your best guess.",
    "What and Why cannot have the same answer.",
)
LONGEST = 300
ANY_LANGUAGE = ("long", "one word", "capitals", "acronym", "same")
"""Rules that hold beyond English; the others know English words."""
RULES = ("long", "one word", "hedge", "or", "capitals", "acronym", "slang", "subject", "same")
DEFAULT_RULES = tuple(rule for rule in RULES if rule != "subject")
"""What is refused unless a study says otherwise. A missing subject is only advised against: one in six of
HL's own published rationales lacks it ("to have fun")."""

_HEDGE = re.compile(r"\b(i (?:think|suppose)|maybe)\b", re.I)
_OR = re.compile(r"\bor\b", re.I)
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*")
_WORDS = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(Path(__file__).with_name("english.toml").read_text("utf-8")).items()
}
_VERBS, _PRONOUNS = _WORDS["verbs"], _WORDS["pronouns"]
_SUBJECTS = _PRONOUNS | _WORDS["openers"]


@dataclass(frozen=True, slots=True)
class Complaint:
    """A rule that an answer breaks, in words for its writer."""

    axis: str
    rule: str
    message: str
    refused: bool = True
    """Whether the answer is not taken; otherwise this is advice."""


def check_answer(axis: str, text: str, say: Say = english) -> list[Complaint]:
    """What is wrong with one answer; nothing, if it can stand."""
    text = text.strip()
    words = _WORD.findall(text)
    found: list[tuple[str, str]] = []
    if not words:
        return [Complaint(axis, "empty", say("Write an answer."))]
    if len(text) > LONGEST:
        found.append(("long", say("Keep it under {longest} characters.", longest=LONGEST)))
    if len(words) == 1:
        found.append(("one word", say("One word is not enough: write a full sentence.")))
    if hedge := _HEDGE.search(text):
        found.append(("hedge", say('Leave out "{words}" and state your best guess.', words=hedge[0])))
    if _OR.search(text):
        found.append(("or", say('Choose one answer instead of offering a choice with "or".')))
    found += _wording(words, say)
    if len(words) > 1 and axis != "scene" and not _has_subject(words):
        advice = say("Better begin with the subject (he, she, it, they, the man …) and say what it does.")
        found.append(("subject", advice))
    return [Complaint(axis, rule, message) for rule, message in found]


def check_description(
    answers: Mapping[str, str],
    rules: Sequence[str] = DEFAULT_RULES,
    say: Say = english,
    advise: bool = True,
) -> list[Complaint]:
    """Every rule over all three answers; only those among `rules` (and emptiness) refuse an answer.

    What breaks another rule is advised against, where it is to `advise`.
    """
    complaints = [fault for axis in QUESTIONS for fault in check_answer(axis, answers.get(axis, ""), say)]
    what, why = (" ".join(_WORD.findall(answers.get(axis, "").lower())) for axis in ("action", "rationale"))
    if what and what == why:
        complaints.append(Complaint("rationale", "same", say("What and Why need different answers.")))
    return [
        replace(fault, refused=fault.rule == "empty" or fault.rule in rules)
        for fault in complaints
        if (rules and advise) or fault.rule in (*rules, "empty")
    ]


def _wording(words: list[str], say: Say) -> list[tuple[str, str]]:
    found = []
    shouted = [
        word for word in words if word.isupper() and len(word) > 1 and word not in _WORDS["plain_capitals"]
    ]
    if len(shouted) > 2 and len(shouted) > len(words) / 2:
        found.append(("capitals", say("Write in ordinary letters, not in capitals.")))
    elif shouted:
        found.append(("acronym", say('Write "{word}" out: no acronyms.', word=shouted[0])))
    if slang := next((word for word in words if word.lower().replace("’", "'") in _WORDS["slang"]), None):
        found.append(("slang", say('"{word}" is slang: say it in plain words.', word=slang)))
    return found


def _has_subject(words: list[str]) -> bool:
    """A subject first, a verb after it: by form, since a parser would refuse honest sentences it misreads."""
    lower = [word.lower().replace("’", "'") for word in words]
    while len(lower) > 1 and lower[0] in _WORDS["leading"]:
        lower = lower[1:]
    first, rest = lower[0], lower[1:]
    if first == "to" or (first.endswith("ing") and first not in {"king", "nothing", "everything"}):
        return False
    if first in _VERBS:  # "he's walking" holds both; "is walking" lacks its subject
        return "'" in first and first.partition("'")[0] in _SUBJECTS
    if first in _PRONOUNS:
        return bool(rest)
    if rest and rest[0] in _VERBS:  # "subject is …", "children play …"
        return True
    begins = first in _SUBJECTS or words[0][0].isupper() or first.endswith("s")
    return begins and any(word in _VERBS or word.endswith(("ing", "ed", "s", "n't")) for word in rest)
