"""What a study is: its kind and settings, read from a short TOML or YAML."""

import re
from pathlib import Path
from typing import Any, Literal

import msgspec

from sightline.errors import UsageError
from sightline.people import scales
from sightline.people.assemble import Assembly
from sightline.people.assignment import Hard
from sightline.people.scales import Scale
from sightline.people.training import Checks, Training

Kind = Literal["rating game", "description", "confidence", "story survey", "grounding survey"]

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
}
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


class Study(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Settings of a study. Everything but kind and title has a default that suits the kind."""

    kind: Kind
    title: str
    items: str | None = None
    assemble: Assembly | None = None
    scale: str | dict[str, Any] | None = None
    instructions: str = ""
    consent: str | None = None
    ratings_per_item: int = 3
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

    def __post_init__(self) -> None:
        if not self.title.strip() or len(self.title) > 200:
            raise ValueError("title needs 1 to 200 characters")
        if not 1 <= self.ratings_per_item <= 1000:
            raise ValueError("ratings_per_item lies between 1 and 1000")
        if not 0.5 <= self.lease_minutes <= 1440:
            raise ValueError("lease_minutes lies between 0.5 and 1440")
        if self.items and self.assemble:
            raise ValueError("give items or assemble, not both")

    @property
    def levels(self) -> Scale:
        return scales.scale(self.scale or DEFAULT_SCALES[self.kind])

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
