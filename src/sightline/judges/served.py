"""A judge behind a server that speaks OpenAI's protocol: vLLM, llama.cpp, Ollama, transformers serve, OpenAI.

Keys come from the environment and stay there: SIGHTLINE_JUDGE_KEY, or OPENAI_API_KEY where the server is OpenAI's own.
"""

import os
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from sightline.chat import Token, part
from sightline.errors import Unscorable, UsageError, extra
from sightline.judges.base import Access, Decoding, Passing, Question, Reply, first_words, judges
from sightline.judges.showing import as_sent

OPENAI = "api.openai.com"
KEY, OPENAI_KEY = "SIGHTLINE_JUDGE_KEY", "OPENAI_API_KEY"
NOT_ALLOWED = {401: "does not take the key", 403: "does not allow it", 404: "has no such model or address"}
BUSY = (408, 409, 425, 429)
LENGTHS = ("max_tokens", "max_completion_tokens")
"""What servers call the longest answer: the old name, and the one that OpenAI's later models ask for."""


@judges.add("served")
def served(argument: str, access: Access) -> "Served":
    """A model behind an OpenAI-compatible server: `served:NAME`, with the server's address in `--judge-url`."""
    return Served(argument, access)


class Served:
    """One model of one server."""

    alternatives = (20, 5)
    """OpenAI and vLLM tell twenty; some tell five."""
    at_once = None

    def __init__(self, model: str, access: Access) -> None:
        if not model:
            raise UsageError("judge:model=served: names no model; write served:NAME")
        if not access.url:
            raise UsageError(f"the judge '{model}' is behind a server: give its address with --judge-url URL")
        self._model = model
        self._host = checked_host(access.url)
        self._openai = extra("openai", "openai")
        self._client: Any = self._openai.OpenAI(
            base_url=access.url, api_key=_key(self._host), timeout=access.timeout, max_retries=0
        )
        self._length = LENGTHS[0]

    @property
    def signature(self) -> str:
        return f"{self._model}@{self._host}"

    def ask(self, question: Question, decoding: Decoding) -> Reply:
        try:
            return self._ask(question, decoding)
        except self._openai.BadRequestError as fault:
            if self._length != LENGTHS[0] or LENGTHS[1] not in str(fault):
                raise Unscorable(
                    f"the judge's server refuses the request: {first_words(_told(fault))}"
                ) from None
            self._length = LENGTHS[1]
        return self.ask(question, decoding)

    def _ask(self, question: Question, decoding: Decoding) -> Reply:
        told: dict[str, Any] = {self._length: decoding.length, "temperature": decoding.temperature}
        told["seed"] = decoding.seed
        if decoding.alternatives:
            told |= {"logprobs": True, "top_logprobs": decoding.alternatives}
        try:
            found = self._client.chat.completions.create(
                model=self._model, messages=messages(question), stream=False, **told
            )
            return _answer(found)
        except self._openai.BadRequestError:
            raise
        except self._openai.APITimeoutError:
            raise Passing("no answer in time") from None
        except self._openai.APIConnectionError as fault:
            raise Passing(f"cannot be reached ({_told(fault)})", unreachable=True) from None
        except self._openai.APIStatusError as fault:
            raise self._of_status(fault) from None
        except (self._openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError) as fault:
            raise Passing(f"what came back is no chat completion ({type(fault).__name__})") from None

    def _of_status(self, fault: Any) -> Exception:
        status, told = int(fault.status_code), first_words(_told(fault))
        if status in NOT_ALLOWED or "insufficient_quota" in _told(fault):
            reason = NOT_ALLOWED.get(status, "has no quota left")
            key = f"; keys come from the environment: {KEY}" if status in (401, 403) else ""
            return UsageError(f"the judge's server at {self._host} {reason} ({self._model}: {told}){key}")
        if status in BUSY or status >= 500:
            return Passing(f"status {status}: {told}", _wait(fault.response.headers.get("retry-after")))
        return Unscorable(f"the judge's server refuses the request: status {status}, {told}")


def messages(question: Question) -> list[dict[str, Any]]:
    """The request's messages: always a system's and a user's, the pictures before the words."""
    content = [
        *(as_sent(picture) for picture in question.pictures),
        part(question.words),
    ]
    return [{"role": "system", "content": question.system}, {"role": "user", "content": content}]


def checked_host(url: str) -> str:
    """The server's name, as signatures have it; an address with a key or password in it is refused."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if host is None or parts.scheme not in ("http", "https"):
        raise UsageError("--judge-url is no address: write http://HOST:PORT/v1")
    if parts.username or parts.password or parts.query:
        raise UsageError(
            f"--judge-url must not hold a key or password; keys come from the environment: {KEY}"
        )
    return host


def _key(host: str) -> str:
    """The key for a server; OpenAI's own goes to OpenAI alone."""
    key = os.environ.get(KEY) or (os.environ.get(OPENAI_KEY) if host == OPENAI else None)
    if key is None and host == OPENAI:
        raise UsageError(f"OpenAI asks for a key: set {OPENAI_KEY} or {KEY} in the environment")
    return key or "none"


def _answer(found: Any) -> Reply:
    choice = found.choices[0]
    usage = getattr(found, "usage", None)
    refusal = getattr(choice.message, "refusal", None) or ""
    if choice.finish_reason == "content_filter":
        refusal = refusal or "the server's content filter"
    text = choice.message.content or ""
    if not isinstance(text, str) or not isinstance(refusal, str):
        raise ValueError("the answer is no text")
    return Reply(
        text,
        _tokens(choice, text),
        refusal,
        int(getattr(usage, "prompt_tokens", None) or 0),
        int(getattr(usage, "completion_tokens", None) or 0),
    )


def _tokens(choice: Any, text: str) -> tuple[Token, ...]:
    """The answer's tokens; none where the server tells none, or others than it wrote."""
    content = getattr(getattr(choice, "logprobs", None), "content", None) or ()
    found = tuple(
        Token(one.token, one.logprob, {top.token: top.logprob for top in one.top_logprobs or ()})
        for one in content
    )
    place = "".join(token.text for token in found).find(text.strip())
    if place < 0:
        return ()
    lead = len(text) - len(text.lstrip())
    return _from(found, place - lead) if place != lead else found


def _from(tokens: tuple[Token, ...], skip: int) -> tuple[Token, ...]:
    """Without the tokens that the text leaves out before it begins."""
    kept = list(tokens)
    while kept and skip >= len(kept[0].text):
        skip -= len(kept.pop(0).text)
    if kept and skip > 0:
        kept[0] = replace(kept[0], text=kept[0].text[skip:])
    return tuple(kept)


def _told(fault: Any) -> str:
    """What the server says, on one line and without the request's headers."""
    body = getattr(fault, "body", None)
    if isinstance(body, dict):
        body = body.get("message") or body.get("detail") or body.get("error") or body
    return " ".join(str(body or getattr(fault, "message", "") or type(fault).__name__).split())[:300]


def _wait(header: str | None) -> float | None:
    """Seconds that the server asks to wait."""
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:
        return None
