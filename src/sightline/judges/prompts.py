"""Prompts: files of our own, each with the scale of its answers, what it is shown, and its words.

What is judged stands in a prompt as JSON: a quote or a new line in a caption cannot end it, and what a caption says of
ratings is part of a string.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final, Literal, get_args

from sightline.errors import UsageError
from sightline.judges.readout import Scale

Criterion = Literal["caption", "grounding", "coherence", "repetition", "vicr"]
CRITERIA: Final[tuple[Criterion, ...]] = get_args(Criterion)
"""What a text is rated for; the other prompts choose between two texts (`pair`) or ask whether one is true (`vqa`)."""

ALONE = "Answer with the {answer} alone and nothing else."
EXPLAIN = (
    "Answer with the {answer} alone on the first line. On the second line give your reason in one sentence."
)
MARKS = re.compile(r"<|\[(?=/?(?:INST|IMG))")
"""What begins the marks that models know (`<image>`, `<|im_end|>`, `[/INST]`); JSON has another way to write it."""
PLACE = re.compile(r"\{(text|first|second)\}")


@dataclass(frozen=True)
class Prompt:
    """A prompt before the text to be judged is put in."""

    name: str
    answer: str
    """What the answer is called: `rating`, `number`, `word`."""
    scale: Scale
    shows: bool
    """Whether the pictures are shown."""
    system: str
    words: str

    @property
    def digest(self) -> str:
        """Eight letters that stand for all that is said and shown."""
        said = repr((self.answer, self.scale, self.shows, self.system, self.words))
        return hashlib.blake2b(said.encode(), digest_size=4).hexdigest()

    def filled(self, texts: Mapping[str, Sequence[str] | str]) -> str:
        """The words with these texts in their places; what a text itself holds is not looked at again."""
        return PLACE.sub(lambda place: as_json(texts[place[1]]), self.words)


def as_json(text: Sequence[str] | str) -> str:
    """A text as a JSON string, or its sentences as a list; without what would break the request itself."""
    sound = _sound(text) if isinstance(text, str) else [_sound(sentence) for sentence in text]
    return MARKS.sub(lambda mark: f"\\u{ord(mark[0]):04x}", json.dumps(sound, ensure_ascii=False))


def _sound(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


@cache
def prompt(name: str, explain: bool = False) -> Prompt:
    """A prompt by its name."""
    about, _, rest = text_of(name).partition("\n\n")
    system, mark, words = rest.partition("\n---\n")
    known = dict(line.split(": ", 1) for line in about.splitlines())
    if not mark:
        raise UsageError(f"the prompt {name} has no line of three dashes")
    ending = (EXPLAIN if explain else ALONE).replace("{answer}", known["answer"])
    scale = Scale.of(known["scale"])
    return Prompt(
        name,
        known["answer"],
        scale,
        known["shows"] == "pictures",
        f"{system.strip()}\n{ending}",
        words.strip(),
    )


def text_of(name: str) -> str:
    """The file of a prompt, as it is printed."""
    return (files("sightline.judges") / "prompts" / f"{name}.txt").read_text("utf-8")
