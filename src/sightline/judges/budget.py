"""What may be spent on questions: so many requests or tokens, and what was spent."""

import re
import threading
from dataclasses import dataclass, field

from sightline.errors import UsageError

LIMIT = re.compile(r"([0-9][0-9_]*)\s*(requests?|tokens?)?", re.I)


class BudgetSpent(UsageError):  # noqa: N818 - named for what happened
    """The budget is used up. What was answered is in the cache: the same command goes on from there."""


@dataclass
class Spent:
    """What a run's questions cost. Of answers from the cache only their number is counted."""

    requests: int = 0
    """Sent, the repeated ones too."""
    repeated: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.answer_tokens


@dataclass
class Budget:
    """Counts what is spent, and refuses to spend more than the limit. May be asked from several threads."""

    requests: int | None = None
    tokens: int | None = None
    spent: Spent = field(default_factory=Spent)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @classmethod
    def of(cls, text: str | None) -> "Budget":
        """From what the user wrote: `500`, `500 requests` or `200000 tokens`."""
        if text is None:
            return cls()
        found = LIMIT.fullmatch(text.strip())
        if found is None or int(found[1]) < 1:
            raise UsageError(
                f"the judge's budget '{text}' is neither a number of requests nor '200000 tokens'"
            )
        tokens = (found[2] or "").lower().startswith("token")
        limit = int(found[1])
        return cls(tokens=limit) if tokens else cls(requests=limit)

    def take(self, again: bool = False) -> None:
        """One more request; raises BudgetSpent where there must be none."""
        with self._lock:
            told = None
            if self.requests is not None and self.spent.requests >= self.requests:
                told = f"{self.requests:,} requests"
            elif self.tokens is not None and self.spent.tokens >= self.tokens:
                told = f"{self.tokens:,} tokens"
            if told:
                raise BudgetSpent(
                    f"the judge's budget of {told} is spent; what was answered is in the cache: the same command "
                    "goes on from there (with --resume where it writes a folder)"
                )
            self.spent.requests += 1
            self.spent.repeated += again

    def pay(self, prompt: int, answer: int) -> None:
        with self._lock:
            self.spent.prompt_tokens += prompt
            self.spent.answer_tokens += answer

    def found(self, count: int) -> None:
        """So many answers were in the cache."""
        with self._lock:
            self.spent.cached += count
