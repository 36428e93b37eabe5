"""Models behind a server that speaks OpenAI's chat protocol: theirs, or vLLM, llama.cpp, Ollama on this machine.

The server is `OPENAI_BASE_URL` (https://api.openai.com/v1 where it is not set), the key `OPENAI_API_KEY`; most servers
of one's own need none.
"""

import base64
import io
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from PIL import Image

from sightline.errors import Unscorable, UsageError, extra

LONGEST_SIDE: Final = 1024
"""Pixels; a larger picture is scaled down before it is sent."""
RETRIES: Final = 4
"""Times that a request is sent again after a busy or broken server, each later than the one before."""
TIMEOUT: Final = 120.0
"""Seconds for one answer."""
AT_ONCE: Final = 8
"""Requests that are under way together."""
OTHERWISE: Final = {"max_tokens": "max_completion_tokens", "top_logprobs": "", "logprobs": ""}
"""Settings that some servers do not know: what newer ones call them, or nothing where an answer does without."""

T = TypeVar("T")
R = TypeVar("R")


@dataclass(frozen=True)
class Token:
    """One token of an answer."""

    text: str
    log_probability: float
    likeliest: Mapping[str, float]
    """Log-probabilities of what could have stood here, as many as were asked for."""


@dataclass(frozen=True)
class Answer:
    text: str
    tokens: tuple[Token, ...] = ()
    """Empty where the server does not tell probabilities, or was not asked."""

    @property
    def log_probability(self) -> float | None:
        """Of the whole text, its end included where the server counts it."""
        return sum(token.log_probability for token in self.tokens) if self.tokens else None


class Chat:
    """A model on a server. May be asked from several threads at once."""

    def __init__(self, model: str, url: str | None = None, key: str | None = None) -> None:
        if not model:
            raise UsageError("chat: needs the name of a model on the server, as chat:gpt-4o-mini")
        self._openai = extra("openai", "openai")
        self.model = model
        self.url = url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        self._client = self._openai.OpenAI(
            base_url=self.url,
            api_key=key or os.environ.get("OPENAI_API_KEY") or "none",
            max_retries=RETRIES,
            timeout=TIMEOUT,
        )
        self._unknown: set[str] = set()

    @property
    def signature(self) -> str:
        """The model's name: what a server computes with cannot be known from here."""
        return f"chat@{self.model}"

    def ask(
        self,
        content: Sequence[str | Image.Image],
        *,
        instructions: str = "",
        answers: int = 1,
        likeliest: int | None = None,
        **settings: Any,
    ) -> list[Answer]:
        """The model's answers to texts and pictures in their order.

        `likeliest`: ask for each token's log-probability, and for those of so many others in its place. `settings` are
        the protocol's: `temperature`, `max_tokens`, `seed`, `top_p`, …
        Raises Unscorable where the server refuses this very content, UsageError where nothing can be asked at all.
        """
        messages: list[dict[str, Any]] = [{"role": "user", "content": [part(one) for one in content]}]
        if instructions:
            messages.insert(0, {"role": "system", "content": instructions})
        if likeliest is not None:
            settings |= {"logprobs": True, **({"top_logprobs": likeliest} if likeliest else {})}
        if answers > 1:
            settings["n"] = answers
        reply = self._send(messages, settings)
        choices = getattr(reply, "choices", None)
        if not choices:
            raise UsageError(f"{self.url}: what answers there does not speak OpenAI's chat protocol")
        return [_answer(choice) for choice in choices]

    def _send(self, messages: list[dict[str, Any]], settings: dict[str, Any]) -> Any:
        """The reply; a setting that the server does not know goes by its other name, or is left out where it may be."""
        for old, new in OTHERWISE.items():
            if old in self._unknown and old in settings:
                value = settings.pop(old)
                settings |= {new: value} if new else {}
        try:
            return self._tried(messages, settings)
        except Unscorable as refusal:
            found = next(
                (name for name in OTHERWISE if name in settings and f"'{name}'" in str(refusal)), None
            )
            if found is None:
                raise
            self._unknown.add(found)
        return self._send(messages, settings)

    def _tried(self, messages: list[dict[str, Any]], settings: dict[str, Any]) -> Any:
        openai = self._openai
        try:
            return self._client.chat.completions.create(model=self.model, messages=messages, **settings)
        except (openai.AuthenticationError, openai.PermissionDeniedError):
            raise UsageError(f"{self.url} does not accept the key: set OPENAI_API_KEY") from None
        except openai.NotFoundError as fault:
            raise UsageError(f"{self.url} has no model '{self.model}' ({_said(fault)})") from None
        except (openai.BadRequestError, openai.UnprocessableEntityError) as fault:
            raise Unscorable(f"the server refuses it ({_said(fault)})") from None
        except openai.RateLimitError as fault:
            raise UsageError(f"{self.url} takes no more for now ({_said(fault)}); go on later") from None
        except openai.APIConnectionError:  # a timeout is one too
            raise UsageError(
                f"no server answers at {self.url}: is it running? OPENAI_BASE_URL says where it is"
            ) from None
        except openai.APIError as fault:
            raise UsageError(f"{self.url} fails ({_said(fault)}); go on later") from None


def together(ask: Callable[[T], R], things: Iterable[T]) -> list[R]:
    """What is answered to each, several asked at once; where one cannot be asked at all, the rest is not asked."""
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="chat") as pool:
        coming = [pool.submit(ask, thing) for thing in things]
        try:
            return [one.result() for one in coming]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def part(given: str | Image.Image) -> dict[str, Any]:
    """A text or a picture as the protocol writes it."""
    if isinstance(given, str):
        return {"type": "text", "text": given}
    picture = given.convert("RGB")
    picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    file = io.BytesIO()
    picture.save(file, "JPEG", quality=90)
    data = base64.b64encode(file.getvalue()).decode("ascii")
    return {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{data}"}}


def _answer(choice: Any) -> Answer:
    if choice.finish_reason == "content_filter":
        raise Unscorable("the server filtered its answer out")
    refusal = getattr(choice.message, "refusal", None)
    if refusal:
        raise Unscorable(f"the model refuses ({' '.join(str(refusal).split())[:200]})")
    told = getattr(choice, "logprobs", None)
    tokens = tuple(
        Token(one.token, one.logprob, {other.token: other.logprob for other in one.top_logprobs or ()})
        for one in (getattr(told, "content", None) or ())
    )
    return Answer((choice.message.content or "").strip(), tokens)


def _said(fault: Exception) -> str:
    """What the server says was wrong, in one line."""
    return " ".join(str(getattr(fault, "message", "") or fault).split())[:200]
