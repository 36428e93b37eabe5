"""A vision-language model behind an OpenAI-compatible server: `chat:MODEL`."""

from collections.abc import Mapping, Sequence
from typing import Final

from PIL import Image

from sightline.chat import Chat, together
from sightline.errors import Unscorable, UsageError
from sightline.generate.base import Axis, Candidate, Decoding, Described, captioners
from sightline.generate.decoding import likeliest_first

QUESTIONS: Final[Mapping[Axis, str]] = {
    "object": "Say in one sentence what is to be seen in this picture: the people and things, and what they do.",
    "scene": "Where is the picture taken? Give your best guess about the type of place where the action is "
    "happening, in one short sentence.",
    "action": "What is the subject doing? Describe what the people are doing as concisely as possible, in one short "
    "sentence.",
    "rationale": "Why is the subject doing it? Give your best guess about why the person or persons are doing the "
    "action, in one short sentence.",
    "narrative": "Tell in one sentence where the picture is taken, what the subject is doing, and why.",
}
"""Of HL's axes: what its annotators were asked (Figure 21), as an instruction to a model."""
INSTRUCTIONS: Final = (
    "You describe pictures. Answer with the sentence alone: no introduction, no quotation marks, no alternatives. "
    "Do not say 'I think', 'maybe' or 'it seems'; make your best guess."
)


@captioners.add("chat")
def chat(argument: str) -> "ChatCaptioner":
    """A vision-language model behind an OpenAI-compatible server (OPENAI_BASE_URL): `chat:MODEL`, as gpt-4o-mini."""
    return ChatCaptioner(Chat(argument))


class ChatCaptioner:
    """Asks a server, several pictures at once. It has no beams: without samples the likeliest text is asked for."""

    axes: tuple[Axis, ...] = ()

    def __init__(self, model: Chat) -> None:
        self._model = model

    @property
    def signature(self) -> str:
        return self._model.signature

    def describe(
        self, pictures: Sequence[Image.Image], axis: Axis, decoding: Decoding
    ) -> Sequence[Described]:
        if decoding.top_k:
            raise UsageError("a chat server draws from all tokens: leave --top-k out, or use --top-p")

        def ask(picture: Image.Image) -> Described:
            drawn = {
                "temperature": decoding.temperature if decoding.samples else 0.0,
                **({"top_p": decoding.top_p, "seed": decoding.seed} if decoding.samples else {}),
            }
            try:
                found = self._model.ask(
                    [QUESTIONS[axis], picture],
                    instructions=INSTRUCTIONS,
                    answers=max(1, decoding.samples),
                    likeliest=0,
                    max_tokens=decoding.length
                    * 2,  # its tokens are not ours, and a cut sentence is of no use
                    **drawn,
                )
            except Unscorable as reason:
                return reason
            by_text: dict[str, Candidate] = {}
            for one in found:
                said = " ".join(one.text.strip("\"'“” ").split())
                by_text.setdefault(said, Candidate(said, one.log_probability))
            return likeliest_first(list(by_text.values()))

        return together(ask, pictures)
