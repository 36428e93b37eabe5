"""What a judge behind the server of the tests says: a rating from 1 to 5 with its probabilities."""

import hashlib
import json
import math
import threading
from typing import Any

from chat_server import Reply, said

REASON = "\nBecause of the dog."


def rating_of(words: str) -> dict[str, float]:
    """Probabilities of the five ratings."""
    raw = [1 + byte for byte in hashlib.blake2b(words.encode(), digest_size=5).digest()]
    return {str(number): one / sum(raw) for number, one in enumerate(raw, 1)}


def expected(words: str) -> float:
    return sum(float(number) * p for number, p in rating_of(words).items())


def words_of(body: dict[str, Any]) -> str:
    found: str = body["messages"][1]["content"][-1]["text"]
    return found


def text_in(body: dict[str, Any]) -> Any:
    """The judged text, out of the request."""
    return json.loads(words_of(body).partition(": ")[2])


class JudgeAnswers:
    """Answers as FLEUR's judge did, and keeps what it was asked."""

    def __init__(self, probabilities: bool = True) -> None:
        self.probabilities = probabilities
        self.bodies: list[dict[str, Any]] = []
        self._lock = threading.Lock()

    def __call__(self, body: dict[str, Any]) -> Reply:
        with self._lock:
            self.bodies.append(body)
        likely = rating_of(words_of(body))
        best = max(likely, key=likely.__getitem__)
        top = [{"token": digit, "logprob": math.log(p), "bytes": None} for digit, p in likely.items()]
        place = {"token": best, "logprob": math.log(likely[best]), "bytes": None, "top_logprobs": top}
        reason = {"token": REASON, "logprob": -1.0, "bytes": None, "top_logprobs": []}
        told = (
            {"content": [place, reason], "refusal": None}
            if self.probabilities and body.get("logprobs")
            else None
        )
        status, reply = said(f"{best}{REASON}", logprobs=told)
        reply["usage"] = {"prompt_tokens": 100, "completion_tokens": 2, "total_tokens": 102}
        return status, reply

    @property
    def asked(self) -> list[Any]:
        """The texts that were judged; the question whether probabilities are told has no JSON in it."""
        return [text_in(body) for body in self.bodies if ": " in words_of(body)]
