"""Asks a judge: nothing twice, so many questions at once, again where the server is busy, and within a budget."""

import hashlib
import random
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from typing import Final, Protocol

import msgspec

from sightline.errors import Unscorable, UsageError
from sightline.judges.base import Answer, Decoding, Judge, Passing, Question
from sightline.judges.budget import Budget, Spent
from sightline.judges.showing import QUALITY, SIDE

TRIES: Final = 6
FIRST_WAIT: Final = 0.5
"""Seconds before the second try; twice as long before each further one."""
LONGEST_WAIT: Final = 60.0
PROBE = Question("You answer with one digit.", "Answer with the digit 5 alone and nothing else.")
PROBED = Decoding(length=4)


class Store(Protocol):
    """Where answers are kept between runs: key to bytes."""

    def get_many(self, keys: Sequence[str]) -> dict[str, bytes]: ...
    def put_many(self, pairs: Sequence[tuple[str, bytes]]) -> None: ...


class Asker:
    """A judge with a memory. Every answer is kept the moment it comes, so that a run that is killed loses none."""

    def __init__(
        self,
        judge: Judge,
        store: Store,
        budget: Budget | None = None,
        at_once: int = 8,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        if at_once < 1:
            raise UsageError("at least one question must be asked at a time")
        self.judge = judge
        self.budget = budget or Budget()
        self._store = store
        self._at_once = judge.at_once or at_once
        self._stop = threading.Event()
        self._sleep = sleep or self._stop.wait  # a run that stops does not wait for its turn

    @property
    def signature(self) -> str:
        """Which model it is, and how pictures are shown to it."""
        return self.judge.signature

    @property
    def spent(self) -> Spent:
        return self.budget.spent

    def alternatives(self) -> int:
        """How many likeliest tokens the judge tells at each place; 0 where it tells none. It is asked once, ever."""
        key = self._key("alternatives", *map(str, self.judge.alternatives))
        known = self._store.get_many([key]).get(key)
        if known is None:
            most = next((count for count in self.judge.alternatives if self._tells(count)), 0)
            self._store.put_many([(key, str(most).encode())])
            return most
        return int(known)

    def _tells(self, count: int) -> bool:
        """Whether the judge answers with the probabilities of so many tokens."""
        try:
            answer = self._asked(PROBE, Decoding(PROBED.length, alternatives=count))
        except Unscorable:
            return False  # a server that knows no such field refuses the request
        return any(len(token.alternatives) > 1 for token in answer.tokens)

    def ask(self, questions: Sequence[Question], decoding: Decoding) -> list[Answer | Unscorable]:
        """An answer to each question, or the reason why there is none. Equal questions are asked once.

        Raises UsageError where no question can be answered, or the budget is spent.
        """
        keys = [self._key(*question.key, *decoding.key) for question in questions]
        by_key = dict(zip(keys, questions, strict=True))
        found: dict[str, Answer | Unscorable] = {
            key: msgspec.msgpack.decode(kept, type=Answer)
            for key, kept in self._store.get_many(list(by_key)).items()
        }
        self.budget.found(len(found))
        missing = {key: question for key, question in by_key.items() if key not in found}
        if missing:
            found.update(self._all(missing, decoding))
        return [found[key] for key in keys]

    def _all(self, missing: dict[str, Question], decoding: Decoding) -> dict[str, Answer | Unscorable]:
        self._stop.clear()
        with ThreadPoolExecutor(min(self._at_once, len(missing)), thread_name_prefix="judge") as threads:
            asked: dict[str, Future[Answer | Unscorable]] = {
                key: threads.submit(self._kept, key, question, decoding) for key, question in missing.items()
            }
            try:
                done, _ = wait(asked.values(), return_when=FIRST_EXCEPTION)
            finally:
                self._stop.set()  # what has not begun is not asked any more
            for future in done:
                future.result()
        return {key: future.result() for key, future in asked.items()}

    def _kept(self, key: str, question: Question, decoding: Decoding) -> Answer | Unscorable:
        if self._stop.is_set():
            return Unscorable("not asked")
        try:
            answer = self._asked(question, decoding)
        except Unscorable as reason:
            return reason
        self._store.put_many([(key, msgspec.msgpack.encode(answer))])
        return answer

    def _asked(self, question: Question, decoding: Decoding) -> Answer:
        """One question, asked again where the server is busy."""
        for trial in range(TRIES):
            self.budget.take(again=trial > 0)
            try:
                answer = self.judge.ask(question, decoding)
            except Passing as reason:
                if trial == TRIES - 1 or self._stop.is_set():
                    raise self._given_up(reason) from None
                self._sleep(_pause(trial, reason))
            else:
                self.budget.pay(answer.prompt_tokens, answer.answer_tokens)
                return answer
        raise Unscorable("not asked")

    def _given_up(self, reason: Passing) -> Exception:
        told = f"the judge {self.judge.signature}, asked {TRIES} times: {reason}"
        if reason.unreachable:
            return UsageError(f"{told}; what was answered is in the cache, the same command goes on from there")
        return Unscorable(told)

    def _key(self, *parts: str) -> str:
        text = "\x1f".join((self.judge.signature, f"{SIDE}/{QUALITY}", *parts))
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=20)
        return f"judge\x1f{digest.hexdigest()}"


def _pause(trial: int, reason: Passing) -> float:
    """Seconds before the next try: as the server asks, else twice as long each time, a little by chance."""
    if reason.wait is not None:
        return min(reason.wait, LONGEST_WAIT)
    return min(FIRST_WAIT * 2**trial, LONGEST_WAIT) * random.uniform(0.8, 1.2)
