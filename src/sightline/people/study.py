"""What a study is: its kind and settings, read from a short TOML or YAML."""

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from sightline.errors import UsageError
from sightline.people import scales, words
from sightline.people.assemble import Assembly
from sightline.people.assignment import Hard, Until
from sightline.people.descriptions import ANY_LANGUAGE, DEFAULT_RULES, RULES
from sightline.people.scales import Scale
from sightline.people.training import Checks, Training

Kind = Literal[
    "rating game",
    "description",
    "confidence",
    "story survey",
    "grounding survey",
    "pairwise preference",
    "error marking",
]

SINGLE = ("rating game", "grounding survey")
"""Kinds that ask for one level of an item."""
UNLEVELLED = ("description", "pairwise preference", "error marking")
"""Kinds whose answers are no levels of a scale."""

CRITERIA = {
    "grounding": "Visually grounded: the story closely reflects what is in the pictures and is not vague.",
    "coherence": "Coherent: the sentences follow one another like a narrative; nothing is out of place.",
    "no_repetition": "No repetition: nothing is told twice, across sentences or within one.",
}
DEFAULT_SCALES: dict[str, str] = {
    "rating game": "vicr",
    "description": "likert",
    "confidence": "likelihood",
    "story survey": "likert",
    "grounding survey": "grounding",
    "pairwise preference": "binary",
    "error marking": "binary",
}
PREFERENCE = "Which text is truer to the pictures?"
MARKING = "Mark every word that the pictures do not support."
CONSENT = (
    "You will be shown pictures and texts about them and asked for your judgement. It helps researchers to "
    "build measures of how well a text fits its pictures. Only your answers and the name you choose are "
    "kept; the answers may be published without the name. Taking part is voluntary, you are 18 or older, and "
    "you may stop at any time, without a reason."
)


