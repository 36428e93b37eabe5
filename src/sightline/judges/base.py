"""What a judge is: pictures and words in, an answer out, with the probabilities of its tokens where there are any."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sightline.chat import Token
from sightline.errors import SightlineError, UsageError
from sightline.registry import Registry
from sightline.vision.pictures import Picture


@dataclass(frozen=True)
class Shown:
    """A picture of a question: known by its digest, decoded only if it has to be shown."""

    digest: str
    path: Path
    load: Callable[[Path], Picture]


@dataclass(frozen=True)
class Question:
    """What a judge is asked. The pictures stand before the words."""

    system: str
    words: str
    pictures: tuple[Shown, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """What tells one question from another."""
        return self.system, self.words, *(picture.digest for picture in self.pictures)


@dataclass(frozen=True)
class Decoding:
    """How an answer is read out of the model."""

    length: int = 16
    """Tokens at most."""
    temperature: float = 0.0
    seed: int = 0
    alternatives: int = 0
    """So many likeliest tokens are told at every place of the answer; 0 is none."""

    @property
    def key(self) -> tuple[str, ...]:
        drawn = (str(self.temperature), str(self.seed)) if self.temperature else ()
        return str(self.length), str(self.alternatives), *drawn


@dataclass(frozen=True)
class Reply:
    """What the model said."""

    text: str
    tokens: tuple[Token, ...] = ()
    """Empty where the judge tells no probabilities."""
    refusal: str = ""
    """Why it would not answer, in the server's words."""
    prompt_tokens: int = 0
    answer_tokens: int = 0


class Passing(SightlineError):  # noqa: N818 - a state of the server, which may be another next time
    """The server is busy, slow or broken just now: the same question may be answered later."""

    def __init__(self, reason: str, wait: float | None = None, unreachable: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        """Seconds after which the server asks to be asked again."""
        self.unreachable = unreachable
        """Whether nobody answered at all."""


class Judge(Protocol):
    """Answers one question at a time; may be asked from several threads."""

    @property
    def signature(self) -> str:
        """Which model it is: by content where it runs here, by its name and its server's where not."""
        ...

    @property
    def alternatives(self) -> tuple[int, ...]:
        """How many likeliest tokens may be asked for, the most first."""
        ...

    @property
    def at_once(self) -> int | None:
        """How many questions may be under way; None: as many as the user likes."""
        ...

    def ask(self, question: Question, decoding: Decoding) -> Reply:
        """Raises Unscorable where this question cannot be answered, Passing where it may be later, and UsageError where
        none can be: no key, no such model."""
        ...


@dataclass(frozen=True)
class Access:
    """How a judge is reached."""

    url: str | None = None
    timeout: float = 120.0


judges: Registry[Callable[[str, Access], Judge]] = Registry("judge")
"""Factories by name: `local:NAME-or-PATH` calls the factory `local` with `NAME-or-PATH`."""


def load_judge(spec: str, access: Access) -> Judge:
    """A judge from `model=…` of a metric: `served:NAME`, `local:NAME-or-PATH`, or a name alone, which is a server's
    where one is named and else a model to run here."""
    if not spec:
        raise UsageError(
            "a judge needs a model: judge:model=NAME with --judge-url URL, or judge:model=local:NAME-or-PATH"
        )
    name, colon, argument = spec.partition(":")
    if not colon or name not in set(judges):
        name, argument = ("served" if access.url else "local"), spec
    try:
        return judges.get(name)(argument, access)
    except UsageError as fault:
        if colon or access.url:
            raise
        raise UsageError(f"{fault}. A model behind a server is reached with --judge-url URL") from None


def first_words(text: str, most: int = 80) -> str:
    """The beginning of an answer, for messages."""
    words = " ".join(text.split())
    return f"'{words[:most]}{'…' if len(words) > most else ''}'"