class Qualification(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Admit a worker whose agreement with the gold annotators exceeds t of their own (HL, eq. 1).

    `gate` says how agreement is read: `consensus`, with the gold annotators' mean, or `pooled`, among them, as the
    paper words it, which admits nearly everybody where there are five of them or more.
    """

    threshold: float = 0.5
    items: int = 20
    gate: Literal["pooled", "consensus"] = "consensus"

    def __post_init__(self) -> None:
        if not 0 <= self.threshold <= 1 or self.items < 2:
            raise ValueError("threshold lies between 0 and 1, and a qualification needs at least 2 items")


class Platform(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A crowd platform: which parameters of its link are kept, and where people are sent afterwards.

    An end that begins with http:// or https:// is where the browser goes; anything else is a code to copy.
    """

    name: Literal["prolific", "mturk", "other"] = "prolific"
    parameters: tuple[str, ...] = ()
    """The platform's own where not set."""
    person: str = ""
    """The parameter that says who it is; the first one where not set."""
    completed: str = ""
    screened_out: str = ""
    no_consent: str = ""
    full: str = ""

    def __post_init__(self) -> None:
        if not self.names or not all(re.fullmatch(r"[\w.-]{1,64}", name) for name in self.names):
            raise ValueError("platform: name the link's parameters in letters, digits, _ . and -")
        if self.person and self.person not in self.names:
            raise ValueError(f"platform: person = '{self.person}' is not among the parameters")

    @property
    def names(self) -> tuple[str, ...]:
        return self.parameters or PARAMETERS[self.name]

    @property
    def who(self) -> str:
        return self.person or self.names[0]


PARAMETERS = {
    "prolific": ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID"),
    "mturk": ("workerId", "assignmentId", "hitId"),
    "other": (),
}


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a study. Everything but kind and title has a default that suits the kind."""

    kind: Kind
    title: str
    items: str | None = None
    assemble: Assembly | None = None
    scale: str | dict[str, Any] | None = None
    instructions: str = ""
    consent: str | None = None
    ratings_per_item: int | Until = 3
    hard: Hard = Hard()
    training: Training | None = None
    checks: Checks = Checks()
    qualification: Qualification | None = None
    criteria: dict[str, str] = {}
    leaderboard: bool = True
    lease_minutes: float = 10
    first_points: int = 1
    seeds: Literal["given", "rater"] = "given"
    """Where an item's two seed ratings come from: its own `seed`, where given; else the caption rater."""
    rules: bool | tuple[str, ...] = DEFAULT_RULES
    """Which rules a description must keep to be taken; false switches the check off. Outside English only those
    that know no English words are kept, unless they are named."""
    items_per_person: int | None = None
    """After so many a person is done; without it, after all there are."""
    places: int | None = None
    """So many people may take part; one who leaves before the end makes room after `hold_minutes`."""
    hold_minutes: float = 60
    platform: Platform | None = None
    language: str = "en"
    guidance: tuple[str, ...] = ()
    """Lines that stand in the instructions instead of the kind's own."""
    texts: dict[str, str] = {}
    """Any text that raters see, in the study's own words, by its English wording."""

    def __post_init__(self) -> None:
        if not self.title.strip() or len(self.title) > 200:
            raise ValueError("title needs 1 to 200 characters")
        if isinstance(self.ratings_per_item, int) and not 1 <= self.ratings_per_item <= 1000:
            raise ValueError("ratings_per_item lies between 1 and 1000")
        if isinstance(self.ratings_per_item, Until) and self.kind not in SINGLE:
            raise ValueError("ratings_per_item as a rule is for kinds that ask for one level per item")
        words.catalogue(self.language)
        if odd_text := next((text for text in self.texts if text not in words.every_text()), None):
            raise ValueError(f"texts: {words.nearest(odd_text)}")
        least = min(1 if number is None else number for number in (self.items_per_person, self.places))
        if least < 1 or self.hold_minutes <= 0:
            raise ValueError("items_per_person, places and hold_minutes are above 0")
        if odd := [rule for rule in self.rules if rule not in RULES] if isinstance(self.rules, tuple) else []:
            raise ValueError(f"rules: '{odd[0]}' is not one of {', '.join(RULES)}")
        if self.qualification and self.kind in UNLEVELLED:
            raise ValueError(f"a {self.kind} study has no levels to qualify by; use gold items instead")
        if not 0.5 <= self.lease_minutes <= 1440:
            raise ValueError("lease_minutes lies between 0.5 and 1440")
        if self.items and self.assemble:
            raise ValueError("give items or assemble, not both")

    @property
    def say(self) -> words.Say:
        """The voice of the study: its language, and its own words where it has some."""
        return words.speaker(self.language, tuple(self.texts.items()))

    @property
    def levels(self) -> Scale:
        return scales.scale(self.scale or DEFAULT_SCALES[self.kind])

    @property
    def ratings_at_first(self) -> int:
        """Ratings that every item is to get; a rule may ask for more later."""
        return (
            self.ratings_per_item if isinstance(self.ratings_per_item, int) else self.ratings_per_item.least
        )

    @property
    def kept_rules(self) -> tuple[str, ...]:
        if isinstance(self.rules, bool):
            return RULES if self.rules else ()
        if self.rules == DEFAULT_RULES and self.language != "en":
            return ANY_LANGUAGE
        return self.rules

    @property
    def is_game(self) -> bool:
        return self.kind == "rating game"

    @property
    def lessons(self) -> Training:
        """A game trains as it was run; other kinds only when asked."""
        return self.training or (Training() if self.is_game else Training(tutorial=0, probation=0))

    @property
    def consent_text(self) -> str | None:
        return (
            self.consent if self.consent is not None else CONSENT if self.kind == "grounding survey" else None
        )

    @property
    def questions(self) -> dict[str, str]:
        """Criterion to its wording, for surveys of stories."""
        return self.criteria or (
            CRITERIA if self.kind == "story survey" else {"grounding": self.levels.question}
        )


def parse_study(text: str | bytes, form: str, where: str = "study") -> Study:
    """A study from TOML or YAML text; the error names the field."""
    try:
        decode = msgspec.toml.decode if form == "toml" else msgspec.yaml.decode
        raw = decode(text)
        study = msgspec.convert(raw, Study)
        study.levels  # noqa: B018 - a wrong scale is found here, not by the first visitor
    except msgspec.ValidationError as fault:
        raise UsageError(f"{where}: {fault}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as fault:
        raise UsageError(f"{where}: not readable as {form.upper()}: {' '.join(str(fault).split())}") from None
    return study


def form_of(text: str) -> str:
    """Whether settings were written as TOML or as YAML: by what follows the first name."""
    for line in text.splitlines():
        if found := re.match(r"\s*[\w\"'-]+\s*([:=])", line):
            return "yaml" if found[1] == ":" else "toml"
    return "toml"


def read_study(path: Path) -> Study:
    """A study's file."""
    form = {".toml": "toml", ".yaml": "yaml", ".yml": "yaml"}.get(path.suffix.lower())
    if form is None:
        raise UsageError(f"{path}: a study is a .toml or .yaml file")
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    return parse_study(path.read_bytes(), form, str(path))
